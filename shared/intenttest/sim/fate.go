package sim

import (
	"net"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// kind is what sort of call it is, and so what may become of it.
type kind int

const (
	read  kind = iota // of a table
	write             // to a table
	far               // to what is beside the tables
)

// fate is what becomes of a call.
type fate string

const (
	fine        fate = "ok"
	unreached   fate = "never sent"               // no connection
	dropped     fate = "lost"                     // the connection breaks before the call arrives
	unheard     fate = "reply lost"               // it is applied, and the connection breaks before the reply arrives
	again       fate = "reply lost, sent again"   // so the client's own retry is what is answered
	slow        fate = "slow"                     // it arrives late, and its reply later
	copied      fate = "ok, a copy is on its way" // from when it seemed lost
	throttled   fate = "throttled"                // refused, for now
	conflicting fate = "conflict"                 // with a transaction
	partly      fate = "in part"                  // of several statements or actions some are throttled, or conflict
	dieBefore   fate = "the process dies before"
	dieAfter    fate = "the process dies after"
)

var fates = map[kind][]fate{
	read:  {dropped, throttled, slow, dieBefore, dieAfter},
	write: {dropped, unheard, unheard, again, slow, slow, copied, copied, throttled, conflicting, partly, dieBefore, dieAfter},
	far:   {unreached, dropped, unheard, unheard, slow, slow, dieBefore, dieAfter},
}

// late draws how late a call is: often by less than a lease, sometimes by several.
func (w *World) late() time.Duration {
	return w.Within([]time.Duration{3 * time.Second, 20 * time.Second, 4 * time.Minute}[w.Rand.IntN(3)])
}

// let lets a call through, with the fate that is drawn for it.
func (w *World) let(c *call) {
	f := fine
	if w.Unusual() {
		f = fates[c.kind][w.Rand.IntN(len(fates[c.kind]))]
	}
	w.meet(c, f)
}

// meet lets a call through to its fate.
func (w *World) meet(c *call, f fate) {
	w.say("%s: %s", c.name, f)
	apply := func() {
		c.apply()
		w.changed(c)
	}
	switch f {
	case fine:
		apply()
		c.answer(nil)
	case unreached:
		c.fails(broken("dial"))
	case dropped:
		c.fails(broken("write"))
	case unheard:
		apply()
		c.fails(broken("read"))
	case again:
		apply()
		w.withdraw(c)
		w.At(w.Within(time.Second), c.name+": sent again", func() {
			apply()
			c.answer(nil)
		})
	case slow:
		w.withdraw(c)
		w.At(w.late(), c.name+": arrives", func() {
			apply()
			w.At(w.Within(5*time.Second), c.name+": answered", func() { c.answer(nil) })
		})
	case copied:
		apply()
		c.answer(nil)
		w.At(w.late(), c.name+": copy arrives", apply)
	case throttled:
		c.fails(&types.ProvisionedThroughputExceededException{})
	case conflicting:
		c.fails(&types.TransactionConflictException{})
	case partly:
		w.spoil(c)
		apply()
		delete(w.parts, c.input)
		c.process.held[c.name] = time.Now().Add(time.Second)
		c.answer(nil)
	case dieBefore:
		c.process.die()
	case dieAfter:
		apply()
		c.process.die()
	}
}

// broken is what a client says of a connection that died.
func broken(op string) error {
	return &smithyhttp.RequestSendError{Err: &net.OpError{Op: op, Net: "tcp", Err: syscall.ECONNRESET}}
}

// Unreached reports an error of a call that never left.
func Unreached(err error) bool {
	sent, ok := err.(*smithyhttp.RequestSendError)
	if !ok {
		return false
	}
	op, ok := sent.Err.(*net.OpError)
	return ok && op.Op == "dial"
}
