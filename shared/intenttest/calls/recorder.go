package calls

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// Call is an IAM action on a resource.
type Call struct {
	// Action is as in a policy, such as dynamodb:PutItem.
	Action string
	// Resource is what the request names: a table, a queue's URL, a secret's id or an e-mail's sender. In a list it is the environment
	// variable that says so, such as USERS_TABLE.
	Resource string
}

func (c Call) String() string { return c.Action + " " + c.Resource }

// recorder keeps calls, with the line of the first of each, and the variables that resources come from.
type recorder struct {
	on    atomic.Bool // in a suite that Main ends: elsewhere a call costs nothing
	mu    sync.Mutex
	sites map[Call]string
	names map[string][]string
}

// all is of this test binary: clients are made in many tests, and the list is of them together.
var all = &recorder{sites: map[Call]string{}, names: map[string][]string{}}

// Record is an option of a client (APIOptions) that records its calls. An attempt that the SDK makes again is no further call.
func Record(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RecordCalls",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			all.saw(in.Parameters, true)
			return next.HandleInitialize(ctx, in)
		}), middleware.After)
}

// Saw records a call by its input, such as *sqs.SendMessageBatchInput: for what stands in for a client.
func Saw(input any) { all.saw(input, false) }

// Config gives a configuration's clients the option Record.
func Config(cfg aws.Config) aws.Config {
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), Record)
	return cfg
}

// Name says which variable a deployed function would have a resource from, and returns the resource.
func Name(variable, resource string) string {
	all.name(variable, resource)
	return resource
}

// Lookup passes environment variables on, and names the resources in them.
func Lookup(lookup func(string) (string, bool)) func(string) (string, bool) {
	return func(variable string) (string, bool) {
		value, ok := lookup(variable)
		if ok && value != "" && namesResource(variable) {
			all.name(variable, value)
		}
		return value, ok
	}
}

func namesResource(variable string) bool {
	return slices.ContainsFunc([]string{"_TABLE", "QUEUE_URL", "_ARN", "_FROM"}, func(end string) bool { return strings.HasSuffix(variable, end) })
}

func (r *recorder) name(variable, resource string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.names[resource], variable) {
		r.names[resource] = append(r.names[resource], variable)
	}
}

func (r *recorder) saw(input any, client bool) {
	if !r.on.Load() {
		return
	}
	calls := needs(input)
	site, ours := "", false
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range calls {
		if _, known := r.sites[c]; known {
			continue
		}
		if site == "" {
			if site, ours = caller(client); !ours {
				return
			}
		}
		r.sites[c] = site
	}
}

// calls are those so far by their variables, with the line of the first of each. A resource that nobody named keeps its own name, which
// no list has, and one with two names has both.
func (r *recorder) calls() map[Call]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := map[Call]string{}
	for c, site := range r.sites {
		if names := r.names[c.Resource]; len(names) > 0 {
			slices.Sort(names)
			c.Resource = strings.Join(names, "|")
		}
		named[c] = site
	}
	return named
}
