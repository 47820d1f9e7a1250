package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"tokenmeter/metric"
)

type explainCmd struct {
	Name []string `arg:"" optional:"" name:"metric" help:"A metric, a flag or an outcome class. Without a name they are all listed."`
}

// Run prints definitions.
func (c *explainCmd) Run(a *app) error {
	if len(c.Name) == 0 {
		return listDefinitions(a.stdout)
	}
	text, err := metric.Explain(strings.Join(c.Name, " "))
	if err != nil {
		return &usageError{err}
	}
	_, err = fmt.Fprintln(a.stdout, strings.TrimRight(text, "\n"))
	return err
}

func listDefinitions(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range metric.Catalogue {
		fmt.Fprintf(tab, "%s\t%s\n", d.Name, d.Title)
	}
	return tab.Flush()
}

func definitionNames() []string {
	var names []string
	for _, d := range metric.Catalogue {
		names = append(names, d.Name)
	}
	return names
}
