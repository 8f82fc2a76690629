package board

import (
	"bytes"

	"github.com/singleeffect/once/infra/proof/scoreboard/readme"
)

// Marker stands on a line of its own before and after the table in a Markdown file.
const Marker = "<!-- scoreboard -->\n"

// Into writes the table between the two markers of a file.
func (r Report) Into(path string) error {
	var table bytes.Buffer
	if err := r.Markdown(&table); err != nil {
		return err
	}
	return readme.Into(path, Marker, table.Bytes())
}
