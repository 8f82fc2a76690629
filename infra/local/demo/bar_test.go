package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// In a file or a pipe the bar is a few whole lines, without control characters.
func TestBarOffATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := bar{out: &out, total: 8}
		const looks = 60
		for i := range looks {
			b.show(i/10-1, "some killed") // -1: more is in the queues than was sent, for a moment
			time.Sleep(250 * time.Millisecond)
		}
		b.show(8, "more killed")
		b.end()
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		empty, full := strings.Repeat(".", barWidth), strings.Repeat("#", barWidth)
		if want := "[" + empty + "] 0 of 8 messages settled, some killed"; lines[0] != want {
			t.Errorf("first: got %q, want %q", lines[0], want)
		}
		if want := "[" + full + "] 8 of 8 messages settled, more killed"; lines[len(lines)-1] != want {
			t.Errorf("last: got %q, want %q", lines[len(lines)-1], want)
		}
		if want := 1 + int(looks*250*time.Millisecond/barEvery); len(lines) > want+1 || len(lines) < want-1 {
			t.Errorf("got %d lines in %d looks, want about %d:\n%s", len(lines), looks, want, out.String())
		}
		if strings.ContainsAny(out.String(), "\r\x1b") {
			t.Errorf("got control characters: %q", out.String())
		}
	})
}

func TestTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	if terminal(file) || terminal(writer) || terminal(new(bytes.Buffer)) {
		t.Errorf("a file, a pipe and a buffer: got %t, %t and %t, want no terminal", terminal(file), terminal(writer), terminal(new(bytes.Buffer)))
	}
}
