//go:build !lean

package main

import (
	"io"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/reader/report"
	"tokenmeter/record/objective"
	"tokenmeter/service/slo"
)

type sloCmd struct {
	Check    sloCheckCmd    `cmd:"" help:"Hold objectives against runs or live data; exit code 1 when one is missed or a budget is too small."`
	Report   sloReportCmd   `cmd:"" help:"Show budgets, burn rates and alerts. The exit code says nothing about them."`
	Validate sloValidateCmd `cmd:"" help:"Read objectives and say what each one counts; exit code 2 when something is wrong."`
	Import   sloImportCmd   `cmd:"" help:"Make a file of objectives of another tool's: OpenSLO, sloth, pyrra."`
	Rules    sloRulesCmd    `cmd:"" help:"Write Prometheus rules, their promtool tests, or Datadog SLOs and monitors."`
}

type sloReportCmd struct{ sloSource }

// Run reports.
func (c *sloReportCmd) Run(a *app) error {
	results, err := c.evaluate(a, false)
	if err != nil {
		return err
	}
	_, _, err = c.shown(a, results)
	return err
}

// shown writes the result, and says which runs can't vouch for it.
func (c *sloSource) shown(a *app, results slo.Document) (t sloTrust, objectives []*slo.Objective, err error) {
	if t, err = c.trust(); err != nil {
		return t, nil, err
	}
	if objectives, err = readObjectives(c.Config, c.Objective); err != nil {
		return t, nil, err
	}
	t.warn(a, objectives) // before the figures that it is about
	if c.Format != "" && c.Format != "table" {
		t.note(results.Objectives, objectives)
	}
	if err = writeSLO(a.stdout, c.Format, results); err == nil && (c.Format == "" || c.Format == "table") {
		err = c.whyMissed(a, results, objectives)
	}
	return t, objectives, err
}

// whyMissed says of each run which requests missed the objectives that it did not keep,
// what failed, and where to look next.
func (c *sloSource) whyMissed(a *app, results slo.Document, objectives []*slo.Objective) error {
	missed := map[string]bool{}
	for _, r := range results.Objectives {
		if r.Met != nil && !*r.Met {
			missed[r.Name] = true
		}
	}
	var promises []objective.Objective
	for _, o := range objectives {
		if missed[o.Name] {
			promises = append(promises, o.Promises...)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	s := a.screen(a.stdout, c.NoColor)
	return report.Reasons(a.stdout, c.Runs, func(dir string) []string {
		beyond, failed := why(dir, timed(promises))
		return append(beyond, failed, oneByOne(dir))
	},
		report.Options{Width: s.width, Color: s.color, ASCII: s.ascii})
}

// writeSLO writes a report.
func writeSLO(w io.Writer, format string, doc slo.Document) error {
	switch format {
	case "json":
		return slo.WriteJSON(w, doc)
	case "csv":
		return slo.WriteCSV(w, doc)
	case "markdown":
		return slo.WriteMarkdown(w, doc)
	}
	var b strings.Builder
	slo.WriteTable(&b, doc)
	_, err := io.WriteString(w, printable.Lines(b.String()))
	return err
}
