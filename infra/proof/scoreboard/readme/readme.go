// Package readme writes into a Markdown file what a command found.
package readme

import (
	"bytes"
	"fmt"
	"os"
)

// Into writes content between two lines in a file that are both the marker, a whole line.
func Into(path, marker string, content []byte) error {
	whole, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	parts := bytes.Split(whole, []byte(marker))
	if len(parts) != 3 {
		return fmt.Errorf("write the table: %s has %d lines %q, want 2", path, len(parts)-1, marker[:len(marker)-1])
	}
	parts[1] = content
	if err := os.WriteFile(path, bytes.Join(parts, []byte(marker)), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
