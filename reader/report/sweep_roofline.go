package report

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// rooflineHeads are the columns of a sweep whose hardware was named.
var rooflineHeads = []string{"at most", "MBU", "MFU"}

// hasRoofline reports whether any point was held against its hardware.
func (v *sweepView) hasRoofline() bool {
	return slices.ContainsFunc(v.s.Points, func(p result.Point) bool { return p.Roofline != nil })
}

// rooflineCells are a point's, under rooflineHeads.
func rooflineCells(r *metric.Roofline) []string {
	if r == nil {
		r = &metric.Roofline{}
	}
	return []string{shownOr(r.MostOutputTPS, typeset.Rate), shownOr(r.MBU, typeset.Percent), shownOr(r.MFU, typeset.Percent)}
}

// roofline says what the hardware makes each load wait for, how much of what it allows
// was reached, and what is likely counted wrong where that is more than there is.
func (v *sweepView) roofline(add func(label, text string)) {
	if !v.hasRoofline() {
		return
	}
	loads := map[string][]string{}
	least, most := 0.0, 0.0 // of what the hardware allows
	for i := range v.s.Points {
		p := &v.s.Points[i]
		if p.Roofline == nil {
			continue
		}
		if b, load := p.Roofline.Bound, v.shown(p); b != "" && !slices.Contains(loads[b], load) {
			loads[b] = append(loads[b], load)
		}
		if share, ok := ofRoofline(p); ok && !v.s.Short(p) {
			if least == 0 || share < least {
				least = share
			}
			most = max(most, share)
		}
	}
	var parts []string
	for _, b := range []string{"memory", "arithmetic"} {
		switch {
		case len(loads[b]) > 0 && len(loads) == 1:
			parts = append(parts, "bound by "+b+" at every load")
		case len(loads[b]) > 0:
			parts = append(parts, fmt.Sprintf("bound by %s at %s %s", b, strings.Join(loads[b], ", "), v.variable.unit))
		}
	}
	if most > 0 {
		reached := typeset.Percent(least)
		if to := typeset.Percent(most); to != reached {
			reached += " to " + to
		}
		parts = append(parts, reached+" of the output that it allows")
	}
	add("roofline", strings.TrimSuffix(typeset.Clean(v.s.Hardware)+": "+strings.Join(parts, "; "), ": "))
	for i := range v.s.Points {
		p := &v.s.Points[i]
		if says := p.Roofline.Impossible(); says != "" {
			add("warning", fmt.Sprintf("At %s MBU is %s and MFU %s: %s.", v.load(p.Value), shownOr(p.Roofline.MBU, typeset.Percent), shownOr(p.Roofline.MFU, typeset.Percent), says))
			break // the others have the same cause
		}
	}
}

// ofRoofline is what a point put out of what its hardware allows.
func ofRoofline(p *result.Point) (share float64, ok bool) {
	tps, told := p.Throughput.SystemOutputTPS.Get()
	var most timeline.Opt[float64]
	if p.Roofline != nil {
		most = p.Roofline.MostOutputTPS
	}
	limit, ok := most.Get()
	if !ok || !told || limit <= 0 {
		return 0, false
	}
	return tps / limit, true
}

// roof is the most that the hardware allows at each load, for the chart of throughput;
// where several curves are drawn each would have its own, and there is none.
func (v *sweepView) roof() (line [][2]float64) {
	if len(v.curves()) > 0 {
		return nil
	}
	for i := range v.s.Points {
		p := &v.s.Points[i]
		if p.Roofline == nil || len(line) > 0 && line[len(line)-1][0] == p.Value {
			continue
		}
		if most, ok := p.Roofline.MostOutputTPS.Get(); ok && most > 0 {
			line = append(line, [2]float64{p.Value, most})
		}
	}
	return line
}
