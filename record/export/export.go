// Package export writes a run in other forms. One file per form, one line in
// the table below.
package export

import (
	"fmt"
	"io"
	"strings"

	"tokenmeter/record/run"
)

// Exporter is one form.
type Exporter struct {
	Name  string // as --as names it
	Says  string // one line for the help
	Write func(w io.Writer, f *run.Folder) error
	// Summary forms are of the run's summary, so they can be written of a run that is
	// known by another tool's figures alone.
	Summary bool
}

// Exporters lists every form, in the order of the help: our own, then those of other
// tools.
var Exporters = append([]Exporter{
	{"jsonl", "one record a line, every figure of a request", writeJSONL, false},
	{"csv", "the same columns for spreadsheets; lists are joined with spaces", writeCSV, false},
	{"parquet", "the same columns and every event, for DuckDB, pandas and the like", writeParquet, false},
}, others...)

// Names lists the forms, for messages.
func Names() string {
	names := make([]string, len(Exporters))
	for i, e := range Exporters {
		names[i] = e.Name
	}
	return strings.Join(names, ", ")
}

// ByName finds a form. The error lists what there is.
func ByName(name string) (Exporter, error) {
	for _, e := range Exporters {
		if e.Name == name {
			return e, nil
		}
	}
	return Exporter{}, fmt.Errorf("unknown form %q: --as takes %s", name, Names())
}
