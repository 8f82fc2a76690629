package board

import (
	"bytes"
	"fmt"
	"os"
)

// Marker stands on a line of its own before and after the table in a Markdown file.
const Marker = "<!-- scoreboard -->\n"

// Into writes the table between the two markers of a file.
func (r Report) Into(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	parts := bytes.Split(content, []byte(Marker))
	if len(parts) != 3 {
		return fmt.Errorf("write the table: %s has %d lines %q, want 2", path, len(parts)-1, Marker[:len(Marker)-1])
	}
	var table bytes.Buffer
	if err := r.Markdown(&table); err != nil {
		return err
	}
	parts[1] = table.Bytes()
	if err := os.WriteFile(path, bytes.Join(parts, []byte(Marker)), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
