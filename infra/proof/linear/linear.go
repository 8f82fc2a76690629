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
	"github.com/singleeffect/once/shared/intent"
)

const (
	workers = 4

	// hot is how many intents are open at a time.
	hot = 24

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
	Deliveries int  `json:"-"`
	Unheard    int  `json:"-"` // deliveries of which nobody knows how they ended
	Kills      int  `json:"-"` // of workers
}

// Run runs histories until all have been checked or something is wrong: then the error
// says what, and tells the history. The program must call Work as it starts.
func Run(ctx context.Context, config Config) (Report, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	p := &parent{
		Config: config, start: time.Now(), store: dynamo.New(config.DB, config.Records), end: end,
		random: rand.New(rand.NewPCG(config.Seed, 0)), workers: map[int]*process{}, changed: make(chan struct{}),
	}
	server, err := loopback.Serve(p.handler())
	if err != nil {
		return Report{}, err
	}
	defer server.Close()
	var running sync.WaitGroup
	for slot := range workers {
		running.Go(func() {
			for number := slot; ctx.Err() == nil; number += workers {
				if err := p.work(ctx, number, server.URL()); err != nil {
					end(err)
				}
			}
		})
	}
	p.mu.Lock()
	for range hot {
		p.more()
	}
	p.mu.Unlock()
	running.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := context.Cause(ctx); !errors.Is(err, errAllDone) {
		return p.report, err
	}
	p.report.OK = true
	return p.report, nil
}

var errAllDone = errors.New("all histories are done")

// work runs one worker until it is killed or the run ends.
func (p *parent) work(ctx context.Context, number int, url string) error {
	p.mu.Lock()
	worker, err := start(number, settings{
		Parent: url, Next: "/next/" + strconv.Itoa(number), Endpoint: aws.ToString(p.DB.Options().BaseEndpoint),
		Records: p.Records, Accounts: p.Accounts, Seed: p.Seed, Broken: p.broken,
	})
	if err == nil {
		p.workers[number] = worker
	}
	p.mu.Unlock()
	if err != nil {
		return err
	}
	defer worker.tethered.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-worker.tethered.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[number] == worker {
		return fmt.Errorf("worker %d ended, and nobody killed it: %w", number, worker.tethered.Err())
	}
	return nil
}

// settle looks at an intent for the last time, checks its history and counts its
// effects.
func (p *parent) settle(h *history) {
	h.looking.Wait()
	err := p.look(h)
	operations := h.operations()
	if err == nil {
		err = check(operations)
	}
	if err == nil {
		err = p.count(h)
	}
	if err != nil {
		p.end(fmt.Errorf("%s %w:\n%s", h.name(), err, story(operations)))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.more()
	p.report.Operations += len(operations)
	if p.report.Histories++; p.report.Histories == p.Histories {
		p.end(errAllDone)
	}
}

// count compares what the record says at the end with what happened.
func (p *parent) count(h *history) error {
	effects := h.far.effects
	if h.class == Ledger { // they are in its table
		out, err := p.DB.GetItem(context.Background(), &dynamodb.GetItemInput{
			TableName: &p.Accounts, Key: map[string]types.AttributeValue{"account": &types.AttributeValueMemberS{Value: h.name()}}, ConsistentRead: aws.Bool(true),
		})
		if err != nil {
			return err
		}
		if n, ok := out.Item["effects"].(*types.AttributeValueMemberN); ok {
			if effects, err = strconv.Atoi(n.Value); err != nil {
				return err
			}
		}
	}
	said := h.looks[len(h.looks)-1].Output.(output).kind
	least, most := 0, 1
	switch said {
	case intent.Replayed:
		least = 1
	case intent.Refused:
		most = 0
	case intent.InDoubt:
	default:
		return fmt.Errorf("ends neither decided nor in doubt, but %s", said)
	}
	if effects < least || effects > most || h.far.again > 0 {
		return fmt.Errorf("has %d effects, and %d second calls of one delivery, and ends %s", effects, h.far.again, said)
	}
	return nil
}
