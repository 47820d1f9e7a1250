package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"tokenmeter/metric"
	"tokenmeter/validity"
)

type explainCmd struct {
	Name []string `arg:"" optional:"" name:"name" help:"A metric, an outcome, a flag of a record, a check or a warning of a run. Without a name they are all listed."`

	sharedFlags `embed:""`
}

// Run prints definitions.
func (c *explainCmd) Run(a *app) error {
	if len(c.Name) == 0 {
		return listTopics(a.stdout)
	}
	text, err := metric.Explain(strings.Join(c.Name, " "), topics())
	if err != nil {
		return &usageError{err}
	}
	_, err = fmt.Fprintln(a.stdout, strings.TrimRight(text, "\n"))
	return err
}

// topics are all names that can be explained, kind by kind.
func topics() []metric.Topic { return slices.Concat(metric.Topics(), validity.Topics()) }

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
