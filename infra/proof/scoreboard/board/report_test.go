package board

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sample() Report {
	return Report{
		Rows: []Row{
			{Named("lost_claim_reply"), Score{Effects: 1}, Score{Effects: 1, unheard: 1}, Score{Wrong: true}},
			{Named("big_ids"), Score{Effects: 2}, Score{Effects: 1, Wrong: true}, Score{Effects: 2}},
			{Named("null_key"), Score{unheard: 2}, Score{Effects: 1, Wrong: true, unheard: 1}, Score{Effects: 1, Wrong: true}},
			{Named("two_operations"), Score{Effects: 2}, Score{Effects: 1, Wrong: true}, Score{Effects: 1, Wrong: true}},
		},
		Others: []Score{{unheard: 2}, {Effects: 2}},
	}
}

func TestReportJSON(t *testing.T) {
	var b strings.Builder
	if err := sample().JSON(&b); err != nil {
		t.Fatal(err)
	}
	want := `{"scoreboard":[` +
		`{"case":"lost_claim_reply","once":{"effects":1,"wrong":false},"powertools_ts":{"effects":1,"wrong":false},"naive":{"effects":0,"wrong":true}},` +
		`{"case":"big_ids","once":{"effects":2,"wrong":false},"powertools_ts":{"effects":1,"wrong":true},"naive":{"effects":2,"wrong":false}},` +
		`{"case":"null_key","once":{"effects":0,"wrong":false},"powertools_ts":{"effects":1,"wrong":true},"naive":{"effects":1,"wrong":true}},` +
		`{"case":"two_operations","once":{"effects":2,"wrong":false},"powertools_ts":{"effects":1,"wrong":true},"naive":{"effects":1,"wrong":true}}]}` + "\n"
	if got := b.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestReportErr(t *testing.T) {
	r := sample()
	if err := r.Err(); err != nil {
		t.Errorf("once is right: %v", err)
	}
	r.Rows[1].Once.Wrong = true
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "big_ids") {
		t.Errorf("once is wrong in big_ids: got %v", err)
	}
}

func TestReportInto(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content := func() string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	t.Run("OK", func(t *testing.T) {
		write("before\n" + Marker + "an older table\n" + Marker + "after\n")
		if err := sample().Into(path); err != nil {
			t.Fatal(err)
		}
		first := content()
		for _, want := range []string{"before\n" + Marker + "| case", "| 1 ✓ | 1 ✓ † | **0 ✗** |", "| 2 ✓ | **1 ✗** | 2 ✓ |",
			"| 0 ✓ † | **1 ✗** †; with a key of one field: 0 ✓ † | **1 ✗** |",
			"| 2 ✓ | **1 ✗**; with a `keyPrefix` for each operation: 2 ✓ | **1 ✗** |", Marker + "after\n"} {
			if !strings.Contains(first, want) {
				t.Errorf("got %s\nwant %q in it", first, want)
			}
		}
		if strings.Contains(first, "older") {
			t.Errorf("the older table is still there: %s", first)
		}
		if err := sample().Into(path); err != nil || content() != first {
			t.Errorf("written again: %v: got %s\nwant %s", err, content(), first)
		}
	})
	t.Run("ErrMarkers", func(t *testing.T) {
		text := "before\n" + Marker + "after\n"
		write(text)
		if err := sample().Into(path); err == nil || content() != text {
			t.Errorf("one marker: got error %v and %q, want an error and the file as it was", err, content())
		}
	})
}
