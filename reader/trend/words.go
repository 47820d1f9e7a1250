package trend

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/reader/typeset"
)

// Says tells a change in a sentence.
func (c *Change) Says() string {
	verb := "rose"
	if c.Change < 0 {
		verb = "fell"
	}
	size := fmt.Sprintf("%s %% (95 %%: %s to %s)", percent(math.Abs(c.Change)), percent(smaller(c.Lo, c.Hi)), percent(larger(c.Lo, c.Hi)))
	if c.Metric == names[Errors] || c.Metric == names[Wrong] {
		size = fmt.Sprintf("from %s %% to %s %%", percent(c.Before), percent(c.After))
	}
	text := fmt.Sprintf("%s of %s %s %s on %s UTC, %s sure", words[c.Metric], c.Target, verb, size, c.At.UTC().Format("2 Jan 15:04"), c.sure())
	switch c.Kind {
	case "":
	case liveKind:
		text += ", by users' requests"
	default:
		text += ", by " + c.Kind + " probes"
	}
	return text
}

// SaysAll tells a change and what is beside it.
func (c *Change) SaysAll() string {
	text := c.Says()
	for _, e := range c.Beside {
		text += "; beside it: " + beside(c, e)
	}
	return text
}

// smaller and larger put the ends of an interval in the order of a size without
// a sign.
func smaller(lo, hi float64) float64 {
	if hi < 0 {
		return -hi
	}
	return lo
}

func larger(lo, hi float64) float64 {
	if hi < 0 {
		return -lo
	}
	return hi
}

var words = map[string]string{names[TTFT]: "TTFT", names[TPOT]: "TPOT", names[Errors]: "The error rate", names[Wrong]: "The share of wrong answers", names[Cost]: "The cost of a request"}

// sure never says more than is known: it is cut off, not rounded.
func (c *Change) sure() string {
	if c.Sure >= 0.999 {
		return "over 99.9 %"
	}
	return fmt.Sprintf("%d %%", int(100*c.Sure))
}

// percent is a share in per cent: one place, and two figures at least.
func percent(share float64) string {
	x := 100 * share
	if x != 0 && math.Abs(x) < 1 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.1f", x)
}

// beside is an event, and how far from the change it was.
func beside(c *Change, e Event) string {
	d := c.At.Sub(e.At).Round(time.Minute)
	if d < 0 {
		return fmt.Sprintf("%s, %v after: %s", e.At.UTC().Format("15:04"), -d, e.Text)
	}
	return fmt.Sprintf("%s, %v before: %s", e.At.UTC().Format("15:04"), d, e.Text)
}

// ChangesSchema names the JSON form of changes.
const ChangesSchema = "tokenmeter.trend/v1"

// WriteChanges writes what was found, and what was looked through, as a text with
// plots, Markdown, CSV or JSON.
func WriteChanges(w io.Writer, form string, changes []Change, looked []Looked) error {
	switch form {
	case "json":
		if changes == nil {
			changes = []Change{}
		}
		if looked == nil {
			looked = []Looked{}
		}
		return typeset.JSON(w, struct {
			Schema  string   `json:"schema"`
			Changes []Change `json:"changes"`
			Looked  []Looked `json:"looked"`
		}{ChangesSchema, changes, looked})
	case "csv", "markdown":
		s := typeset.Sheet{Columns: []string{"target", "probe", "metric", "at", "known", "before", "after", "change", "change_lo", "change_hi", "sure", "beside"}}
		for i := range changes {
			c := &changes[i]
			var near []string
			for _, e := range c.Beside {
				near = append(near, beside(c, e))
			}
			s.Rows = append(s.Rows, []string{c.Target, c.Kind, c.Metric, c.At.UTC().Format(time.RFC3339), c.Known.UTC().Format(time.RFC3339),
				fmt.Sprint(c.Before), fmt.Sprint(c.After), fmt.Sprint(c.Change), fmt.Sprint(c.Lo), fmt.Sprint(c.Hi), fmt.Sprint(c.Sure), strings.Join(near, "; ")})
		}
		return s.Write(w, form)
	}
	var b strings.Builder
	for i := range changes {
		c := &changes[i]
		fmt.Fprintf(&b, "%s\n", c.Says())
		for _, e := range c.Beside {
			fmt.Fprintf(&b, "  beside it: %s\n", beside(c, e))
		}
	}
	for i := range looked {
		looked[i].describe(&b)
	}
	if len(looked) == 0 {
		b.WriteString("There are no requests to look at.\n")
	}
	_, err := io.WriteString(w, printable.Lines(b.String()))
	return err
}

// describe draws the series that changed and says what else was looked at.
func (l *Looked) describe(b *strings.Builder) {
	quiet := 0
	for i := range l.Series {
		s := &l.Series[i]
		if len(s.plot.at) == 0 {
			quiet++
			continue
		}
		fmt.Fprintf(b, "\n%s, %s\n%s", l.Target, s.Name, s.plot.text())
	}
	fmt.Fprintf(b, "\n%s: %.1f days; %d series, %d without a change.", l.Target, l.Days, len(l.Series), quiet)
	if len(l.Short) > 0 {
		fmt.Fprintf(b, " %d too short or too sparse (three days with values throughout are needed).", len(l.Short))
	}
	for i := range l.Series {
		if s := &l.Series[i]; s.DayStep.OK() {
			fmt.Fprintf(b, "\n  %s: a step of %s %% would be told within a day", s.Name, percent(s.DayStep.Or(0)))
		}
	}
	if l.Days > 0 && l.Days < leastWeeks*7 {
		b.WriteString("\n  In less than two weeks a cycle of the week can't be told from a change.")
	}
	b.WriteString("\n")
}
