package linear

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intenttest"
)

// network is the way from a worker to its table: one request in twelve is dropped, as
// many replies are lost, one in forty arrives when its sender has given it up, and
// some are slow, so that they overtake each other.
type network struct {
	base http.RoundTripper

	mu     sync.Mutex
	random *rand.Rand
}

func newNetwork(seed uint64) *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 100
	n := &network{base: base, random: rand.New(rand.NewPCG(seed, 0))}
	client := (&intenttest.Faults{Plan: n.plan, Base: n}).Client()
	client.Timeout = dynamo.AttemptTimeout
	return client
}

// below draws a number.
func (n *network) below(limit int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.random.IntN(limit)
}

func (n *network) plan(intenttest.Call) intenttest.Fault {
	switch n.below(24) {
	case 0, 1:
		return intenttest.Fault{Drop: true}
	case 2, 3:
		return intenttest.Fault{LoseReply: true}
	case 4, 5, 6, 7:
		return intenttest.Fault{Delay: time.Duration(n.below(20)) * time.Millisecond}
	}
	return intenttest.Fault{}
}

// RoundTrip implements http.RoundTripper. A copy that comes late is what a connection
// that is taken for dead can still deliver.
func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	if n.below(40) > 0 {
		return n.base.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	late := req.Clone(context.WithoutCancel(req.Context()))
	late.Body = io.NopCloser(bytes.NewReader(body))
	time.AfterFunc(time.Duration(n.below(300))*time.Millisecond, func() {
		if resp, err := n.base.RoundTrip(late); err == nil {
			resp.Body.Close()
		}
	})
	return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}
