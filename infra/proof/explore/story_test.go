package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A batch really shares its calls: the explored histories would say nothing of groups
// otherwise.
func TestGroupedSharesItsCalls(t *testing.T) {
	w := setting{class: Grouped, side: 1}.history(t, &path{})
	if w.fault != "" {
		t.Fatal(w.violation())
	}
	if story := w.told(); strings.Count(story, "BatchExecuteStatement: ") != 2 || strings.Contains(story, "PutItem") {
		t.Errorf("got\n%s\nwant one call for the claims and one for the completions", story)
	}
}

// A lease really is renewed, while its effect lasts.
func TestRenewedRenews(t *testing.T) {
	// It begins, claims, and 12 s pass before its effect; then the renewal goes first.
	w := setting{class: Renewed, side: 1}.history(t, &track{taken: []int{0, 0, 0, 0, 0, 0, 1, 0}})
	if w.fault != "" {
		t.Fatal(w.violation())
	}
	if story := w.told(); !strings.Contains(story, "claimed of owner 1 -> claimed of owner 1, attempt 1") || !strings.Contains(story, "executed") {
		t.Errorf("got\n%s\nwant a claim that is renewed, and then completed", story)
	}
}

// Each world really holds what it is there for.
func TestWorlds(t *testing.T) {
	for _, tt := range []struct {
		class Class
		side  int
		taken []int    // what is unusual
		holds []string // parts of the story, in this order
	}{
		{Trio, 1, nil, []string{
			"BatchExecuteStatement: ok", "record of charge third: absent of owner 0 -> claimed", "BatchExecuteStatement: ok", "record of charge third: claimed of owner 1 -> completed",
		}},
		{Trio, 1, []int{1}, []string{"another message of the first intent", "charge other: claimed", "replayed", "executed", "executed"}},
		{GroupedOutlived, 1, []int{0, 0, 0, 3}, []string{"24h0m0s pass", "record of charge k: claimed of owner 1 -> in_doubt"}},
		{NestedKeyed, 1, nil, []string{"effect of charge k: ok", "PutItem of proof#receipt#k: ok", "effect of receipt k: ok", "record of charge k: claimed of owner 1 -> completed"}},
		{NestedBlind, 2, []int{2}, []string{"the inner intent is ledger of k", "TransactWriteItems: ok", "delivery 1 ends: dead false, replayed"}},
		{Aged, 1, []int{2}, []string{"its intent is 480h0m0s old", "too old"}},
		{Aged, 1, []int{0, 0, 0, 0, 0, 0, 0, 0, 6}, []string{"984h0m0s pass, records stand", "absent of owner 0 -> claimed of owner 2, attempt 1", "executed"}},
		{AgedGrouped, 1, []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6}, []string{
			"984h0m0s pass, records stand", "BatchExecuteStatement: ok", "PutItem of proof#charge#k: ok", "absent of owner 0 -> claimed of owner 2, attempt 1", "executed",
		}},
		{AgedLedger, 1, []int{0, 0, 0, 0, 8}, []string{"984h0m0s pass, TTL deletes", "too old"}},
		{Aged, 1, []int{0, 0, 0, 0, 0, 0, 0, 0, 13}, []string{"records are of another format", "unknown format"}},
		{Large, 1, []int{0, 0, 0, 0, 0, 0, 8}, []string{"PutItem of a result of proof#charge#k: refused", "UpdateItem of proof#charge#k: ok", "executed"}},
		{LargeLedger, 1, nil, []string{"TransactWriteItems: ok", "executed"}},
		{Written, 1, nil, []string{"TransactWriteItems: ok", "executed"}},
		{WrittenProbed, 1, []int{0, 0, 0, 0, 1}, []string{"probe: ok", "TransactWriteItems: ok", "replayed"}},
		{Reclassed, 1, []int{0, 4}, []string{"its effect is blind"}},
	} {
		t.Run(fmt.Sprint(tt.class, tt.taken), func(t *testing.T) {
			story := setting{class: tt.class, side: tt.side}.history(t, &track{taken: tt.taken}).told()
			rest := story
			for _, part := range tt.holds {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("got\n%s\nwant %q in it, after what is before that", story, part)
				}
				rest = after
			}
		})
	}
}

// The SDK itself repeats what may pass, as a call of the schedule, and the claim is
// its own win.
func TestSDKRetries(t *testing.T) {
	for _, f := range []fate{lost, dropped, delayed, throttled, silent, cut} {
		t.Run(f.String(), func(t *testing.T) {
			// The delivery begins, its claim goes on, with that fate.
			w := setting{class: Keyed, side: 1, sdk: true}.history(t, &track{taken: []int{0, 0, slices.Index(wireFatesOf("PutItem"), f)}})
			if w.fault != "" {
				t.Fatal(w.violation())
			}
			story := w.told()
			bySDK := strings.Contains(story, "PutItem of proof#charge#k, the SDK's attempt=2; max=3: ok")
			// That an answer broke off the SDK does not retry: the store does.
			if bySDK == (f == cut) || strings.Count(story, "delivery 0: PutItem") != 2 || !strings.Contains(story, "delivery 0 ends: dead false, executed") {
				t.Errorf("got\n%s\nwant a second attempt that is ok, and the effect executed", story)
			}
		})
	}
}

// A history is the same again, with the seed or the path that was printed.
func TestHistoriesReplay(t *testing.T) {
	wait := regexp.MustCompile(`wait [^,]*,`) // depends on how long a back-off was
	for _, class := range everyClass {
		t.Run(string(class), func(t *testing.T) {
			for seed := range uint64(10) {
				s := setting{class: class, sdk: seed%5 == 0}.chance(seed)
				first, second := s.history(t, newDice(seed)).told(), s.history(t, newDice(seed)).told()
				if wait.ReplaceAllString(first, "") != wait.ReplaceAllString(second, "") {
					t.Fatalf("got\n%s\nand then\n%s", first, second)
				}
			}
			p, n := &path{budget: 2}, 0
			for more := true; more && n < 50; n++ {
				told := setting{class: class, side: 2}.history(t, p).told()
				taken, err := parseTrack(strings.TrimPrefix(p.String(), "-path="))
				if err != nil {
					t.Fatal(err)
				}
				if again := (setting{class: class, side: 2}).history(t, taken).told(); wait.ReplaceAllString(told, "") != wait.ReplaceAllString(again, "") {
					t.Fatalf("got\n%s\nand then\n%s", told, again)
				}
				more = p.next()
			}
			if n < 50 {
				t.Errorf("only %d paths", n)
			}
		})
	}
}
