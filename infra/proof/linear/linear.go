package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/proof/scoreboard/loopback"
	"github.com/singleeffect/once/shared/dynamo"
)

const (
	workers = 4

	// hot is how many intents are open at a time.
	hot = 16

	// patience is how long one history is checked, which takes milliseconds.
	patience = 30 * time.Second
)

// Config says what to run.
type Config struct {
	DB        *dynamodb.Client // of an engine on this machine, without faults
	Records   string           // a table with the partition key "intent"
	Accounts  string           // a table with the partition key "account"
	Histories int
	Classes   []Class // of the histories, in turn
	Seed      uint64  // of faults and kills; how processes overlap has none

	broken breach
}

// Report is what a run found.
type Report struct {
	Histories  int  `json:"histories"` // that were checked
	OK         bool `json:"ok"`
	Operations int  `json:"-"`
	Tally      `json:"-"`
}

// run is a run under way.
type run struct {
	Config
	*collector
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	opened int
	report Report
}

// Run runs histories until all have been checked or something is wrong: then the error
// says what, and tells the history. The program must call Work as it starts.
func Run(ctx context.Context, config Config) (Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{Config: config, cancel: cancel}
	r.collector = &collector{
		start: time.Now(), store: dynamo.New(config.DB, config.Records), settle: r.settle, failed: func(err error) { cancel(err) },
		random: rand.New(rand.NewPCG(config.Seed, 0)), workers: map[int]*process{}, changed: make(chan struct{}),
	}
	server, err := loopback.Serve(r.handler())
	if err != nil {
		return Report{}, err
	}
	defer server.Close()
	var running sync.WaitGroup
	for slot := range workers {
		running.Go(func() {
			for number := slot; ctx.Err() == nil; number += workers {
				if err := r.work(ctx, number, server.URL()); err != nil {
					cancel(err)
				}
			}
		})
	}
	for range min(hot, config.Histories) {
		r.open()
	}
	<-ctx.Done()
	running.Wait()
	server.Close()
	r.collector.mu.Lock()
	defer r.collector.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Tally = r.tally
	if err := context.Cause(ctx); !errors.Is(err, errAllDone) {
		return r.report, err
	}
	r.report.OK = true
	return r.report, nil
}

var errAllDone = errors.New("all histories are done")

// work runs one worker until it is killed or the run ends.
func (r *run) work(ctx context.Context, number int, url string) error {
	r.collector.mu.Lock()
	p, err := start(number, settings{
		Collector: url, Next: "/next/" + strconv.Itoa(number), Endpoint: aws.ToString(r.DB.Options().BaseEndpoint),
		Records: r.Records, Accounts: r.Accounts, Seed: r.Seed, Broken: r.broken,
	})
	if err == nil {
		r.workers[number] = p
	}
	r.collector.mu.Unlock()
	if err != nil {
		return err
	}
	defer p.tethered.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-p.tethered.Done():
	}
	r.collector.mu.Lock()
	defer r.collector.mu.Unlock()
	if r.workers[number] == p {
		return fmt.Errorf("worker %d ended, and nobody killed it: %w", number, p.tethered.Err())
	}
	return nil
}

// open opens the next history, if there is to be one more.
func (r *run) open() {
	r.mu.Lock()
	number := r.opened
	r.opened++
	r.mu.Unlock()
	if number < r.Histories {
		r.add(&history{number: number, class: r.Classes[number%len(r.Classes)]})
	}
}

// settle looks at an intent for the last time, counts its effects and checks its
// history.
func (r *run) settle(h *history) {
	h.looking.Wait()
	r.look(h)
	err := r.count(h)
	if err == nil {
		err = h.check(patience)
	}
	if err == nil {
		err = h.counted()
	}
	if err != nil {
		r.cancel(err)
		return
	}
	r.open()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Operations += len(h.operations())
	if r.report.Histories++; r.report.Histories == r.Histories {
		r.cancel(errAllDone)
	}
}

// count brings the effects of a ledger, which are in its table.
func (r *run) count(h *history) error {
	if h.class != Ledger {
		return nil
	}
	out, err := r.DB.GetItem(context.Background(), &dynamodb.GetItemInput{
		TableName: &r.Accounts, Key: map[string]types.AttributeValue{"account": &types.AttributeValueMemberS{Value: h.name()}}, ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return err
	}
	if n, ok := out.Item["effects"].(*types.AttributeValueMemberN); ok {
		h.far.effects, err = strconv.Atoi(n.Value)
	}
	return err
}
