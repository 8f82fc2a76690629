package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/infra/template"
)

const (
	// folder and function are of the function that is deployed: it refuses, writes, and needs no provider.
	folder   = "adjust"
	function = "AdjustFunction"

	// aMinute is how many messages come in one, each an invocation of its own.
	aMinute = 40

	// visibility lets what a broken version listed come again soon.
	visibility = 4 * time.Second

	// late are minutes of a deployment in which no alarm that rings is in time, as the doctor reckons: CloudWatch's minutes may begin up to
	// one after it, and a minute's data is there one after its end.
	late = 2

	// patience bounds what is waited for.
	patience = time.Minute
)

// parameters make each message an invocation, so that few messages are enough.
var parameters = map[string]string{"BatchSize": "1", "FunctionTimeoutSeconds": "2", "VisibilityTimeoutSeconds": "12", "LeaseMarginSeconds": "1"}

// version is one that is deployed.
type version struct {
	name   string
	folder string // of its package, under the project's
	rings  string // the logical id of an alarm that must ring; empty: none may
	denied bool   // DynamoDB refuses what is asked, since the role changed with it
}

// healthy is what runs, and what is deployed again.
var healthy = version{name: "healthy", folder: "functions/" + folder}

var versions = []version{
	healthy,
	{name: "cannot start", folder: "infra/local/e2e/broken/starts", rings: "AdjustErrorsAlarm"},
	{name: "lost a permission", folder: "functions/" + folder, rings: "AdjustFailedAlarm", denied: true},
	{name: "lists every message", folder: "infra/local/e2e/broken/lists", rings: "AdjustFailedAlarm"},
	{name: "quarantines every message", folder: "infra/local/e2e/broken/quarantines", rings: "AdjustQuarantinedAlarm"},
	{name: "refuses every message", folder: "infra/local/e2e/broken/refuses", rings: "AdjustRefusedAlarm"},
}

// Canary is what became of the deployment of one version.
type Canary struct {
	Version string `json:"version"`
	Alarm   string `json:"alarm,omitempty"` // the first that rang
	Minute  int    `json:"minute,omitempty"`

	// Of the Messages that were sent each took effect once, or was refused or quarantined by the new version.
	Messages    int `json:"messages"`
	Effects     int `json:"effects"`
	Refused     int `json:"refused"`
	Quarantined int `json:"quarantined"`
	Duplicates  int `json:"duplicates"`
	Lost        int `json:"lost"`
}

// alias routes invocations to two versions, as a weighted alias does, but for the lots: of each round every so manieth goes to the new
// version.
type alias struct {
	before, after *lambda.Worker
	count         func(version string, failed bool)

	mu     sync.Mutex
	every  int // 0: the new version gets none
	routed int
}

func (a *alias) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	a.mu.Lock()
	a.routed++
	worker, name := a.before, before
	if a.every > 0 && a.routed%a.every == 0 {
		worker, name = a.after, after
	}
	a.mu.Unlock()
	answer, err := worker.Invoke(ctx, payload)
	if ctx.Err() == nil {
		a.count(name, err != nil)
	}
	return answer, err
}

func (a *alias) shift(every int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.every = every
}

// The versions' numbers: the new one's is what the template's alarms read on this machine.
const before, after = "1", "$LATEST"

// clock tells minutes apart by when they began, in ms.
type clock struct {
	mu     sync.Mutex
	begins []int64
}

func (c *clock) next() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begins = append(c.begins, time.Now().UnixMilli())
}

func (c *clock) minute(timestamp int64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, _ := slices.BinarySearch(c.begins, timestamp+1)
	return at
}

// binaries are what is deployed, by the folder of its package.
type binaries struct {
	root, emulator string
	of             map[string]string
}

