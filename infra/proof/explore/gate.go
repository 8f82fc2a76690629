package explore

import (
	"context"
	"net"
	"runtime"
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
	given            // the caller's time is over
)

// ofWrites and ofReads are the fates of calls to the table.
var (
	ofWrites = []fate{ok, lost, crashAfter, crashBefore, late, dropped, throttled, refused}
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
	return through(ctx, g, ofWrites, "PutItem", in, g.db.PutItem)
}

func (g *gate) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return through(ctx, g, ofWrites, "UpdateItem", in, g.db.UpdateItem)
}

func (g *gate) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return through(ctx, g, ofReads, "GetItem", in, g.db.GetItem)
}

func (g *gate) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return through(ctx, g, ofWrites, "TransactWriteItems", in, g.db.TransactWriteItems)
}

func (g *gate) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return through(ctx, g, ofWrites, "BatchExecuteStatement", in, g.db.BatchExecuteStatement)
}

func (g *gate) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return through(ctx, g, ofReads, "BatchGetItem", in, g.db.BatchGetItem)
}

// through is one call.
func through[In, Out any](ctx context.Context, g *gate, fates []fate, operation string, in *In,
	call func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)) (*Out, error) {
	apply := func() (*Out, error) {
		out, err := call(context.WithoutCancel(ctx), in)
		g.w.world.changed(operation)
		return out, err
	}
	switch g.w.arrive(ctx, operation+of(in), fates) {
	case dropped:
		return nil, broken("write")
	case lost:
		_, _ = apply()
		return nil, broken("read")
	case throttled:
		return nil, &types.ProvisionedThroughputExceededException{}
	case refused:
		return nil, &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not allowed"}
	case crashBefore:
		g.w.die()
	case crashAfter:
		_, _ = apply()
		g.w.die()
	case late:
		g.w.world.later(event{"late copy of " + operation, g.w.number, false, func() { _, _ = apply() }})
	case given:
		return nil, ctx.Err()
	}
	return apply()
}

// of says which record a call is about, where it is one.
func of(in any) string {
	var it map[string]types.AttributeValue
	switch in := in.(type) {
	case *dynamodb.PutItemInput:
		it = in.Item
	case *dynamodb.UpdateItemInput:
		it = in.Key
	case *dynamodb.GetItemInput:
		it = in.Key
	}
	if name, ok := it["intent"].(*types.AttributeValueMemberS); ok {
		return " of " + name.Value
	}
	return ""
}

// broken is what the SDK says of a connection that died.
func broken(op string) error {
	return &smithyhttp.RequestSendError{Err: &net.OpError{Op: op, Net: "tcp", Err: syscall.ECONNRESET}}
}

// die ends the worker where it stands: nothing that it would still send arrives.
func (w *worker) die() {
	w.mu.Lock()
	w.dead = true
	w.mu.Unlock()
	runtime.Goexit()
}
