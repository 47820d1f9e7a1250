package report

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// tiles are the three or four numbers under the verdict: what somebody waits for,
// what the server does, and how much of it is good.
func tiles(r *run.Run, v *view.View) []tile {
	var list []tile
	for _, row := range v.Rows {
		tail := 1 // the percentile of it
		if row.Key == "tpot_ms" {
			tail = 2
		}
		if slices.ContainsFunc(ofRun(r).latencies, func(f sweepFigure) bool { return f.key == row.Key }) {
			list = append(list, latencyTile(v, row, tail))
		}
	}
	return append(list, serverTile(r), goodTile(r))
}

// latencyTile has the median large and one percentile of the tail under it.
func latencyTile(v *view.View, row view.Row, tail int) tile {
	t := tile{Label: row.Name, Value: row.Cells[0].Value, Unit: row.Unit + " p50", Link: "#def-" + row.Key}
	if row.Cells[0].Value == typeset.Missing {
		t.Unit, t.Sub = "", "not measured"
		return t
	}
	c := row.Cells[tail]
	t.Sub = fmt.Sprintf("%s %s %s", view.Percentiles[view.Shown[tail]].Name, c.Value, row.Unit)
	if extra := c.Extra(); extra != "" {
		t.Sub += " " + extra
	}
	for _, o := range v.Objectives {
		if o.Metric != strings.TrimSuffix(row.Key, "_ms") {
			continue
		}
		if class, sign := stateOf(o.State); t.State != "bad" {
			t.State, t.Sign = class, sign+" "+o.State
		}
	}
	return t
}

func serverTile(r *run.Run) tile {
	rate, name, unit := served(r)
	t := tile{Label: "Server", Value: typeset.Missing, Link: "#def-" + name}
	if v, ok := rate.Get(); ok {
		t.Value, t.Unit = typeset.Rate(v), unit
	}
	if v, ok := r.Throughput.RequestsPerS.Get(); ok {
		t.Sub = typeset.Rate(v) + " requests/s"
	}
	return t
}

// goodTile is goodput where there are objectives, else what succeeded.
func goodTile(r *run.Run) tile {
	counted, told := r.Requests.Ended().Get()
	failed := fmt.Sprintf("%s failed of %s", typeset.Exact(r.Requests.Failed), typeset.Exact(counted))
	if !told {
		failed = "how many failed is not known"
	}
	if g := r.Goodput; g != nil {
		t := tile{Label: "Goodput", Value: typeset.Missing, Sub: failed, Link: "#def-goodput.fraction"}
		if share, ok := g.Fraction.Get(); ok {
			t.Value = typeset.Percent(share)
			t.Unit = strings.TrimPrefix(typeset.ShareInterval(g.FractionCI95), " ")
		}
		return t
	}
	t := tile{Label: "Succeeded", Value: typeset.Missing, Sub: failed, Link: "#errors"}
	if counted > 0 {
		t.Value = typeset.Percent(float64(r.Requests.OK) / float64(counted))
	}
	return t
}
