package explore

import (
	"context"
	"net"
	"runtime"
	"slices"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/singleeffect/once/shared/dynamo"
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

	// Through the SDK only.
	silent // it is applied, and no reply arrives within the attempt's time
	cut    // it is applied, and the reply breaks off
)

var fateNames = map[fate]string{
	ok: "ok", dropped: "dropped", lost: "reply lost", throttled: "throttled", refused: "refused", crashBefore: "dies before", crashAfter: "dies after",
	late: "ok, a copy is on its way", delayed: "connection breaks, still on its way", given: "time is over", silent: "no reply in time", cut: "reply cut off",
	unheard: "happens unheard", notArrived: "does not arrive", notApplied: "not applied", declined: "declined", ownNo: "own no", ownLater: "own check fails",
	dieBefore: "dies before", dieAfter: "dies after", underway: "gives up, still under way", probeFails: "fails", probeSilent: "cannot say",
}

func (f fate) String() string { return fateNames[f] }

// ofWrites and ofReads are the fates of calls to the table.
var (
	ofWrites = []fate{ok, lost, crashAfter, crashBefore, late, delayed, dropped, throttled, refused}
	ofReads  = []fate{ok, crashBefore, dropped, refused}
)

// gate is the table as one worker reaches it: each call waits for the schedule to
// let it through, and has the fate that the schedule gives it.
type gate struct {
	db dynamo.API
	w  *worker
}

var _ dynamo.API = (*gate)(nil)

func (g *gate) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return call(ctx, g, ofWrites, "PutItem"+of(in.Item), in, g.db.PutItem)
}

func (g *gate) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return call(ctx, g, ofWrites, "UpdateItem"+of(in.Key), in, g.db.UpdateItem)
}

func (g *gate) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return call(ctx, g, ofReads, "GetItem"+of(in.Key), in, g.db.GetItem)
}

func (g *gate) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return call(ctx, g, ofWrites, "TransactWriteItems", in, g.db.TransactWriteItems)
}

func (g *gate) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return call(ctx, g, ofWrites, "BatchExecuteStatement", in, g.db.BatchExecuteStatement)
}

func (g *gate) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return call(ctx, g, ofReads, "BatchGetItem", in, g.db.BatchGetItem)
}

// call is one call of the narrow interface.
func call[In, Out any](ctx context.Context, g *gate, fates []fate, operation string, in *In,
	method func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)) (*Out, error) {
	return through(ctx, g.w, fates, operation, hears, func() (*Out, error) {
		out, err := method(context.WithoutCancel(ctx), in)
		if err == nil { // else it changed nothing
			g.w.world.changed(operation, g.w)
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
		k.world.later(event{"late " + operation, k.number, doubt, func() { _, _ = apply() }})
	}
	switch f := k.arrive(ctx, operation, fates); f {
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
	}
	return apply()
}

// of says which record a call is about, where it is one.
func of(it map[string]types.AttributeValue) string {
	if name, ok := it["intent"].(*types.AttributeValueMemberS); ok {
		return " of " + name.Value
	}
	return ""
}

// die ends the worker where it stands: nothing that it would still send arrives.
func (k *worker) die() {
	k.mu.Lock()
	k.dead = true
	k.mu.Unlock()
	runtime.Goexit()
}
