package main

import (
	"errors"

	"tokenmeter/reader/report"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// groups shows requests put together by session, turn, agent, depth of context, task
// or model.
func (c *reportCmd) groups(a *app, f *run.Folder) error {
	g, err := metric.NewGrouped(c.By)
	if err != nil {
		return err
	}
	for tl, err := range f.Timelines() {
		if err != nil {
			return err
		}
		g.Add(tl)
	}
	rows := g.Rows()
	if len(rows) == 0 {
		return errors.New("--by: no measured request of the run is part of a conversation, a task or a session; --by model takes all")
	}
	switch c.Format {
	case "json":
		return report.GroupsJSON(a.stdout, c.By, rows)
	case "csv":
		return report.GroupsCSV(a.stdout, c.By, rows)
	case "markdown":
		return report.GroupsMarkdown(a.stdout, c.By, rows)
	}
	return report.GroupsTerminal(a.stdout, c.By, rows)
}
