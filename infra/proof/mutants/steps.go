package mutants

// step is a mutant by hand: two writes, or a write and what must come after it,
// change places; a write is left out; or a margin is.
type step struct{ name, file, old, new string }

// ofSteps makes their mutants.
func ofSteps(root string) ([]mutant, error) {
	var found []mutant
	for _, s := range steps {
		source, err := read(root, s.file)
		if err != nil {
			return nil, err
		}
		e, err := replacement(s.file, source, s.old, s.new)
		if err != nil {
			return nil, err
		}
		found = append(found, mutant{s.name, s.file, e})
	}
	return found, nil
}

const (
	adjustFile     = "functions/adjust/adjust.go"
	claimFile      = "shared/intent/claim.go"
	configFile     = "shared/intent/config.go"
	runFile        = "shared/intent/run.go"
	groupFile      = "shared/dynamo/group.go"
	ledgerFile     = "shared/dynamo/ledger.go"
	resultFile     = "shared/dynamo/result.go"
	retryFile      = "shared/dynamo/retry.go"
	storeFile      = "shared/dynamo/store.go"
	transactFile   = "shared/dynamo/transact.go"
	batchFile      = "shared/sqsbatch/batch.go"
	laneFile       = "shared/sqsbatch/lane.go"
	quarantineFile = "shared/sqsbatch/quarantine.go"
)

const (
	acquireAndRun = `	c, o, err := r.acquire(ctx, storeCtx, t)
	if err != nil || o.Kind != "" {
		return o, err
	}
`
	lastLook = `	if !r.Now().Before(c.end) || effectCtx.Err() != nil {
		c.record = beat()
		r.giveBack(storeCtx, c)
		return Outcome{}, ErrNoTime
	}
	var result any
`
	runEffect = `	err := Contain(func() (err error) {
		result, err = r.effect(effectCtx, t.payload, t.attempt(c.record))
		return err
	})
`
)

