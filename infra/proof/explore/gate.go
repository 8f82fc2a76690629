package explore

import (
	"context"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// fate is what becomes of a call.
type fate int

const (
	ok          fate = iota
	dropped          // the connection breaks before the call arrives
	lost             // it is applied, and the connection breaks before the reply arrives
	throttled        // refused, for now
	refused          // refused, for good: no permission
	crashBefore      // the process dies, the call does not arrive
	crashAfter       // the call is applied, the process dies
	late             // ok; a second copy of it, sent when the first seemed lost, is still on its way
	delayed          // the connection breaks, and the call is still on its way
	given            // the caller's time is over; the call may still be on its way
	conflicting      // refused, for a transaction is under way with that item
	hidden           // ok; what stands is left out of a failed condition's answer, as some engines do
	partly           // of several statements or keys those of the first intent are refused, for now

	// Through the SDK only.
	silent // it is applied, and no reply arrives within the attempt's time
	cut    // it is applied, and the reply breaks off
)

var fateNames = map[fate]string{
	ok: "ok", dropped: "dropped", lost: "reply lost", throttled: "throttled", refused: "refused", crashBefore: "dies before", crashAfter: "dies after",
	late: "ok, a copy is on its way", delayed: "connection breaks, still on its way", given: "time is over", conflicting: "meets a transaction", hidden: "ok, shows no item", partly: "the first intent's part is throttled", silent: "no reply in time", cut: "reply cut off",
	unheard: "happens unheard", notArrived: "does not arrive", notApplied: "not applied", declined: "declined", ownNo: "own no", ownLater: "own check fails",
	dieBefore: "dies before", dieAfter: "dies after", underway: "gives up, still under way", probeFails: "fails", probeSilent: "cannot say",
	joined: "happens unheard, joined with what was not applied", hollow: "happens, said to be no error not applied", rejected: "happens, its write is rejected",
}

func (f fate) String() string { return fateNames[f] }

// fatesOf are the fates of calls to the table.
func fatesOf(operation string) []fate {
	switch operation {
	case "GetItem":
		return ofReads
	case "BatchGetItem":
		return ofBatchReads
	case "BatchExecuteStatement":
		return ofBatches
	}
	return ofWrites
}

var (
	ofReads      = []fate{ok, crashBefore, dropped, throttled, refused}
	ofBatchReads = append(ofReads[:len(ofReads):len(ofReads)], partly)
	ofAny        = []fate{ok, lost, crashAfter, crashBefore, late, delayed, dropped, throttled, refused, hidden}
	ofWrites     = append(ofAny[:len(ofAny):len(ofAny)], conflicting)
	ofBatches    = append(ofAny[:len(ofAny):len(ofAny)], partly)
)

// planned is how the table serves a part of the call that is let through, or the whole.
func (w *world) planned(c memdb.Call) memdb.Fault {
	whole := c.Index < 0
	if in, ok := c.Input.(*dynamodb.BatchExecuteStatementInput); ok && whole {
		w.apart(in)
	}
	switch {
	case w.serving == hidden && whole:
		return memdb.Fault{HideItems: true}
	case w.serving == partly && w.asksFor(c) == w.subjects[0].key.String():
		return memdb.Fault{Err: &types.ProvisionedThroughputExceededException{}}
	case w.serving == conflicting && (c.Operation == "TransactWriteItems" && c.Index == 0 || c.Operation == "PutItem" || c.Operation == "UpdateItem"):
		return memdb.Fault{Err: &types.TransactionConflictException{}}
	}
	return memdb.Fault{}
}

// apart judges that no two statements of a call are of one record.
func (w *world) apart(in *dynamodb.BatchExecuteStatementInput) {
	seen := map[string]bool{}
	for i := range in.Statements {
		of := w.asksFor(memdb.Call{Input: in, Index: i})
		if seen[of] {
			w.fail("a call has two statements of %s", of)
		}
		seen[of] = true
	}
}

// asksFor is the intent that a part of a call is about, by its key: in which order the
// deliveries of a batch have joined a call is not the same in every run.
func (w *world) asksFor(c memdb.Call) string {
	var values []types.AttributeValue
	switch in := c.Input.(type) {
	case *dynamodb.BatchExecuteStatementInput:
		if c.Index >= 0 {
			values = in.Statements[c.Index].Parameters
		}
	case *dynamodb.BatchGetItemInput:
		if c.Index >= 0 {
			values = slices.Collect(maps.Values(in.RequestItems[records].Keys[c.Index]))
		}
	}
	for _, v := range values {
		if s, ok := v.(*types.AttributeValueMemberS); ok && slices.ContainsFunc(w.subjects, func(of *subject) bool { return of.key.String() == s.Value }) {
			return s.Value
		}
	}
	return ""
}

// gate is the table as one worker reaches it: each call waits for the schedule to
// let it through, and has the fate that the schedule gives it.
type gate struct {
	db dynamo.API
	w  *worker
}

var _ dynamo.API = (*gate)(nil)

func (g *gate) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return call(ctx, g, "PutItem", of(in.Item), in, g.db.PutItem)
}

