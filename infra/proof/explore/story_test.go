package explore

import (
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
