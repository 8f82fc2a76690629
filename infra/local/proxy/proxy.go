package proxy

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// Config says what a proxy does.
type Config struct {
	// Service is the address, host and port, of what is behind the proxy.
	Service string

	// Fate is asked for each exchange as it begins, by several connections at the
	// same time.
	Fate func() Fate

	// Kill ends the caller, and returns when it is gone. Needed for the fault Kill.
	Kill func()
}

// Proxy is one way to a service.
type Proxy struct {
	config   Config
	listener net.Listener
	lost     atomic.Int64

	mu      sync.Mutex
	callers map[net.Conn]bool // nil once closed
	running sync.WaitGroup
}

// New opens a proxy.
func New(c Config) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a proxy to %s: %w", c.Service, err)
	}
	p := &Proxy{config: c, listener: listener, callers: map[net.Conn]bool{}}
	p.running.Go(p.accept)
	return p, nil
}

// Address is where callers find the proxy, host and port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Lost is how many exchanges the service has answered whose callers did not get
// the whole answer.
func (p *Proxy) Lost() int { return int(p.lost.Load()) }

// Close hangs up on all callers. It returns when nothing is on its way to the
// service any more: what is counted then is final.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for caller := range p.callers {
		_ = caller.Close()
	}
	p.callers = nil
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		caller, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.mu.Lock()
		if p.callers == nil {
			_ = caller.Close()
		} else {
			p.callers[caller] = true
			p.running.Go(func() { p.connect(caller) })
		}
		p.mu.Unlock()
	}
}

// connect serves one connection until it is over.
func (p *Proxy) connect(caller net.Conn) {
	defer func() {
		p.mu.Lock()
		delete(p.callers, caller)
		p.mu.Unlock()
	}()
	service, err := net.Dial("tcp", p.config.Service)
	if err != nil {
		reset(caller)
		return
	}
	c := &connection{proxy: p, caller: caller, service: service}
	var answers sync.WaitGroup
	answers.Go(c.answers)
	c.requests()
	answers.Wait()
	_ = caller.Close()
	_ = service.Close()
}

// reset ends a connection so that the other end sees an error and no polite end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
