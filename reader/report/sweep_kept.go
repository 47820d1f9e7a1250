package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// kept is the answer of measured loads: the most that keeps the objectives, and what
// breaks at the next.
func (v *sweepView) kept(f *result.Found) {
	holds, has := f.Holds.Get()
	fails, failed := f.Fails.Get()
	breaks := ""
	if failed {
		breaks = v.breaks(fails)
	}
	switch {
	case has && failed:
		v.says = fmt.Sprintf("%s is the most that keeps %s; at %s %s.", v.load(holds), them(f), v.value(fails), breaks)
	case has && f.Settled:
		v.says = fmt.Sprintf("%s keeps %s; it is the most that was tried.", v.load(holds), them(f))
		v.more = append(v.more, "Sweep further up to find the limit.")
	case has:
		v.says = fmt.Sprintf("%s is the most that is shown to keep %s.", v.load(holds), them(f))
	case failed && v.smallest(fails):
		v.state = "bad"
		v.says = fmt.Sprintf("No load keeps %s: even at %s %s.", them(f), v.load(fails), breaks)
	case failed:
		v.state = "suspect"
		v.says = fmt.Sprintf("No load is shown to keep %s; at %s %s.", them(f), v.load(fails), breaks)
	default:
		v.state = "none"
		v.says = fmt.Sprintf("No load is decided yet for %s.", listed(f))
	}
	if has {
		v.doubtful(holds)
	}
	var open, void []string
	because, asks := "", int64(0)
	for i := range v.s.Points {
		p := &v.s.Points[i]
		if p.State() != objective.Open {
			continue
		}
		list := &open
		if check, is := p.Void(); is {
			list, because = &void, cmp.Or(because, check)
			v.saidInvalid++
		} else {
			asks = max(asks, fewest(p))
		}
		if text := v.value(p.Value); len(*list) == 0 || (*list)[len(*list)-1] != text {
			*list = append(*list, text)
		}
	}
	if len(void) > 0 {
		v.more = append(v.more, fmt.Sprintf("The measurement at %s is invalid (%s) and decides nothing.", listWords(void), because))
	}
	switch {
	case len(open) > 0 && asks > 0:
		v.more = append(v.more, fmt.Sprintf("Not settled at %s: too few requests; about %s at each load would do, if all are good (--requests %d).", listWords(open), typeset.Exact(asks), asks))
	case len(open) > 0:
		v.more = append(v.more, fmt.Sprintf("Not settled at %s: too few requests, more would tell (--requests, --duration).", listWords(open)))
	}
	if s := v.s; s.Knee != nil && s.Peak != nil {
		v.more = append(v.more, fmt.Sprintf("Throughput stops growing at %s [%s, %s]: the server then delivers %s output tok/s.",
			v.load(s.Knee.Value), v.value(s.Knee.Lo), v.value(s.Knee.Hi), v.tps(s.Peak.TPS, s.Peak.CI95)))
	}
}

// doubtful warns where the load that keeps the objectives was measured suspectly for a
// figure that they are on.
func (v *sweepView) doubtful(load float64) {
	for i := range v.s.Points {
		p := &v.s.Points[i]
		if p.Value != load || p.Goodput == nil {
			continue
		}
		for j := range p.Goodput.Objectives {
			for _, m := range p.Goodput.Metrics(&p.Goodput.Objectives[j]) {
				if p.Validity.Of(m) == validity.Suspect {
					v.state = "suspect"
					v.more = append(v.more, fmt.Sprintf("The measurement at %s is suspect (%s).", v.value(load), firstWith(p, validity.Suspect)))
					return
				}
			}
		}
	}
}