var steps = []step{
	// Writes that change places.
	{"the effect before the claim", claimFile, acquireAndRun, `	var result any
	effect := r.effect
	ended := Contain(func() (err error) {
		result, err = effect(ctx, t.payload, t.attempt(Record{Attempt: 1}))
		return err
	})
	r.effect = func(context.Context, P, Attempt) (any, error) { return result, ended }
` + acquireAndRun},
	{"the effect before the last look at the lease", runFile, lastLook + runEffect, `	var result any
` + runEffect + `	if !r.Now().Before(c.end) || effectCtx.Err() != nil {
		c.record = beat()
		r.giveBack(storeCtx, c)
		return Outcome{}, ErrNoTime
	}
`},
	{"the completion before the effect", runFile, runEffect,
		"\t_, _ = r.Store.Amend(storeCtx, c.record.Finish(StateCompleted, nil, r.Now(), r.Retention))\n" + runEffect},
	{"the completion while renewals go on", runFile, runEffect + "\tc.record = beat()\n", runEffect + "\tdefer beat()\n"},
	{"the release after the answer", runFile, "\t\tr.giveBack(storeCtx, c)\n\t\treturn Outcome{}, ErrNoTime\n", `		time.AfterFunc(time.Minute, func() { r.giveBack(storeCtx, c) })
		return Outcome{}, ErrNoTime
`},
	{"the end after its answer", runFile, "\tstanding, err := r.Store.Amend(ctx, next)\n\tif err != nil {\n\t\treturn Outcome{}", `	standing, err := next, error(nil)
	time.AfterFunc(time.Minute, func() { _, _ = r.Store.Amend(ctx, next) })
	if err != nil {
		return Outcome{}`},
	{"a completion before its large result", storeFile,
		"attribute := s.keep(ctx, &next) // first: it changes next, where a result cannot be kept\n", sibling},
	{"a settlement before its large result", storeFile, "\tattribute := s.keep(ctx, &next)\n\tv := values(next, attribute)\n",
		"\t" + sibling + "\tv := values(next, attribute)\n"},
	{"a ledger's record before its large result", storeFile, "\tattribute := s.keep(ctx, &next)\n\tinput := &dynamodb.PutItemInput{\n",
		"\t" + sibling + "\tinput := &dynamodb.PutItemInput{\n"},
	{"a completion in a group before its large result", groupFile, "attribute := g.keep(ctx, &next)\n", `late := next
	attribute, _ := place(&next)
	defer func() { g.keep(ctx, &late) }()
`},
	{"a ledger's writes before its record", transactFile, "append(append([]types.TransactWriteItem{own}, items...), more...)",
		"append(append(slices.Clone(items), own), more...)"},
	{"a ledger's refusal before its record", ledgerFile, "\tstanding, err := store.Claim(storeCtx, refused)\n", `	standing, err := refused, error(nil)
	defer func() { _, _ = store.Claim(storeCtx, refused) }()
`},
	{"the acknowledgement before the copy in quarantine", laneFile, "o.fates[i].quarantined, o.fates[i].failed = err == nil, err",
		"o.fates[i].quarantined, o.fates[i].failed = true, err"},

	// Writes that are left out.
	{"a claim that may have landed is not given back", claimFile, "\t\t\t\tr.giveBack(storeCtx, c)\n", ""},
	{"a renewal that fails does not cancel the effect", runFile, "cancel(errors.Join(ErrLost, err))", "_ = err"},
	{"a settlement keeps the owner", runFile, "StateReleased, NewOwner(), time.Time{},", "StateReleased, shown.Owner, time.Time{},"},
	{"a settlement keeps the provider's window", runFile, "StateReleased, NewOwner(), time.Time{},", "StateReleased, NewOwner(), shown.ClaimedAt,"},
	{"a takeover keeps the owner", claimFile, "\tif c.fresh {\n\t\tc.record.ClaimedAt = millis(now)\n\t}\n\treturn c, nil\n", `	if c.fresh {
		c.record.ClaimedAt = millis(now)
	}
	if shown.Owner != "" {
		c.record.Owner = shown.Owner
	}
	return c, nil
`},
	{"a takeover counts the provider's window anew", claimFile, "ClaimedAt:   shown.ClaimedAt,", "ClaimedAt:   millis(now),"},
	{"a takeover counts no attempt", claimFile, "shown.Attempt + 1", "max(shown.Attempt, 1)"},

	// Margins that are left out.
	{"a takeover without the skew margin", claimFile, "return rec.LeaseUntil.Add(r.SkewMargin).Sub(r.Now())", "return rec.LeaseUntil.Sub(r.Now())"},
	{"the provider's window without the skew margin", claimFile, "return next.LeaseUntil.Add(r.SkewMargin).After(", "return next.LeaseUntil.After("},
	{"the provider's window without its margin", claimFile, "shown.ClaimedAt.Add(r.window - windowMargin)", "shown.ClaimedAt.Add(r.window)"},
	{"a lease without its margin", configFile, "time.Until(deadline) + c.LeaseMargin", "time.Until(deadline)"},
	{"a lease of half the invocation", configFile, "time.Until(deadline) + c.LeaseMargin", "time.Until(deadline) / 2"},
	{"a lease that its owner believes longer than it is", claimFile, "end: now.Add(lease - time.Millisecond)", "end: now.Add(lease + r.SkewMargin)"},
	{"a renewed lease that its owner believes longer than it is", runFile, "now.Add(r.Lease-time.Millisecond)", "now.Add(r.Lease+r.SkewMargin)"},
	{"a renewal that may take longer than its lease", runFile, "end.Sub(now)-r.Lease/6", "end.Sub(now)+r.Lease"},
	{"a no of the probe without the settle time", runFile, "r.untilLapsed(rec) + r.settling()", "r.untilLapsed(rec)"},
	{"a memory without the lease", configFile, "c.leaseUnder(ctx)+c.SkewMargin).After(sent", "c.SkewMargin).After(sent"},
	{"a memory without the skew margin", configFile, "c.leaseUnder(ctx)+c.SkewMargin).After(sent", "c.leaseUnder(ctx)).After(sent"},
	{"an effect up to the deadline", configFile, "max(minReserve, min(maxReserve, time.Until(deadline)/2))", "0*time.Until(deadline)"},
	{"a store that is called up to the deadline", configFile, "deadline.Add(-answerReserve)", "deadline"},
	{"a claim up to the deadline", claimFile, "endEarly(ctx, minStart)", "endEarly(ctx, 0)"},

	// What keeps apart, or together.
	{"two verdicts on one claim share their large result", resultFile, "sum := sha256.Sum256(r.Result.JSON)", "sum := sha256.Sum256(nil)"},
	{"a call outlives its callers", groupFile, "\t\t<-w.call.done\n", ""},
	{"one intent's messages are as old as the first in the batch", laneFile, "\t\t\to.delivery.SentAt = earlier(o.delivery.SentAt, next.delivery.SentAt)\n", ""},

	// What says nothing of a transaction's conditions.
	{"a conflict decides a transaction", retryFile, `"TransactionConflict", `, ""},
	{"throttling decides a transaction", retryFile, `"ThrottlingError", `, ""},
	{"want of capacity decides a transaction", retryFile, `"ProvisionedThroughputExceeded", `, ""},
	{"another try of it decides a transaction", retryFile, `, "TransactionInProgress"`, ""},

	// The expressions of an adjustment, which are no constants.
	{"an adjustment takes away", adjustFile, "balance + :delta", "balance - :delta"},
	{"an adjustment of an unknown account", adjustFile, `aws.String("attribute_exists(balance)")`, `aws.String("attribute_exists(balance) OR NOT attribute_exists(balance)")`},
	{"an adjustment of unknown accounts alone", adjustFile, `aws.String("attribute_exists(balance)")`, `aws.String("attribute_not_exists(balance)")`},
	{"an adjustment down without funds", adjustFile, "balance >= :needed", "balance >= :needed OR NOT balance >= :needed"},
	{"an adjustment down only without funds", adjustFile, "balance >= :needed", "balance < :needed"},
	{"an adjustment down that leaves nothing", adjustFile, "balance >= :needed", "balance > :needed"},

	// What makes a batch fail closed.
	{"a message is done until it fails", batchFile, "\tfates := make([]fate, len(event.Records)) // all failed, until they are done\n", `	fates := make([]fate, len(event.Records))
	for i := range fates {
		fates[i].outcome.Kind = intent.Executed
	}
`},
	{"a panic of a handler is contained as success", laneFile, "\t\tf.err = intent.Contain(func() (err error) {\n\t\t\tf.outcome, err = deliver(ctx, o.delivery)\n\t\t\treturn err\n\t\t})\n",
		"\t\t_ = intent.Contain(func() (err error) {\n\t\t\tf.outcome.Kind = intent.Executed\n\t\t\tf.outcome, f.err = deliver(ctx, o.delivery)\n\t\t\treturn f.err\n\t\t})\n"},
	{"what stands behind a failure in its group is done", laneFile, "*f = (fate{err: errBehind})", "*f = (fate{outcome: intent.Outcome{Kind: intent.Executed}})"},
	{"who follows is done before whom it follows", laneFile, "\t\t*o.fates[i] = f\n", "\t\tif *o.fates[i] = f; i > 0 {\n\t\t\t*o.fates[i] = fate{outcome: intent.Outcome{Kind: intent.Replayed}}\n\t\t}\n"},
	{"an answer that is null", batchFile, "BatchItemFailures: []events.SQSBatchItemFailure{}", "BatchItemFailures: nil"},
	{"a copy in quarantine after its invocation gave up", quarantineFile, "\t\treturn fmt.Errorf(\"quarantine: %w\", err) // nobody waits", "\t\t_ = fmt.Errorf(\"quarantine: %w\", err) // nobody waits"},
}

// sibling puts a large result after what names it.
const sibling = `late := next
	attribute, _ := place(&next)
	defer func() { s.keep(ctx, &late) }()
`
