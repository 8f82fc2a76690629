// Package doctor checks that a stack's windows and wiring keep the promises of the code that runs in it.
//
// A memory that is shorter than a queue's is a duplicate waiting to happen, and an unread answer of a batch is a loss: both are set in
// places that know nothing of each other. Each rule here compares two of them, and says both values.
//
// What is checked is a Stack, most often what template.yaml declares. A stack that is deployed can be described by the same type: only
// what both can tell is in it, such as a function's environment and not the parameters that it was made of.
//
// Check is for a stack of which everything is known. Judge is for any other, such as somebody else's template that was read leniently: it
// lists what it cannot judge beside what it found.
//
// It says nothing of what a provider really remembers, and of whether anybody reads what the alarms send. Of permissions it reads what a
// role says itself: not managed policies, policies that SAM makes, nor boundaries.
package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/singleeffect/once/infra/template"
)

// Stack is what is checked.
type Stack struct {
	template.Template
	// Reads are the environment variables that each function's code reads, by its folder; nil where the code is not at hand: rules that
	// need it find nothing then. See Reads.
	Reads map[string][]string
	// Calls are what each function's code calls of AWS, by its folder; nil where the code is not at hand, as above. See Calls.
	Calls map[string][]Call
}

// Rule is one thing that must hold.
type Rule struct {
	// Name is in kebab case.
	Name string
	// Promise is what holds of a stack in which the rule finds nothing.
	Promise string
	check   func(Stack, report)
}

// Finding is one place where a rule does not hold.
type Finding struct {
	// Rule is its name.
	Rule string `json:"rule"`
	// Resource is a logical id.
	Resource string `json:"resource"`
	// Message has both values that clash, with their units.
	Message string `json:"message"`
}

func (f Finding) String() string { return f.Rule + ": " + f.Resource + " " + f.Message }

// report is how a rule says what it found of a resource.
type report func(resource, format string, args ...any)

// Check applies every rule, in the order of Rules.
func Check(s Stack) []Finding {
	var found []Finding
	for _, rule := range Rules() {
		rule.check(s, func(resource, format string, args ...any) {
			found = append(found, Finding{Rule: rule.Name, Resource: resource, Message: fmt.Sprintf(format, args...)})
		})
	}
	return found
}

// queue returns a queue by its logical id; one that the stack does not have is the zero Queue, without a dead-letter queue.
func (s Stack) queue(logicalID string) template.Queue {
	i := slices.IndexFunc(s.Queues, func(q template.Queue) bool { return q.LogicalID == logicalID })
	if i < 0 {
		return template.Queue{LogicalID: logicalID}
	}
	return s.Queues[i]
}

// feed is a function, one of its events, and the queues behind that.
type feed struct {
	template.Function
	event template.Event
	queue template.Queue
	// dead is nil where the queue has no dead-letter queue.
	dead *template.Queue
}

func (s Stack) feeds() []feed {
	var feeds []feed
	for _, f := range s.Functions {
		for _, e := range f.Events {
			if e.Queue == "" { // a lenient reading has a note on it
				continue
			}
			in := feed{Function: f, event: e, queue: s.queue(e.Queue)}
			if in.queue.Redrive != nil && in.queue.Redrive.Target != "" {
				dead := s.queue(in.queue.Redrive.Target)
				in.dead = &dead
			}
			feeds = append(feeds, in)
		}
	}
	return feeds
}

// The classes of effect, as the tag EffectClass has them.
const (
	classTag = "EffectClass"
	keyed    = "Keyed"
	ledger   = "Ledger"
	natural  = "Natural"
	blind    = "Blind"
)

// whole reads a variable that holds a whole number of units, 1 or more, as the functions read it.
func whole(f template.Function, name string, unit time.Duration) (time.Duration, error) {
	n, err := strconv.Atoi(f.Environment[name])
	if err != nil || n < 1 {
		return 0, fmt.Errorf("has %s %q: it must be a whole number from 1", name, f.Environment[name])
	}
	return time.Duration(n) * unit, nil
}

// span writes a duration in days where it is whole days.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == day:
		return "1 day"
	case d > 0 && d%day == 0:
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}