// deploy runs one canary on a stack of its own.
func deploy(ctx context.Context, b binaries, v version, log io.Writer) (_ Canary, err error) {
	s, err := stack.Open(ctx, stack.Options{
		Root: b.root, Name: "once", Parameters: parameters, Visibility: visibility, TablePrefix: fmt.Sprintf("e2e-%d-", time.Now().UnixNano()),
	})
	if err != nil {
		return Canary{}, err
	}
	defer s.Close()
	functions := s.Functions()
	i := slices.IndexFunc(functions, func(f template.Function) bool { return f.LogicalID == function })
	if i < 0 {
		return Canary{}, errors.New("template.yaml has no " + function)
	}
	f := functions[i]
	pace, known := f.Deployment.Pace()
	if !known {
		return Canary{}, fmt.Errorf("the pace %s is not known", f.Deployment.Type)
	}
	var minutes clock
	m := newMetrics(minutes.minute)
	to := &alias{count: func(version string, failed bool) {
		if failed {
			m.add("AWS/Lambda", "Errors", map[string]string{"FunctionName": f.Name, "Resource": f.Name + ":" + f.Alias, "ExecutedVersion": version}, time.Now().UnixMilli(), 1)
		}
	}}
	out := io.MultiWriter(m, log)
	var more map[string]string
	allow := func() {}
	if v.denied {
		// A role is both versions', so the one that runs lost the permission, too.
		roles, allowed, err := denying(f.Environment["AWS_ENDPOINT_URL_DYNAMODB"])
		if err != nil {
			return Canary{}, err
		}
		defer roles.Close()
		allow, more = func() { allowed.Store(true) }, map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": roles.URL}
	}
	if to.before, err = start(ctx, b.emulator, f, b.of[healthy.folder], before, more, out); err != nil {
		return Canary{}, err
	}
	defer to.before.Close()
	if to.after, err = start(ctx, b.emulator, f, b.of[v.folder], after, more, out); err != nil {
		return Canary{}, err
	}
	defer to.after.Close()

	run, end := context.WithCancel(ctx)
	defer end()
	a := newAccounts(s, f)
	ended := make(chan error, 1)
	go func() {
		ended <- mapping.Run(run, mapping.Config{
			Queue: s.Queues, QueueURL: a.queueURL(), Invokers: []mapping.Invoker{to}, BatchSize: f.Events[0].BatchSize,
			ReportBatchItemFailures: len(f.Events[0].FunctionResponseTypes) > 0, Observe: a.delivered,
		})
	}()
	to.shift(int(1 / pace.Weight(0)))
	length := int(pace.Length() / time.Minute)
	for range length {
		minutes.next()
		if err := a.send(ctx, aMinute); err != nil {
			return Canary{}, err
		}
		if err := a.wait(ctx, a.allDelivered); err != nil {
			return Canary{}, fmt.Errorf("%s: %w", v.name, err)
		}
	}
	minutes.next() // what is delivered from now on is no canary's
	to.shift(0)
	allow() // the role is taken back with the stack's update
	if err := a.wait(ctx, a.allGone); err != nil {
		return Canary{}, fmt.Errorf("%s, after it was taken back: %w", v.name, err)
	}
	end()
	if err := <-ended; err != nil {
		return Canary{}, err
	}
	to.before.Close() // completes the log
	to.after.Close()
	c := Canary{Version: v.name}
	for _, id := range f.Deployment.Alarms {
		at := slices.IndexFunc(s.Template.Alarms, func(a template.Alarm) bool { return a.LogicalID == id })
		minute, err := m.rings(s.Template.Alarms[at], length-late)
		if err != nil {
			return c, err
		}
		if minute > 0 && (c.Minute == 0 || minute < c.Minute) {
			c.Alarm, c.Minute = id, minute
		}
	}
	if c.Alarm != v.rings {
		fmt.Fprintf(log, "%s rings %q, want %q; there were\n%s", v.name, c.Alarm, v.rings, m.known())
	}
	return c, a.judge(ctx, &c)
}

// start starts one version of the function.
func start(ctx context.Context, emulator string, f template.Function, bootstrap, number string, more map[string]string, log io.Writer) (*lambda.Worker, error) {
	environment := maps.Clone(f.Environment)
	environment["AWS_LAMBDA_FUNCTION_VERSION"] = number
	maps.Copy(environment, more)
	return lambda.NewWorker(ctx, emulator, lambda.Config{
		Bootstrap: bootstrap, Name: f.Name, Environment: environment, Timeout: f.Timeout, MemoryMB: f.MemoryMB, Log: log,
	})
}

// denying is a DynamoDB whose role allows nothing, until it is told to.
func denying(dynamoDB string) (*httptest.Server, *atomic.Bool, error) {
	to, err := url.Parse(dynamoDB)
	if err != nil {
		return nil, nil, err
	}
	allowed, there := &atomic.Bool{}, httputil.NewSingleHostReverseProxy(to)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allowed.Load() {
			there.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"is not authorized to perform: dynamodb:PutItem"}`)
	})), allowed, nil
}
