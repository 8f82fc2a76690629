// Package loopback serves HTTP on a port of this machine that nobody else has.
package loopback

import (
	"fmt"
	"log"
	"net"
	"net/http"
)

// Server is a listening server. It takes connections from this machine alone.
type Server struct {
	Address string // host and port
	server  *http.Server
}

// Serve serves the handler until Close.
func Serve(handler http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen on a port of this machine: %w", err)
	}
	// A handler that breaks its connection off panics with http.ErrAbortHandler, which is not logged anyway.
	s := &Server{Address: listener.Addr().String(), server: &http.Server{Handler: handler, ErrorLog: log.Default()}}
	go s.server.Serve(listener) // its error says that it was closed
	return s, nil
}

// URL is the server's, without a path.
func (s *Server) URL() string { return "http://" + s.Address }

// Close breaks off what is under way.
func (s *Server) Close() { s.server.Close() }
