// Package proxy stands in front of a DynamoDB engine, counts the requests and holds back the replies.
package proxy

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/singleeffect/once/infra/proof/scoreboard/loopback"
)

// connections are those kept to the engine: of ten requests at once none has to open one.
const connections = 64

// Proxy is a proxy that listens.
type Proxy struct {
	server   *loopback.Server
	requests atomic.Int64
}

// Start starts a proxy in front of the engine that holds back each reply for that long.
func Start(engine string, delay time.Duration) (*Proxy, error) {
	target, err := url.Parse(engine)
	if err != nil {
		return nil, fmt.Errorf("endpoint of the engine: %w", err)
	}
	p := new(Proxy)
	server, err := loopback.Serve(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			p.requests.Add(1)
		},
		// The reply's bytes are the engine's, as its checksum says.
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: connections},
		ModifyResponse: func(*http.Response) error {
			time.Sleep(delay)
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p.server = server
	return p, nil
}

// URL is where the engine seems to be.
func (p *Proxy) URL() string { return p.server.URL() }

// Requests is how many there were so far.
func (p *Proxy) Requests() int { return int(p.requests.Load()) }

// Close breaks off what is under way.
func (p *Proxy) Close() { p.server.Close() }
