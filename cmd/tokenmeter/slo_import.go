//go:build !lean

package main

import (
	"fmt"
	"io"

	"tokenmeter/base/limitio"
	"tokenmeter/base/printable"
	"tokenmeter/service/slo"
	others "tokenmeter/service/slo/foreign"
)

type sloImportCmd struct {
	File  string `arg:"" help:"Objectives of OpenSLO (openslo/v1), sloth (prometheus/v1) or pyrra."`
	Out   string `placeholder:"FILE" help:"Where to write. Default: stdout."`
	Force bool   `help:"Overwrite the file."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (sloImportCmd) Help() string {
	return `Writes a file of objectives (docs/slo.md) with the targets, windows and budgets of another tool's. What is measured there by PromQL is recognised where it is a share of failed requests by their status, or a histogram of TTFT, TPOT, ITL or the whole latency; what has no counterpart stands in comments, and is told.

Exit codes: 0 done; 2 the file is none of these, or nothing of it can be expressed.`
}

// Run imports.
func (c *sloImportCmd) Run(a *app) error {
	data, err := limitio.File(c.File, 4<<20)
	if err != nil {
		return err
	}
	all, notes, err := others.Read(c.File, data)
	if err != nil {
		return err
	}
	taken := 0
	for i := range all {
		o := &all[i]
		if o.Objective != "" {
			taken++
			continue
		}
		a.warn("%s is left out: %s", o.From, o.Lost[len(o.Lost)-1])
	}
	for _, note := range notes {
		a.note("%s", note)
	}
	if taken == 0 {
		return fmt.Errorf("%s: none of its %d objectives can be expressed", c.File, len(all))
	}
	text := printable.Lines(others.File(c.File, all))
	if _, _, err := slo.Load(c.File+", imported", []byte(text)); err != nil {
		return err
	}
	a.note("%d of %d objectives are taken over; comments say what each lost", taken, len(all))
	return a.put(c.Out, c.Force, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}
