package rules

import (
	"testing"

	"tokenmeter/service/slo"

	"pgregory.net/rapid"
)

// sample is what a scrape saw of a run.
type sample struct {
	minute     int
	bad, valid int64
}

// process is a counting process as Prometheus sees it: whatever it counts, it
// shows 0 for hold minutes from its first page on, and its counters begin anew,
// under another run, when it starts.
type process struct {
	now     slo.Counts
	first   int // minute of the first page; -1: none yet
	samples []sample
}

const holdMinutes = 2

func (p *process) scrape(minute int) {
	if p.first < 0 {
		p.first = minute
	}
	s := sample{minute: minute}
	if minute-p.first >= holdMinutes {
		s.bad, s.valid = p.now.Bad(), p.now.Valid
	}
	p.samples = append(p.samples, s)
}

// differ is the rule of a window from counters: the most less the least that each run
// showed in it.
func differ(runs []*process, from, to int) (bad, valid int64) {
	for _, r := range runs {
		var least, most sample
		any := false
		for _, s := range r.samples {
			if s.minute < from || s.minute > to {
				continue
			}
			if !any {
				least, most, any = s, s, true
			}
			least.bad, least.valid = min(least.bad, s.bad), min(least.valid, s.valid)
			most.bad, most.valid = max(most.bad, s.bad), max(most.valid, s.valid)
		}
		bad, valid = bad+most.bad-least.bad, valid+most.valid-least.valid
	}
	return bad, valid
}

// snapshots is the rule of a long window: the most that the snapshots of an hour
// showed less the least of those of a quarter, taken when rules were evaluated.
func snapshots(runs []*process, evaluated []int, from, to int) (bad, valid int64) {
	for _, r := range runs {
		hi, lo := []sample{}, []sample{}
		for _, at := range evaluated {
			if at < from || at > to {
				continue
			}
			for back, list := range map[int]*[]sample{60: &hi, 15: &lo} {
				var all []sample
				for _, s := range r.samples {
					if s.minute >= at-back && s.minute <= at {
						all = append(all, s)
					}
				}
				if len(all) == 0 {
					continue
				}
				end := all[0]
				for _, s := range all {
					if back == 60 {
						end.bad, end.valid = max(end.bad, s.bad), max(end.valid, s.valid)
					} else {
						end.bad, end.valid = min(end.bad, s.bad), min(end.valid, s.valid)
					}
				}
				*list = append(*list, end)
			}
		}
		if len(hi) == 0 || len(lo) == 0 {
			continue
		}
		most, least := hi[0], lo[0]
		for _, s := range hi {
			most.bad, most.valid = max(most.bad, s.bad), max(most.valid, s.valid)
		}
		for _, s := range lo {
			least.bad, least.valid = min(least.bad, s.bad), min(least.valid, s.valid)
		}
		bad, valid = bad+most.bad-least.bad, valid+most.valid-least.valid
	}
	return bad, valid
}

// For any interleaving of requests, restarts, scrapes, evaluations and gaps in
// them, what the rules sum up is never negative, never more bad than valid, and
// never above the truth; where every scrape comes and nothing ends unread it is
// the truth. The promtool tests of testdata/faults.yaml tie this model to the
// rules.
func TestSumsAreNeverAboveTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minutes := rapid.IntRange(1, 120).Draw(t, "minutes")
		lossy := rapid.Bool().Draw(t, "lossy")
		p := &process{first: -1}
		runs := []*process{p}
		var truth slo.Counts
		truths := make([]slo.Counts, minutes+1)
		var evaluated []int
		for m := range minutes {
			n := rapid.Int64Range(0, 5).Draw(t, "valid")
			c := slo.Counts{Valid: n, Good: n - rapid.Int64Range(0, n).Draw(t, "bad")}
			p.now, truth = p.now.Plus(c), truth.Plus(c)
			if !lossy || rapid.IntRange(0, 3).Draw(t, "scrape") > 0 {
				p.scrape(m)
			}
			if rapid.IntRange(0, 2).Draw(t, "evaluate") == 0 || m == minutes-1 {
				evaluated = append(evaluated, m)
			}
			if lossy && rapid.IntRange(0, 15).Draw(t, "restart") == 0 {
				p = &process{first: -1}
				runs = append(runs, p)
			}
			truths[m+1] = truth
		}
		from := rapid.IntRange(0, minutes-1).Draw(t, "from")
		for name, sums := range map[string]func(from int) (bad, valid int64){
			"counters":  func(from int) (int64, int64) { return differ(runs, from, minutes-1) },
			"snapshots": func(from int) (int64, int64) { return snapshots(runs, evaluated, from, minutes-1) },
		} {
			bad, valid := sums(0)
			if bad < 0 || bad > valid || bad > truth.Bad() || valid > truth.Valid {
				t.Fatalf("%s: %d bad of %d, it were %d of %d", name, bad, valid, truth.Bad(), truth.Valid)
			}
			if !lossy && minutes > holdMinutes && name == "counters" && (bad != truth.Bad() || valid != truth.Valid) {
				t.Fatalf("%s: %d bad of %d, it were %d of %d though nothing was missed", name, bad, valid, truth.Bad(), truth.Valid)
			}
			// A window that begins later: at most what a hold has kept back, and what
			// snapshots look back further, is in it besides its own.
			if bad, valid = sums(from); bad < 0 || bad > valid || bad > truth.Bad() || valid > truth.Valid {
				t.Fatalf("%s from %d: %d bad of %d", name, from, bad, valid)
			}
		}
	})
}
