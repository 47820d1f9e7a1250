package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"tokenmeter/record/metric"
	"tokenmeter/record/validity"
)

type explainCmd struct {
	Name []string `arg:"" optional:"" name:"name" help:"A metric, an outcome, a flag of a record, a check, a verdict or a warning of a run, a table of reference data or a claim about serving; several too. Without a name they are all listed."`

	sharedFlags `embed:""`
}

// Run prints definitions.
func (c *explainCmd) Run(a *app) error {
	if len(c.Name) == 0 {
		var b strings.Builder
		if err := listTopics(&b); err != nil {
			return err
		}
		return a.print(b.String())
	}
	if strings.TrimSpace(strings.Join(c.Name, "")) == "" {
		return errors.New("the name is empty; tokenmeter explain alone lists all names")
	}
	texts, err := explain(c.Name)
	if err != nil {
		return err
	}
	return a.print(strings.Join(texts, "\n\n") + "\n")
}

// explain takes the words for one name, like p99 tpot, else for several.
func explain(words []string) (texts []string, err error) {
	whole, err := metric.Explain(strings.Join(words, " "), topics())
	if err == nil || len(words) == 1 {
		return []string{strings.TrimRight(whole, "\n")}, err
	}
	var errs []error
	for _, word := range words {
		text, err := metric.Explain(word, topics())
		texts, errs = append(texts, strings.TrimRight(text, "\n")), append(errs, err)
	}
	return texts, errors.Join(errs...)
}

// topics are all names that can be explained, kind by kind.
func topics() []metric.Topic {
	return slices.Concat(metric.Topics(), validity.Topics(), verdicts(), referenceTopics())
}

// verdicts are the words that a run is judged with.
func verdicts() (all []metric.Topic) {
	for _, v := range []struct{ name, means, next string }{
		{validity.Valid, "every check of the measurement holds", "rely on the figures"},
		{validity.Suspect, "a check is beyond its first limit", "read the check's line: some figures may be the client's or the network's, not the server's"},
		{validity.Invalid, "a check is beyond its second limit; figures have a ? behind them", "do not rely on the figures; do what the check's line says and measure again (--strict makes the exit code 4)"},
		{validity.Unknown, "run.json is missing or damaged, a file is not as it was written (check files), or the run goes on or was broken off (check end)", "copy the folder again from where it was measured, or let the run end; --strict makes the exit code 4"},
	} {
		text := metric.Paragraph(v.name+" (verdict on a run)", [][2]string{{"means", v.means}, {"next", v.next}})
		all = append(all, metric.Topic{Name: v.name, Kind: "verdicts", Title: v.means, Text: text})
	}
	return all
}

func listTopics(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	kind := ""
	for _, t := range topics() {
		if t.Kind != kind {
			if kind != "" {
				fmt.Fprintln(tab)
			}
			kind = t.Kind
			fmt.Fprintf(tab, "%s\n", strings.ToUpper(kind))
		}
		fmt.Fprintf(tab, "%s\t%s\n", t.Name, t.Title)
	}
	return tab.Flush()
}

func topicNames() []string {
	var names []string
	for _, t := range topics() {
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}
