package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// fate is what happens to a request once the service behind the line has done
// it and the worker has not heard yet.
type fate int

const (
	replies   fate = iota // the worker hears
	losesIt               // the connection breaks instead
	dies                  // the worker is killed
	forwarded = 15 * time.Second
)

// line is one worker's own way to one service. Everything the worker asks goes
// through it, so that it is known to the moment when an effect has been applied.
type line struct {
	target  string
	service *http.Transport
	decide  func(request *http.Request, status int) fate
	kill    func()
	server  *http.Server
	url     string
	open    context.Context // until close
	end     context.CancelFunc
}

// newLine opens a line to the target, the address of a service.
func newLine(target string, decide func(*http.Request, int) fate, kill func()) (*line, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a line to %s: %w", target, err)
	}
	l := &line{
		target: strings.TrimSuffix(target, "/"),
		// Replies pass as they come: nothing is unpacked on the way.
		service: &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
		decide:  decide,
		kill:    kill,
		url:     "http://" + listener.Addr().String(),
	}
	l.open, l.end = context.WithCancel(context.Background())
	l.server = &http.Server{Handler: l}
	go func() { _ = l.server.Serve(listener) }()
	return l, nil
}

func (l *line) close() {
	_ = l.server.Close()
	l.end()
	l.service.CloseIdleConnections()
}

// ServeHTTP hands the request on, whole, and lets the service finish it even if
// the worker dies meanwhile: a real one would.
func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the worker died while it was asking
	}
	ctx, cancel := context.WithTimeout(l.open, forwarded)
	defer cancel()
	status, header, reply, err := l.forward(ctx, r, body)
	if err != nil {
		hangUp(w)
		return
	}
	switch l.decide(r, status) {
	case dies:
		l.kill()
		hangUp(w)
	case losesIt:
		hangUp(w)
	default:
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		_, _ = w.Write(reply)
	}
}

func (l *line) forward(ctx context.Context, r *http.Request, body []byte) (int, http.Header, []byte, error) {
	out, err := http.NewRequestWithContext(ctx, r.Method, l.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	out.Header = r.Header.Clone()
	out.Host = r.Host // it is signed
	response, err := l.service.RoundTrip(out)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, reply, err
}

// hangUp breaks the connection without an answer.
func hangUp(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(errors.Join(http.ErrAbortHandler, err))
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, not a polite end
	}
	_ = connection.Close()
}
