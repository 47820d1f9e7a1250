//go:build !lean

package main

import (
	"fmt"
	"strings"

	"tokenmeter/base/printable"
)

type sloValidateCmd struct {
	Config    string   `short:"c" placeholder:"FILE" help:"Objectives: tokenmeter.yaml, or a file of its own (docs/slo.md)."`
	Objective []string `sep:"none" placeholder:"TEXT" help:"An objective, like \"p99 tpot < 120ms\". Repeatable."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (sloValidateCmd) Help() string {
	return `Says of each objective what it counts, the hash that its counters are known by, and its alerts. Nothing is opened but the file; tokenmeter serve also holds it against the rest of tokenmeter.yaml.

Exit codes: 0 all is right; 2 something is wrong, and each mistake is named with line and column.`
}

// Run validates.
func (c *sloValidateCmd) Run(a *app) error {
	objectives, err := readObjectives(c.Config, c.Objective)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i, o := range objectives {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s (%s)\n  %s\n", o.Name, o.Hash, o.Compiled())
		for _, alert := range o.Alerts {
			fmt.Fprintf(&b, "  %s %s\n", alert.Severity, alert.Name)
		}
		for _, note := range o.Notes {
			fmt.Fprintf(&b, "  Note: %s.\n", note)
		}
	}
	_, err = fmt.Fprint(a.stdout, printable.Lines(b.String()))
	return err
}
