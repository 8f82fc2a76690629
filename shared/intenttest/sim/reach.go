package sim

import "context"

// Reach takes a call to what is beside the tables through the gate: happen is what it does there, once, if it arrives. An error is
// the connection's, or the context's if the caller waits no more. Then it may have happened, may still happen, or never will; if
// Unreached, it never will.
func (p *Process) Reach(ctx context.Context, name string, happen func()) error {
	broken, ended := p.enter(ctx, &call{kind: far, name: name, apply: happen})
	if ended != nil {
		return ended
	}
	return broken
}
