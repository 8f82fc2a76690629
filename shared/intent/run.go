package intent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ended is how an effect ended.
type ended struct {
	reading
	result any
	err    error // nil, an *EffectError or a *PanicError
}

// runEffect runs the effect and reads its error, whose methods may panic like the
// effect itself.
func (r runner[P]) runEffect(ctx context.Context, c claim, t task[P]) ended {
	var e ended
	err := Contain(func() error {
		result, err := r.effect(ctx, t.payload, t.attempt(c.record))
		read := ended{reading: readVerdict(err, c.fresh), result: result}
		if err != nil {
			read.err = newEffectError(err)
		}
		e = read
		return nil
	})
	if err != nil {
		e = ended{err: err}
	}
	if e.fault != "" {
		e.err = fmt.Errorf("%s: %w", e.fault, e.err)
	}
	return e
}

// run executes the effect under the claim and ends the claim by its verdict.
func (r runner[P]) run(ctx, storeCtx context.Context, c claim, t task[P]) (Outcome, error) {
	effectCtx, stop := EffectContext(ctx)
	defer stop()
	effectCtx, cancel := context.WithCancel(effectCtx)
	defer cancel()
	stopHeartbeat := func() (Record, error) { return c.record, nil }
	if _, ok := ctx.Deadline(); !ok {
		stopHeartbeat = r.heartbeat(effectCtx, c, cancel)
	}
	// The last look before the effect: whoever stalled until its lease was over
	// must not start it. A stall between this look and the call, longer than the
	// margins, is what no client can exclude.
	if !r.Now().Before(c.end) || effectCtx.Err() != nil {
		c.record, _ = stopHeartbeat()
		r.giveBack(storeCtx, c)
		return Outcome{}, ErrNoTime
	}
	e := r.runEffect(effectCtx, c, t)
	var lost error
	c.record, lost = stopHeartbeat()

	err := e.err
	switch e.verdict {
	case Yes, declined:
		final, kind := c.record.Finish(StateCompleted, e.result, r.Now(), r.Retention), Executed
		if e.verdict == declined {
			final, kind = c.record.Finish(StateRefused, e.refused, r.Now(), r.Retention), Refused
		}
		var o Outcome
		o, err = r.end(storeCtx, final, Outcome{Kind: kind}, nil, t)
		if !errors.Is(err, ErrWritesRejected) {
			return o, err
		}
		// How it ended is known, and cannot be written: as good as unknown.
	case No:
		meantErr := fmt.Errorf("%w: %w", ErrReleased, err)
		if e.quarantine {
			meantErr = fmt.Errorf("%w: %w", ErrUnprocessable, meantErr)
		}
		return r.end(storeCtx, released(c, err.Error()), Outcome{Cause: err}, t.Failed(meantErr), t)
	}
	if lost != nil {
		err = fmt.Errorf("%w: %w", err, lost)
	}
	if !errors.Is(err, ErrUnknown) {
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if !r.blind { // the call may still be under way: the claim lapses
		if t.Last && lost == nil && r.leaveOpen(storeCtx, c.record) {
			err = fmt.Errorf("%w: %w", ErrGivenUp, err)
		}
		return Outcome{Wait: max(0, r.untilLapsed(c.record))}, err
	}
	doubt := c.record.Parked(err.Error(), r.Now())
	meant := r.doubt(doubt)
	meant.Cause = err
	return r.end(storeCtx, doubt, meant, nil, t)
}

// leaveOpen lists a claim that nobody comes back for, and tells whether it is listed.
func (r runner[P]) leaveOpen(ctx context.Context, rec Record) bool {
	next := rec
	next.OpenSince = millis(r.Now())
	standing, err := r.Store.Replace(ctx, rec, next)
	return err == nil && standing.Owner == next.Owner && standing.State == next.State && standing.OpenSince.Equal(next.OpenSince)
}

// end writes how the claim ends and answers by the record that stands then: as
// meant if it is ours and says so, else by what another made of it. Where the record
// says something else, what was meant does not count, and its cause is told alone.
func (r runner[P]) end(ctx context.Context, next Record, meant Outcome, meantErr error, t task[P]) (Outcome, error) {
	standing, err := r.Store.Amend(ctx, next)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w: write %s: %w", ErrUnknown, next.State, errors.Join(err, meant.Cause))
	}
	if standing.Owner == next.Owner && standing.State == next.State {
		meant.Attempt, meant.Result = standing.Attempt, standing.Result
		if meantErr != nil {
			meant.Cause = nil // it is in the error
		}
		return meant, meantErr
	}
	o, ok := r.follow(standing, t)
	if standing.State == StateInDoubt {
		o, ok = r.doubt(standing), true
	}
	if ok {
		o.Cause = meant.Cause
		return o, nil
	}
	return Outcome{}, errors.Join(ErrLost, meant.Cause)
}

