package contender

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestZipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bootstrap")
	if err := os.WriteFile(path, bytes.Repeat([]byte("once "), 100_000), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := Zipped(path)
	if err != nil || got < 100 || got > 5_000 {
		t.Errorf("half a megabyte of one word: got %d bytes, %v", got, err)
	}
	if _, err := Zipped(path + "s"); err == nil {
		t.Error("zipped a file that is not there")
	}
}
