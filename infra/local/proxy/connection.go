package proxy

import (
	"net"
	"sync"
	"time"
)

const (
	// piece is the most that is read at once.
	piece = 64 << 10

	// lastAnswer is how long a service may take to answer a caller that is gone.
	lastAnswer = 10 * time.Second
)

// connection is one caller's connection and the one to the service that it became.
type connection struct {
	proxy           *Proxy
	caller, service net.Conn

	mu     sync.Mutex
	fate   Fate // of the exchange
	asking bool // the caller has begun one, and the service has not begun to answer it
	gone   bool // the caller hung up, or was hung up on
	lost   bool // the exchange is counted as lost
}

// requests passes on what the caller says, until it hangs up. What it has asked by
// then is still answered, to nobody.
func (c *connection) requests() {
	said := make([]byte, piece)
	for {
		n, err := c.caller.Read(said)
		if n > 0 && !c.request(said[:n]) {
			break
		}
		if err != nil {
			break
		}
	}
	c.mu.Lock()
	c.gone = true
	asking := c.asking && (c.fate.After || c.fate.Fault != Drop)
	c.mu.Unlock()
	if asking {
		_ = c.service.SetReadDeadline(time.Now().Add(lastAnswer))
		return
	}
	_ = c.service.Close()
}

// request passes on a piece of a request. It reports whether the connection goes on.
func (c *connection) request(said []byte) bool {
	fate, first := c.begin()
	if !fate.After {
		switch fate.Fault {
		case Hold:
			if first {
				time.Sleep(fate.For)
			}
		case Drop:
			return true
		case Reset:
			reset(c.caller)
			_ = c.service.Close()
			return false
		case Cut:
			_, _ = c.service.Write(said[:len(said)/2])
			_ = c.caller.Close()
			_ = c.service.Close()
			return false
		case Kill:
			if first {
				c.proxy.config.Kill()
			}
		}
	}
	_, err := c.service.Write(said)
	return err == nil
}

// begin gives the fate of what the caller says, and whether it is the first of an
// exchange.
func (c *connection) begin() (fate Fate, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking {
		return c.fate, false
	}
	c.asking, c.lost = true, false
	c.fate = c.proxy.config.Fate()
	return c.fate, true
}

// answers passes on what the service says, until it hangs up.
func (c *connection) answers() {
	said := make([]byte, piece)
	for {
		n, err := c.service.Read(said)
		if n > 0 && !c.answer(said[:n]) {
			break
		}
		if err != nil {
			break
		}
	}
	_ = c.caller.Close()
	_ = c.service.Close()
}

// answer passes on a piece of an answer. It reports whether the connection goes on.
func (c *connection) answer(said []byte) bool {
	fate, first := c.answered()
	if fate.After {
		switch fate.Fault {
		case Hold:
			if first {
				time.Sleep(fate.For)
			}
		case Drop:
			c.lose()
			return true
		case Reset:
			c.lose()
			reset(c.caller)
			return false
		case Cut:
			c.lose()
			_, _ = c.caller.Write(said[:len(said)/2])
			return false
		case Kill:
			c.lose()
			c.proxy.config.Kill()
			return false
		}
	}
	if c.hungUp() {
		c.lose()
		return false
	}
	if _, err := c.caller.Write(said); err != nil {
		c.lose()
		return false
	}
	return true
}

// answered gives the fate of what the service says, and whether it is the first of
// an answer.
func (c *connection) answered() (fate Fate, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, c.asking = c.asking, false
	return c.fate, first
}

func (c *connection) hungUp() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// lose counts the exchange as one whose caller did not get the whole answer.
func (c *connection) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.lost {
		c.lost = true
		c.proxy.lost.Add(1)
	}
}
