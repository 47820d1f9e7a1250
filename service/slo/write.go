package slo

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/record/timeline"
)

// WriteJSON writes a report as JSON, schema tokenmeter.slo/v1.
func WriteJSON(w io.Writer, d Document) error {
	if d.Objectives == nil {
		d.Objectives = []Result{}
	}
	return printable.EncodeJSON(w, "  ", d)
}

// row is a result in the columns of a table.
func (r *Result) row() []string {
	share := func(v opt) string {
		if x, ok := v.Get(); ok {
			return AtMost(x)
		}
		return "–"
	}
	burn := "–"
	if x, ok := r.Burn["1h"].Get(); ok {
		burn = number(x)
	}
	lasts := "–"
	if s, ok := r.ExhaustionS.Get(); ok {
		lasts = about(seconds(s))
		if s == 0 {
			lasts = "already"
		}
	}
	return []string{r.title(), string(r.Source), thousands(r.Good), thousands(r.Valid), share(r.SLI), percent(r.Target), share(r.BudgetRemaining), burn, lasts, string(r.State)}
}

var columns = []string{"objective", "source", "good", "valid", "share", "target", "budget left", "burn 1h", "spent in", "state"}

func (r *Result) title() string {
	if r.Group != "" {
		return r.Name + " (" + r.Group + ")"
	}
	return r.Name
}

// WriteTable writes a report for people: a headline, a table, and below it what each
// objective counts and says.
func WriteTable(w io.Writer, d Document) {
	if head := d.Headline(); head != "" {
		fmt.Fprintf(w, "%s\n\n", head)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, r := range d.Objectives {
		fmt.Fprintln(t, strings.Join(r.row(), "\t"))
	}
	t.Flush()
	for _, r := range d.Objectives {
		fmt.Fprintf(w, "\n%s, %s: %s\n  %s\n", r.title(), r.Source, r.Compiled, r.Says)
		for _, line := range r.details() {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
}

// details are the alerts that fire, and what is to be known beside.
func (r *Result) details() []string {
	lines := r.firing()
	if r.Since != nil {
		lines = append(lines, fmt.Sprintf("Counted since %s: new, or its limit was changed; the budget is of that time.", r.Since.Format(time.RFC3339)))
	}
	for i := range r.Percentiles {
		lines = append(lines, r.Percentiles[i].says())
	}
	if !r.Corrected.IsZero() {
		lines = append(lines, fmt.Sprintf("Left out by corrections: %s, %s of them bad.", thousands(r.Corrected.Valid), thousands(r.Corrected.Bad())))
	}
	if x, ok := r.Watched.Get(); ok && x < 1 {
		lines = append(lines, "Watched for "+AtMost(x)+" of the window.")
	}
	for _, note := range r.Notes {
		lines = append(lines, "Note: "+note+".")
	}
	return lines
}

// firing has a line for each alert that fires, and one for all whose windows hold the
// same events, as those of a run that is shorter than the shortest of them do.
func (r *Result) firing() (lines []string) {
	var alike []string
	var burn opt
	for _, a := range r.Alerts {
		if a.Firing && a.BurnLong.OK() && a.BurnLong == a.BurnShort && (!burn.OK() || burn == a.BurnLong) {
			burn = a.BurnLong
			alike = append(alike, fmt.Sprintf("%s %s (limit %s)", strings.ToUpper(string(a.Severity)), a.Name, hundredths(a.Factor.Or(0))))
		}
	}
	said := len(alike) > 1
	if said {
		lines = append(lines, fmt.Sprintf("%s: all that was counted lies within the shortest of their windows, and burns the budget %s times as fast as allowed.",
			strings.Join(alike, ", "), number(burn.Or(0))))
	}
	for _, a := range r.Alerts {
		if a.Firing && !(said && a.BurnLong == burn && a.BurnShort == burn) {
			lines = append(lines, strings.ToUpper(string(a.Severity))+" "+a.Name+": "+a.Says)
		}
	}
	return lines
}

// WriteMarkdown writes a report as Markdown.
func WriteMarkdown(w io.Writer, d Document) error {
	escape := strings.NewReplacer("|", `\|`, "<", `\<`, "\n", " ")
	var b strings.Builder
	if head := d.Headline(); head != "" {
		fmt.Fprintf(&b, "%s\n\n", escape.Replace(head))
	}
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, r := range d.Objectives {
		cells := r.row()
		for i := range cells {
			cells[i] = escape.Replace(cells[i])
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	for _, r := range d.Objectives {
		fmt.Fprintf(&b, "\n**%s** (%s): %s. %s\n", escape.Replace(r.title()), r.Source, escape.Replace(r.Compiled), escape.Replace(r.Says))
		for _, line := range r.details() {
			fmt.Fprintf(&b, "- %s\n", escape.Replace(line))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteCSV writes a line for each objective, source and group.
func WriteCSV(w io.Writer, d Document) error {
	c := csv.NewWriter(w)
	c.Write([]string{"name", "group", "source", "window", "from", "to", "good", "valid", "excluded", "sli", "target", "budget_remaining", "burn_5m", "burn_1h", "exhaustion_s", "state"})
	text := func(v opt) string {
		if x, ok := v.Get(); ok {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
		return ""
	}
	for _, r := range d.Objectives {
		c.Write([]string{printable.Cell(r.Name), printable.Cell(r.Group), string(r.Source), r.Window, r.From.UTC().Format(time.RFC3339), r.To.UTC().Format(time.RFC3339),
			strconv.FormatInt(r.Good, 10), strconv.FormatInt(r.Valid, 10), strconv.FormatInt(r.Excluded, 10), text(r.SLI), text(timeline.Some(r.Target)),
			text(r.BudgetRemaining), text(r.Burn["5m"]), text(r.Burn["1h"]), text(r.ExhaustionS), string(r.State)})
	}
	c.Flush()
	return c.Error()
}
