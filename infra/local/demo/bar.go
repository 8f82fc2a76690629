package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// bar shows how far the queues have emptied: in place on a terminal, a line
// every few seconds elsewhere.
type bar struct {
	out   io.Writer
	total int
	last  time.Time
}

const (
	barWidth = 40
	barEvery = 5 * time.Second // not on a terminal
)

func (b *bar) show(done int, note string) {
	done = max(done, 0) // a redrive is counted twice for a moment
	filled := barWidth * done / max(b.total, 1)
	text := fmt.Sprintf("[%s%s] %d of %d messages settled, %s", strings.Repeat("#", filled), strings.Repeat(".", barWidth-filled), done, b.total, note)
	switch {
	case terminal(b.out):
		fmt.Fprintf(b.out, "\r\033[K%s", text)
	case done == b.total || time.Since(b.last) > barEvery:
		b.last = time.Now()
		fmt.Fprintln(b.out, text)
	}
}

func (b *bar) end() {
	if terminal(b.out) {
		fmt.Fprintln(b.out)
	}
}

func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
