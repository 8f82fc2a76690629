package mutants

import (
	"fmt"
	"maps"
	"slices"
)

// equivalent are the mutants that cannot be told from the code, each with why. Their names are of package, operator and
// text: whoever moves or renames a function has to touch those alone that are named by it, where the text stands twice.
var equivalent = map[string]string{
	"intent left out: stop()":                                             "what is left behind is a timer that cancels a context which nobody has any more",
	"intent left out: cancel()":                                           "the same",
	"intent left out: stopRenewal()":                                      "the same",
	"intent field: Intent: t.key.String(): as in shown.Intent":            "a record that stands has its own key",
	"intent condition: cut > 0: always":                                   "every reason begins with words of ours",
	"intent condition: standing.State == StateAbsent: always in acquire":  "what stands is read once more, and consistently",
	"intent left out: c.record, _ = stopHeartbeat()":                      "a renewal after the release fails by its own condition",
	"intent condition: err != nil: never in heartbeat":                    "with an error comes no record, and so no owner",
	"intent field: meant.Attempt = standing.Attempt: as in meant.Attempt": "a doubt names the attempt that it is about",
	"dynamo condition: err != nil: never in Amend (2)":                    "with an error comes no record, and so no owner",
	"dynamo condition: g.sends == sends: always":                          "a timer that was stopped does not fire",
	"dynamo condition: len(g.pending) == 1: always":                       "every write has a timer then, and the first one's sends them all",
	"dynamo left out: g.flush.Stop() in send":                             "a timer that fires later finds that its call has left",
	"dynamo left out: g.sends++":                                          "the timer was stopped",
	"dynamo order: attribute := g.keep(ctx, &next) before if next.State == intent.StateClaimed || next.Writes != nil { return g.Store.Amend(ctx, next) }": "what is put aside twice is the same, and a renewal has no result",
	"dynamo condition: rejection(err) == \"\": never":                                                                    "what stands is looked for once more, and answers",
	"dynamo condition: err == nil: never in persist":                                                                     "no error is none that may pass",
	"dynamo left out: pause.Stop()":                                                                                      "nobody waits for the timer any more",
	"intent order: r.giveBack(storeCtx, c) before c.record, _ = stopHeartbeat()":                                         "a renewal after the release fails by its own condition",
	"dynamo condition: answer.ErrorMessage() != \"\": always":                                                            "of an answer without a text the SDK says nothing that could be left out",
	"dynamo condition: ok after _, ok := stack.Initialize.Get(id): never":                                                "what is hidden twice is hidden",
	"dynamo bound: LeaseUntil: once: an hour later":                                                                      "the record is asked for the names of its attributes alone",
	"dynamo bound: ClaimedAt: once: an hour later":                                                                       "the same",
	"dynamo code: updateParked of []string{updateFinal, updateReleased, updateReleasedForgotten, updateParked}: dropped": "only a Blind claim is parked by its owner, and none of these shares a call",
	"dynamo left out: so.MaxAttempts = sdkAttempts":                                                                      "the SDK has the same number; said, since the store counts on it",
	"dynamo expression: conditionRenewal: #owner = :owner AND #state = :claimed AND lease_until <= :lease_until":         "a renewal to the same moment writes what stands",

	"sqsbatch condition: ok after deadline, ok := ctx.Deadline(): always in work": "the time until no deadline wraps round, to 292 years",
	"sqsbatch left out: stop()":                                                       "the context is asked for its deadline alone",
	"sqsbatch condition: b.Queue != nil: always":                                      "a call on no queue panics, is contained, and hides nothing",
	"sqsbatch condition: errors.Is(err, intent.ErrLost): never":                       "a claim that was lost is made of nothing that is read after it",
	"sqsbatch condition: j.delivery.Fingerprint == next.delivery.Fingerprint: always": "equal payloads have one fingerprint",
	"sqsbatch left out: d.stop()":                                                     "nothing is called under the context any more",
	"sqsbatch condition: sendErr == nil: never in newDesk":                            "a call under a context that has ended is none, and says so itself",
	"sqsbatch condition: err != nil after err := decodeField(p, name, &at): never":    "what is no time is left at zero, which is out of bounds, too",
	"sqsbatch condition: json.Unmarshal(payload, &list) == nil: always":               "of what is no list nothing is in it either",
	"sqsbatch condition: json.Unmarshal(text, &fields) != nil: never":                 "of what is no object nothing is in the map either",
	"sqsbatch condition: err == nil: never in poison (3)":                             "no error is none of those that follow",
	"sqsbatch left out: f.outcome.Cause = nil":                                        "nobody reads it after its text was taken",
	"sqsbatch condition: j.unread != nil: never in lanes":                             "what could not be read is quarantined in one lane, and not side by side",
	"sqsbatch condition: len(l.jobs) == 1: never in run":                              "nothing follows that could be stopped; without it fates are read while they are written, which the race detector finds",
	"sqsbatch field: SQSMessage: m: empty":                                            "it stands in for what reading the message would give, if that panicked",
	"sqsbatch field: place: place: empty":                                             "the same",
	"sqsbatch condition: !m.sent.IsZero(): always":                                    "where no time is known there is no attribute with one, and zero is zero",
	"sqsbatch condition: err != nil after err := encoder.Encode(wrapped{Reason: reason, Attributes: attributes, Body: body}): never": "texts and bytes can always be written",
	"sqsbatch condition: len(r.waiting) == 1: always": "every entry has a timer then, and the first one's sends them all",
	"sqsbatch condition: !r.calling: always":          "what waits for a call goes right after it, with a timer or without",
	"sqsbatch condition: r.timer != nil: never":       "a timer that fires after the close finds nothing to send",
	"sqsbatch left out: r.timer.Stop()":               "the same",
	"sqsbatch condition: n > 0: always":               "no entry alone is larger than a call",
	"sqsbatch condition: err != nil after ms, err := strconv.ParseInt(m.Attributes[\"SentTimestamp\"], 10, 64): never": "what is no number is read as zero or as the largest, which are out of bounds",
	"sqsbatch condition: err != nil after at, err := intent.FromMillis(ms): never in sentTimestamp":                    "what is out of bounds comes with the zero time",

	"welcome condition: !errors.As(err, &response): never":                                                              "every error of a request that may have arrived has a response's place in it, empty or not",
	"welcome condition: response.HTTPStatusCode() == 0: never":                                                          "what has no status cannot be read either, and is unknown as well",
	"welcome condition: err != nil after file, err := letterFiles.ReadFile(\"letters/\" + string(k) + \".txt\"): never": "each kind that is valid has a letter",
	"charge condition: errors.As(err, &call): never":                                                                    "a *url.Error is a net.Error, too",
	"charge condition: errors.Is(err, context.DeadlineExceeded): never":                                                 "it is a net.Error, too",
	"charge condition: err == nil: always":                                                                              "a PaymentIntent that comes with an error has no answer of its own",
	"welcome condition: parsed.Name == \"\": always":                                                                    "a text with a name is longer than its address",
	"welcome condition: b < ' ': never":                                                                                 "an address with a control character is not bare",
	"welcome condition: reason != \"\": never in checkSender":                                                           "what is refused comes without an address",
	"welcome condition: !bare(address): never in deliverable (2)":                                                       "a domain in Punycode has letters, digits, hyphens and dots alone",

	"intent left out: <-done": "the record is read while a renewal may write it, which the race detector finds",
	"dynamo condition: err != nil after it, err := s.get(ctx, key): never":                                                                                                             "with an error comes no item",
	"dynamo order: attribute := s.keep(ctx, &next) before if !slices.Contains(intent.Sources(next.State, intent.ByShown), shown.State) { return s.Load(ctx, next.Intent) }":            "a result that is put aside for nothing goes by its own TTL",
	"dynamo order: attribute := s.keep(ctx, &next) before if next.Writes != nil { return intent.Record{}, fmt.Errorf(\"%w: there is no claim whose completion they could join\", int…": "the same",
	"charge condition: r != nil: always":           "an answer of the library's has its response",
	"clearcart condition: ctx.Err() != nil: never": "a call under a context that has ended is none",
	"clearcart order: running.Go(func() { defer func() { <-slots }() if err := t.delete(ctx, key, at); err != nil { stop(err) } }) before if ctx.Err() != nil { break }": "the same",
	"ship condition: err != nil after at, err := strconv.ParseFloat(number.Value, 64): never":                                                                            "every number of DynamoDB's is one of these",
	"ship verdict: intent.Quarantine(fmt.Errorf(\"read order's shipped_at: %w\", err)): unknown":                                                                         "the same",
	"welcome condition: err != nil after l, err := render(g.Kind, to.name): never":                                                                                       "each kind that is valid has a letter",
	"welcome verdict: intent.NotApplied(err): unknown":                                                                                                                   "the same",
	"welcome verdict: intent.NotApplied(err): refused":                                                                                                                   "the same",
}

// withoutEquivalent leaves them out. One that no mutant has the name of any more is an
// error.
func withoutEquivalent(found []mutant) ([]mutant, error) {
	var kept []mutant
	left := maps.Clone(equivalent)
	for _, m := range found {
		if _, ok := left[m.name]; ok {
			delete(left, m.name)
			continue
		}
		kept = append(kept, m)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("equivalent mutants that are no mutants: %q", slices.Sorted(maps.Keys(left)))
	}
	return kept, nil
}
