package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// newTold is a run of which another tool told figures and no request: they stand
// beside those of other runs, and nothing of them can be tested.
func newTold(m *run.Run) *Run {
	r := &Run{Facts: factsOf(m), summary: m.Summary, told: m.Told}
	f := &r.Facts
	f.Requests = Counts{Total: m.Requests.Total, OK: m.Requests.OK, Failed: m.Requests.Failed, Untold: m.Requests.Untold}
	f.Evidence, f.Clock = timeline.SummaryOnly, ""
	f.InputTokens, f.OutputTokens = lengthTold(m.Metrics["input_tokens"]), lengthTold(m.Metrics["output_tokens"])
	return r
}

func lengthTold(d metric.Dist) Length { return Length{Mean: d.Mean, P90: d.P90} }

// toldStats are the statistics that other tools tell, and ours have too.
var toldStats = []string{statMean, "p50", "p90", "p95", "p99", "p99.9", statRate, statShare}

// figure is one that was told, and of how many values it is; 0: that was not told.
func (r *Run) figure(m *measure, name string) (v opt, n int64) {
	switch {
	case m.key == "system_output_tps" && name == statRate:
		return r.told.Throughput.SystemOutputTPS, r.Facts.Requests.OK
	case m.key == "success_output_tps" && name == statRate:
		return r.told.Throughput.SuccessOutputTPS, r.Facts.Requests.OK
	case m.key == "requests_per_s" && name == statRate:
		return r.told.Throughput.RequestsPerS, r.Facts.Requests.OK
	case m.key == "error_rate" && name == statShare:
		return r.summary.Requests.ErrorRate(), r.summary.Requests.Ended().Or(0)
	}
	d, ok := r.told.Metrics[m.key]
	if !ok {
		return opt{}, 0
	}
	v, _ = d.Stat(strings.Replace(name, ".", "", 1))
	return v, d.N
}

func isTold(r *Run) bool { return r.told != nil }

// hasTold reports whether figures of a side are another tool's.
func (p *pairing) hasTold() bool {
	return slices.ContainsFunc(p.a, isTold) || slices.ContainsFunc(p.b, isTold)
}

// shared are the statistics of a measure that both sides have.
func (p *pairing) shared(m *measure) (list []string) {
	for _, name := range toldStats {
		a, _ := figureOf(p.a, m, name)
		b, _ := figureOf(p.b, m, name)
		if a.OK() && b.OK() {
			list = append(list, name)
		}
	}
	return list
}

// findTold puts two figures beside each other of which one was told, or both; nil when
// neither side has it. There is no test: nothing says how a told figure would vary.
func (p *pairing) findTold(m *measure, name string) *finding {
	f := &finding{unit: BySummary, runs: [2]int{len(p.a), len(p.b)}}
	f.a, f.na = figureOf(p.a, m, name)
	f.b, f.nb = figureOf(p.b, m, name)
	if !f.a.OK() && !f.b.OK() {
		return nil
	}
	of := "the candidate"
	if slices.ContainsFunc(p.a, isTold) {
		of = "the baseline"
		if slices.ContainsFunc(p.b, isTold) {
			of = "both sides"
		}
	}
	f.why = cmp.Or(p.untestable(m, f.a.OK(), f.b.OK(), "does not tell"),
		fmt.Sprintf("only the summary is known of %s, so there is no interval", of))
	return f
}

// leftOutTold names the figures that only one side has; empty: there are none.
func (p *pairing) leftOutTold(measures []*measure) string {
	var only []string
	for _, m := range measures {
		has := func(runs []*Run) bool {
			return slices.ContainsFunc(toldStats, func(name string) bool {
				v, _ := figureOf(runs, m, name)
				return v.OK()
			})
		}
		if has(p.a) != has(p.b) {
			only = append(only, m.title)
		}
	}
	return strings.Join(only, ", ")
}

// severalTold warns where nothing says what told figures of several runs would be
// together.
func (p *pairing) severalTold() []Reason {
	for _, side := range [][]*Run{p.a, p.b} {
		if len(side) > 1 && slices.ContainsFunc(side, isTold) {
			return []Reason{{Name: "several_summaries", Level: Warn,
				Says: "a side has several runs, and only the summary is known of some: nothing says what their figures would be together; give each a side of its own"}}
		}
	}
	return nil
}

// Keepable is an error where later runs can't be tested against a side.
func Keepable(g Group) error {
	for _, r := range g.Runs {
		if isTold(r) {
			return fmt.Errorf("%s has another tool's figures of a whole run and no request: no later run could be tested against it; import the tool's file of requests", NameOf(&r.Facts))
		}
	}
	return nil
}
