package telemetry

import (
	"slices"
	"strconv"

	"tokenmeter/record/objective"
	"tokenmeter/service/traffic"
)

// State hands out what is not read off finished requests: the values of all
// metrics that are not OfRequests, and those of ObjectiveCount. values are
// those of the metric's Labels.
type State func(emit func(m *Metric, v float64, values ...string))

// SLO is what an objective of single requests is called and has counted.
type SLO struct {
	Name    string // label slo; the rules go by Hash
	Hash    string
	Text    string
	Target  float64  // 0: it promises no share
	Window  string   // of its budget, like 28d or month; empty: it has none
	Sources []string // whose requests are counted, whether any came or not
	Run     string   // names the life of the counters: they begin at zero with it
	Counts  []SLOCount
}

// SLOCount is the counts of one source and group, taken at one moment.
type SLOCount struct {
	Source traffic.Source
	Group  string // empty without groups
	traffic.Counts
}

// Emit hands the counts out as metrics.
func (s *SLO) Emit(emit func(m *Metric, v float64, values ...string)) {
	target := ""
	if s.Target > 0 {
		emit(SLOTarget, s.Target, s.Name, s.Hash, s.Text)
		target = strconv.FormatFloat(s.Target, 'g', -1, 64)
	}
	for _, source := range s.Sources {
		emit(SLOInfo, 1, s.Name, s.Hash, source, s.Text, target, s.Window)
	}
	for _, c := range s.Counts {
		labels := []string{s.Name, s.Hash, string(c.Source), c.Group, s.Run}
		emit(SLOBad, float64(c.Valid-c.Good), labels...)
		emit(SLOValid, float64(c.Valid), labels...)
		emit(SLOGood, float64(c.Good), labels...)
		emit(SLOExcluded, float64(c.Excluded), labels...)
	}
}

// OfCounters are the objectives of live counters. They have no names and are
// called by their hash, as the rules know them too.
func OfCounters(counters *traffic.Counters, objectives []objective.Objective) []SLO {
	counts := counters.Snapshot()
	var all []SLO
	for i := range objectives {
		o := &objectives[i]
		s := SLO{Name: traffic.Key(o), Hash: traffic.Key(o), Text: o.Text, Run: counters.Run()}
		if !o.OfRequests() || slices.ContainsFunc(all, func(a SLO) bool { return a.Hash == s.Hash }) {
			continue
		}
		s.Target, _ = o.Target()
		for _, source := range []traffic.Source{traffic.Live, traffic.Probe} {
			sum := SLOCount{Source: source}
			any := source == traffic.Live // shown from the start, so that the first request is seen as growth
			for _, c := range counts {
				if c.Key == s.Hash && c.Labels.Source == source {
					any = true
					sum.Counts = sum.Plus(c.Counts)
				}
			}
			if any {
				s.Sources = append(s.Sources, string(source))
				s.Counts = append(s.Counts, sum)
			}
		}
		all = append(all, s)
	}
	return all
}

// EmitCounters hands out live counters in full: by objective and labels.
func EmitCounters(counters *traffic.Counters, limit *Limit, emit func(m *Metric, v float64, values ...string)) {
	type series struct {
		text, hash string
		set        Set
	}
	sums := map[series][3]int64{}
	var order []series
	for _, c := range counters.Snapshot() {
		at := series{c.Text, c.Key, limit.Set(c.Labels)}
		sum, known := sums[at]
		if !known {
			order = append(order, at)
		}
		sums[at] = [3]int64{sum[0] + c.Good, sum[1] + c.Bad(), sum[2] + c.Excluded}
	}
	for _, at := range order {
		for i, verdict := range []string{"good", "bad", "excluded"} {
			emit(ObjectiveCount, float64(sums[at][i]), append(at.set[:len(at.set):len(at.set)], at.text, at.hash, verdict)...)
		}
	}
}