// fewest is how many requests at a point would settle its open percentiles if not one
// of them were bad; 0 where it had so many. Of n independent requests that are all good
// the 95 % interval of the bad share ends at 1 − 0.025^(1/n) (Clopper and Pearson), which
// must be what the percentile allows; that many times more where requests are alike.
func fewest(p *result.Point) (asks int64) {
	if p.Goodput == nil {
		return 0
	}
	for _, o := range p.Goodput.Objectives {
		percentile, ok := o.Percentile.Get()
		if !ok || o.State != objective.Open || o.Metric == "itl" || o.N == 0 { // of itl, N counts gaps
			continue
		}
		n := math.Log(0.025) / math.Log(max(percentile, 1-percentile))
		if worth, ok := o.Worth.Get(); ok && worth > 0 {
			n *= max(1, float64(o.N)/worth)
		}
		if n := int64(math.Ceil(n)); n > o.N {
			asks = max(asks, n)
		}
	}
	return asks
}

// them are the objectives in a sentence.
func them(f *result.Found) string {
	switch n := len(f.Objectives); n {
	case 1:
		return f.Objectives[0]
	case 2:
		return "both objectives"
	default:
		return fmt.Sprintf("all %d objectives", n)
	}
}

// listed names the objectives, as long as they are few.
func listed(f *result.Found) string {
	if len(f.Objectives) > 3 {
		return them(f)
	}
	return listWords(f.Objectives)
}

// breaks says what goes wrong at a load: "p95 ttft is 1,560 ms (limit 500ms)".
func (v *sweepView) breaks(load float64) string {
	for i := range v.s.Points {
		p := &v.s.Points[i]
		if p.Value != load || p.State() != objective.Missed {
			continue
		}
		if o := p.FirstMissed(); o != nil {
			return missedWords(o)
		}
		if p.TargetFailed {
			return "the target fails"
		}
	}
	return "it breaks"
}

// missedWords says by how much an objective is missed.
func missedWords(o *objective.ObjectiveResult) string {
	head, bound := o.Text, ""
	if at := strings.IndexAny(o.Text, "<>"); at > 0 {
		head, bound = strings.TrimSpace(o.Text[:at]), strings.Trim(o.Text[at:], "<>= ")
	}
	x, ok := o.Value.Get()
	if !ok {
		return typeset.Clean(fmt.Sprintf("%s is missed, as too many requests fail", head))
	}
	value, _, _ := view.ShowAs(o.Metric)(x, nil, timeline.Some(o.Limit))
	return typeset.Clean(fmt.Sprintf("%s is %s (limit %s)", head, value, bound))
}

// smallest reports whether no smaller load was measured.
func (v *sweepView) smallest(load float64) bool {
	for i := range v.s.Points {
		if v.s.Points[i].Value < load {
			return false
		}
	}
	return true
}

// listWords joins for a sentence; a long list is cut.
func listWords(list []string) string {
	const most = 5
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return typeset.List(list)
}

// SweepPoint is a finished point in one line, for who waits.
func SweepPoint(s *result.Sweep, p *result.Point) string {
	v := &sweepView{s: s}
	parts := []string{}
	add := func(name, key string) {
		d := p.Metrics[key]
		if d.P50.OK() {
			parts = append(parts, fmt.Sprintf("%s p50 %s p95 %s p99 %s ms", name, shownOr(d.P50, typeset.Digits{}.Value), shownOr(d.P95, typeset.Digits{}.Value), shownOr(d.P99, typeset.Digits{}.Value)))
		}
	}
	add("TTFT", "ttft_ms")
	add("TPOT", "tpot_ms")
	if !v.s.Short(p) {
		if tps, ok := p.Throughput.SystemOutputTPS.Get(); ok {
			parts = append(parts, typeset.Rate(tps)+" tok/s")
		}
	}
	if n := p.Requests.Failed; n > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s failed", typeset.Exact(n), typeset.Exact(p.Requests.Total)))
	}
	if p.Goodput != nil {
		switch p.State() {
		case objective.Met:
			parts = append(parts, "✓ keeps the objectives")
		case objective.Missed:
			if o := p.FirstMissed(); o != nil {
				parts = append(parts, "✗ "+missedWords(o))
			}
		default:
			if check, void := p.Void(); void {
				parts = append(parts, "■ invalid by "+check+", so nothing is decided")
			} else {
				parts = append(parts, "… not settled")
			}
		}
	}
	if p.Error != "" {
		parts = append(parts, typeset.Short(typeset.Clean(p.Error), 160))
	}
	return strings.Join(parts, ", ")
}
