// Package report shows a run to people: on a terminal, as Markdown, as CSV and
// as one self-contained HTML file. Every form is made from the same view of
// run.json, so that no two of them can show different figures.
package report

import (
	"encoding/json"
	"io"

	"tokenmeter/record/run"
)

// Options say how and where a terminal report is shown. The zero value is
// 80 columns, no colour, all glyphs, nothing saved.
type Options struct {
	Width int      // columns; 0: 80
	Whole bool     // no screen bounds a table: nothing of a method's is cut
	Color bool     // ANSI 16 colours that repeat what signs and words already say
	ASCII bool     // only ASCII bytes, for consoles that cannot show more
	Dir   string   // the run folder, for the line that says where it is; empty: the run's own
	Why   []string // which requests missed the objectives or broke the gates, a line each
	Link  string   // where a terminal link (OSC 8) of the folder leads: its absolute path; empty: no link
}

// JSON writes run.json as it is in the folder.
func JSON(w io.Writer, r *run.Run) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