// doubtLooks are when a record in doubt is worth another look, after it went in doubt.
// After the last of them its message is no longer delivered.
var doubtLooks = []time.Duration{5 * time.Minute, 20 * time.Minute, time.Hour}

// doubt is the outcome of a record in doubt: for as long as a probe's "no" would
// not count yet, it is deferred like a running claim. Where a probe is left to ask,
// another look is worth while.
func (r runner[P]) doubt(rec Record) Outcome {
	o := Outcome{Kind: InDoubt, Attempt: rec.Attempt, Reason: rec.Reason}
	if r.probe == nil {
		return o
	}
	early := r.untilLapsed(rec) + r.settling()
	age := max(0, r.Now().Sub(rec.OpenSince)) // by another's clock
	for _, look := range doubtLooks {
		if wait := look - age; wait > 0 && wait >= early {
			o.Wait = wait
			break
		}
	}
	if early > 0 {
		return Outcome{Kind: InProgress, Attempt: rec.Attempt, Wait: max(o.Wait, early)}
	}
	return o
}

// settling is how long after a lapsed lease a probe's "no" does not count yet.
func (r runner[P]) settling() time.Duration {
	if r.probeAfter == 0 {
		return defaultProbeAfter
	}
	return r.probeAfter
}

// settle asks the probe about a record in doubt. The outcome has no Kind when
// the record moved on and decides anew.
func (r runner[P]) settle(ctx, storeCtx context.Context, shown Record, t task[P]) (Record, Outcome, error) {
	doubt := r.doubt(shown)
	if r.probe == nil || doubt.Kind == InProgress {
		return shown, doubt, nil
	}
	probeCtx, cancel := EffectContext(ctx)
	defer cancel()
	var verdict Verdict
	var result any
	err := Contain(func() error {
		v, yes, err := r.probe(probeCtx, t.payload, t.attempt(shown))
		if err != nil {
			return newEffectError(err)
		}
		verdict, result = v, yes
		return nil
	})
	doubt = r.doubt(shown) // the probe took its time
	var next Record
	switch {
	case err != nil:
		doubt.Reason, doubt.Cause = clip("probe: "+err.Error()), err
		return shown, doubt, nil
	case verdict == Yes:
		next = shown.Finish(StateCompleted, result, r.Now(), r.Retention)
	case verdict == No:
		next = shown
		next.State, next.Owner, next.ClaimedAt, next.Reason = StateReleased, NewOwner(), time.Time{}, "probe: did not happen"
	default:
		return shown, doubt, nil
	}
	standing, err := r.Store.Replace(storeCtx, shown, next)
	return standing, Outcome{}, err
}

// heartbeat renews the lease every third of it until stopped, and cancels the
// effect when a renewal fails. stop returns the record as last renewed, and an ErrLost
// if a renewal failed. The loss is not told by the context's cause: an intent that the
// effect delivers would take it for its own.
func (r runner[P]) heartbeat(ctx context.Context, c claim, cancelEffect func()) (stop func() (Record, error)) {
	ctx, quit := context.WithCancel(ctx)
	rec, end := c.record, c.end
	var lost error
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(r.Lease / 3):
			}
			now := r.Now()
			next := rec
			next.LeaseUntil = millis(now.Add(r.Lease))
			if r.pastWindow(rec, next) {
				lost = fmt.Errorf("%w: the provider's window ends", ErrLost)
				cancelEffect()
				return
			}
			// Given up before the lease is over, so that the effect ends before it, too.
			renewCtx, stopRenewal := context.WithTimeout(ctx, end.Sub(now)-r.Lease/6)
			standing, err := r.Store.Amend(renewCtx, next)
			stopRenewal()
			if err != nil || standing.Owner != rec.Owner || standing.State != StateClaimed {
				if ctx.Err() == nil { // else the effect ended first, and withdrew the renewal
					lost = errors.Join(ErrLost, err)
					cancelEffect()
				}
				return
			}
			rec, end = next, now.Add(r.Lease-time.Millisecond)
		}
	}()
	return func() (Record, error) {
		quit()
		<-done
		return rec, lost
	}
}
