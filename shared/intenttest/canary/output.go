package canary

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// moment is the time of a line, whose digits are nobody's.
var moment = regexp.MustCompile(`"time":"[^"]*"|"Timestamp":[0-9]+`)

// output is what the process writes to its standard output and error, which Lambda logs.
type output struct {
	file *os.File
	read int64
}

// capture keeps the output from its place until the test ends.
func capture(t *testing.T) *output {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = file, file
	t.Cleanup(func() {
		os.Stdout, os.Stderr = stdout, stderr
		file.Close()
	})
	return &output{file: file}
}

// next is what was written since the last time.
func (o *output) next(t testing.TB) string {
	t.Helper()
	text, err := io.ReadAll(io.NewSectionReader(o.file, o.read, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	o.read += int64(len(text))
	return string(text)
}