func (g *gate) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return call(ctx, g, "UpdateItem", of(in.Key), in, g.db.UpdateItem)
}

func (g *gate) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return call(ctx, g, "GetItem", of(in.Key), in, g.db.GetItem)
}

func (g *gate) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return call(ctx, g, "TransactWriteItems", "", in, g.db.TransactWriteItems)
}

func (g *gate) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return call(ctx, g, "BatchExecuteStatement", "", in, g.db.BatchExecuteStatement)
}

func (g *gate) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return call(ctx, g, "BatchGetItem", "", in, g.db.BatchGetItem)
}

// call is one call of the narrow interface.
func call[In, Out any](ctx context.Context, g *gate, operation, about string, in *In,
	method func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)) (*Out, error) {
	return through(ctx, g.w, fatesOf(operation), operation+about, hears, func() (*Out, error) {
		out, err := method(context.WithoutCancel(ctx), in)
		if err == nil { // else it changed nothing
			g.w.world.changed(operation+about, g.w)
		}
		return out, err
	})
}

// hears is what a caller of the SDK's client is told of a call with that fate.
func hears[Out any](f fate, _ Out, _ error) (none Out, err error) {
	switch f {
	case throttled:
		return none, &types.ProvisionedThroughputExceededException{}
	case refused:
		return none, &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not allowed"}
	}
	return none, &smithyhttp.RequestSendError{Err: reset()}
}

// reset is what the system says of a connection that died.
func reset() error { return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET} }

// through takes one call through the gate: it is applied once, or more often, or not
// at all, and the caller hears of it or of something else.
func through[Out any](ctx context.Context, k *worker, fates []fate, operation string, hears func(fate, Out, error) (Out, error), apply func() (Out, error)) (Out, error) {
	var none Out
	onItsWay := func(doubt bool) {
		k.world.later(event{name: "late " + operation, worker: k.number, doubt: doubt, happen: func() { _, _ = apply() }})
	}
	asked := time.Now()
	f := k.arrive(ctx, operation, fates)
	k.keeps(operation, f, time.Since(asked))
	switch f {
	case dropped, throttled, refused:
		return hears(f, none, nil)
	case delayed:
		onItsWay(false)
		return hears(f, none, nil)
	case lost, silent, cut:
		out, err := apply()
		return hears(f, out, err)
	case crashBefore:
		k.die()
	case crashAfter:
		_, _ = apply()
		k.die()
	case late:
		onItsWay(false)
	case given:
		if slices.Contains(fates, late) { // a write
			onItsWay(true)
		}
		return none, ctx.Err()
	case hidden, partly, conflicting:
		k.world.serving = f
		defer func() { k.world.serving = ok }()
	}
	out, err := apply()
	k.stop("hears of it")
	return out, err
}

// of says which record a call is about, where it is one.
func of(it map[string]types.AttributeValue) string {
	if name, ok := it["intent"].(*types.AttributeValueMemberS); ok {
		return about(name.Value)
	}
	return ""
}

// about is what stands behind an operation's name. An item that keeps a result has a
// name that is not the same in every run.
func about(name string) string {
	if record, _, ok := strings.Cut(name, "##"); ok {
		return aResult + record
	}
	return " of " + name
}

const aResult = " of a result of "

// die ends the worker where it stands: nothing that it would still send arrives.
func (k *worker) die() {
	k.mu.Lock()
	k.dead = true
	k.mu.Unlock()
	runtime.Goexit()
}
