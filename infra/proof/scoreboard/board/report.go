package board

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/singleeffect/once/infra/proof/scoreboard/powertools"
)

// Row is a case and how each side did.
type Row struct {
	Case       Case
	Once       Score
	Powertools Score
	Naive      Score
}

// Report is the scoreboard.
type Report struct {
	Rows []Row
	// Others are the peer's scores with other settings, in the order of Others.
	Others []Score
}

// Err says where ours is wrong.
func (r Report) Err() error {
	var wrong []string
	for _, row := range r.Rows {
		if row.Once.Wrong {
			wrong = append(wrong, row.Case.Name)
		}
	}
	if wrong != nil {
		return fmt.Errorf("once is wrong in %s", strings.Join(wrong, ", "))
	}
	return nil
}

// JSON writes one line. Readers rely on its names.
func (r Report) JSON(w io.Writer) error {
	type line struct {
		Case       string `json:"case"`
		Once       Score  `json:"once"`
		Powertools Score  `json:"powertools_ts"`
		Naive      Score  `json:"naive"`
	}
	lines := []line{}
	for _, row := range r.Rows {
		lines = append(lines, line{row.Case.Name, row.Once, row.Powertools, row.Naive})
	}
	return json.NewEncoder(w).Encode(map[string][]line{"scoreboard": lines})
}

// Markdown writes the table.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "| case | what happens | right | Once | Powertools for TypeScript %s | conditional put |\n|---|---|---|---|---|---|\n", powertools.Version)
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", title(row.Case.Name), row.Case.Story, row.Case.Right, row.Once, r.peer(row), row.Naive)
	}
	b.WriteString("\n† a message was never acknowledged: it ends in the dead-letter queue.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// peer is the peer's cell. Where another setting mends the case its score stands beside: a footnote would be read by few.
func (r Report) peer(row Row) string {
	cell := row.Powertools.String()
	for i, other := range Others {
		if other.Case == row.Case.Name {
			cell += fmt.Sprintf("; with %s: %s", other.Says, r.Others[i])
		}
	}
	return cell
}

func title(name string) string { return strings.ReplaceAll(name, "_", " ") }

// String is the score as a cell of the table: the effects, the verdict, and a mark if a message was never acknowledged.
func (s Score) String() string {
	text := fmt.Sprintf("%d ✓", s.Effects)
	if s.Wrong {
		text = fmt.Sprintf("**%d ✗**", s.Effects)
	}
	if s.unheard > 0 {
		text += " †"
	}
	return text
}
