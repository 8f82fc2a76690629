package board

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/infra/proof/scoreboard/farside"
	"github.com/singleeffect/once/infra/proof/scoreboard/function"
	"github.com/singleeffect/once/infra/proof/scoreboard/loopback"
	"github.com/singleeffect/once/shared/intenttest"
	"github.com/singleeffect/once/shared/intenttest/queue"
)

// arena is where one side meets one case: a table of its own, a far side, and a proxy in front of the store that spoils replies.
type arena struct {
	side      Side
	c         Case
	db        *dynamodb.Client // not through the proxy
	table     string
	far       *farside.Side
	proxy     *loopback.Server
	log       io.Writer
	plan      func(intenttest.Call) intenttest.Fault // set before the first start
	processes []*function.Process

	mu       sync.Mutex // guards the queue and what is known of the messages
	queue    *queue.Queue[*message]
	clock    time.Time // the queue's
	messages []*message
}

func enter(ctx context.Context, side Side, c Case, engine Engine, log io.Writer) (*arena, error) {
	table, err := engine.CreateTable(ctx, side.Name, side.key)
	if err != nil {
		return nil, err
	}
	a := &arena{side: side, c: c, db: engine.Client(), table: table, log: log, clock: time.Now()}
	a.queue = a.newQueue()
	store, err := url.Parse(engine.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint of the engine: %w", err)
	}
	faults := &intenttest.Faults{Plan: func(call intenttest.Call) intenttest.Fault {
		if a.plan == nil {
			return intenttest.Fault{}
		}
		return a.plan(call)
	}, Base: &http.Transport{DisableCompression: true}} // the reply's bytes are the store's, as its checksum says
	a.proxy, err = loopback.Serve(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(store) },
		Transport: faults,
		// What the transport calls an error the caller sees as a connection that broke, not as an answer of a proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	a.far, err = farside.Listen(farside.Config{AnswerBytes: c.answerBytes})
	if err != nil {
		a.proxy.Close()
		return nil, err
	}
	return a, nil
}

// leave ends all that the case started. The table goes with the engine.
func (a *arena) leave() {
	for _, p := range a.processes {
		p.Stop()
	}
	a.proxy.Close()
	a.far.Close()
}

// start starts one more process of the side's function.
func (a *arena) start(ctx context.Context) (*function.Process, error) {
	retention := a.c.retention
	if retention == 0 {
		retention = a.side.retention
	}
	retention = max(retention, a.side.shortest)
	environment := append([]string{
		"PATH=" + os.Getenv("PATH"),
		"AWS_REGION=eu-central-1",
		"AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_LAMBDA_FUNCTION_NAME=orders",
		"AWS_ENDPOINT_URL_DYNAMODB=" + a.proxy.URL(),
		"TABLE=" + a.table,
		"FAR_SIDE=" + a.far.URL(),
		fmt.Sprintf("RETENTION_SECONDS=%d", int(retention.Seconds())),
	}, a.side.Environment...)
	if a.side.keyPath != nil {
		environment = append(environment, "KEY_JMESPATH="+a.side.keyPath(a.c.composite))
	}
	p, err := function.Start(ctx, function.Config{Command: a.side.Command, Environment: environment, Log: a.log})
	if err == nil {
		a.processes = append(a.processes, p)
	}
	return p, err
}

// zombie has a process frozen when it has come to a point, the message delivered to another until the queue is done with it, and the
// first one wake. Then a duplicate of the message is delivered.
func (a *arena) zombie(ctx context.Context, reached <-chan struct{}, wake chan<- struct{}) error {
	first, err := a.start(ctx)
	if err != nil {
		return err
	}
	second, err := a.start(ctx)
	if err != nil {
		return err
	}
	a.send("charge", "a", "8821")
	ended := a.deliverAside(ctx, first)
	if err := reach(ctx, reached, ended); err != nil {
		return err
	}
	if err := first.Freeze(); err != nil {
		return err
	}
	if err := a.drain(ctx, second); err != nil {
		return err
	}
	close(wake)
	if err := first.Thaw(); err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return err
	}
	a.send("charge", "a", "8821")
	return a.drain(ctx, second)
}

// reach waits for a point in a delivery, which must not end before.
func reach(ctx context.Context, point <-chan struct{}, ended <-chan error) error {
	select {
	case <-point:
		return nil
	case err := <-ended:
		return fmt.Errorf("the delivery ended before the fault's place: %w", err)
	case <-ctx.Done():
		return ctx.Err()
	}
}
