package rules

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"

	"tokenmeter/service/slo"
)

// openSLOCalendars are calendar windows as OpenSLO writes them.
var openSLOCalendars = map[slo.Calendar]string{slo.Day: "1d", slo.Week: "1w", slo.Month: "1M", slo.Quarter: "1Q", slo.Year: "1Y"}

// OpenSLO writes objectives as documents of openslo/v1 over the counters of
// tokenmeter in Prometheus: what is good is counted there already, slices of time
// too, so all budgets are of occurrences. Each source of an objective is a document
// of its own. Alerts are in the rules of Prometheus. It refuses, before anything is
// written, objectives of which two documents would have one name (a NameError).
func OpenSLO(w io.Writer, objectives []*slo.Objective) error {
	var b bytes.Buffer
	of := map[string]string{} // the objective that a document's name is of
	for _, o := range objectives {
		for _, source := range o.Sources {
			name := openSLOName(o, source)
			if other, taken := of[name]; taken {
				return &NameError{name, [2]string{other, o.Name}}
			}
			of[name] = o.Name
			if b.Len() > 0 {
				b.WriteString("---\n")
			}
			openSLO(&b, name, o, source)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// NameError says that documents of two objectives would have one name.
type NameError struct {
	Name string    // of the documents
	Of   [2]string // the objectives
}

func (e *NameError) Error() string {
	return fmt.Sprintf("objectives %q and %q would both be called %q in OpenSLO, where names end with the source if an objective has several; rename one", e.Of[0], e.Of[1], e.Name)
}

// openSLOName is what the document of one source is called: as its objective where there
// is no other source.
func openSLOName(o *slo.Objective, source slo.Source) string {
	if len(o.Sources) > 1 {
		return o.Name + "-" + string(source)
	}
	return o.Name
}

// openSLO writes the document of one source, whose requests have a budget of their own.
func openSLO(b *bytes.Buffer, name string, o *slo.Objective, source slo.Source) {
	fmt.Fprintf(b, "apiVersion: openslo/v1\nkind: SLO\nmetadata:\n  name: %s\nspec:\n  description: %s\n  service: tokenmeter\n  indicator:\n    metadata:\n      name: %[1]s\n    spec:\n      ratioMetric:\n        counter: true\n",
		strconv.Quote(name), strconv.Quote(said(o)))
	for _, part := range []struct{ name, metric string }{{"bad", BadTotal}, {"total", ValidTotal}} {
		fmt.Fprintf(b, "        %s:\n          metricSource:\n            type: Prometheus\n            spec:\n              query: %s\n",
			part.name, strconv.Quote(fmt.Sprintf("sum(%s{hash=%q, source=%q, group=\"\"})", part.metric, o.Hash, string(source))))
	}
	b.WriteString("  timeWindow:\n")
	if o.Window.Rolling > 0 {
		fmt.Fprintf(b, "    - duration: %s\n      isRolling: true\n", openSLODuration(o.Window.Rolling))
	} else {
		fmt.Fprintf(b, "    - duration: %s\n      isRolling: false\n      calendar:\n        startTime: 2024-01-01 00:00:00\n        timeZone: %s\n",
			openSLOCalendars[o.Window.Calendar], strconv.Quote(o.Window.Location.String()))
	}
	fmt.Fprintf(b, "  budgetingMethod: Occurrences\n  objectives:\n    - displayName: %s\n      target: %s\n", strconv.Quote(o.Text), strconv.FormatFloat(o.Target, 'g', 12, 64))
}

// openSLODuration is a duration in one unit, as OpenSLO has them.
func openSLODuration(d time.Duration) string {
	for _, u := range []struct {
		name string
		d    time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}} {
		if d%u.d == 0 {
			return fmt.Sprint(int64(d/u.d)) + u.name
		}
	}
	return fmt.Sprint(int64((d+time.Minute-1)/time.Minute)) + "m"
}
