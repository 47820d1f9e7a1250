package bench

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// Standing is how an objective stands while a run goes on: the requests that
// keep it, of those that it applies to. The result of a run is
// objective.Judge's, which also knows how sure it is.
type Standing struct {
	Text        string
	Target      float64 // the share of good requests that is promised
	Good, Valid int64
}

// Kept reports whether the share of good requests is what was promised; ok is
// false before there is one.
func (s Standing) Kept() (kept, ok bool) {
	return float64(s.Good) >= s.Target*float64(s.Valid), s.Valid > 0
}

// standings counts good requests by objective. Objectives without a share (a
// mean, a throughput) stand nowhere before the end.
type standings struct {
	objectives []objective.Objective
	lists      bool // some need the gaps between tokens
	shown      []int
	counts     []Standing // of the shown
}

func newStandings(all []objective.Objective) *standings {
	s := &standings{objectives: all, lists: objective.NeedLists(all)}
	for i, o := range all {
		if target, ok := o.Target(); ok && o.OfRequests() {
			s.shown = append(s.shown, i)
			s.counts = append(s.counts, Standing{Text: o.Text, Target: target})
		}
	}
	return s
}

// verdicts judges a measured request, outside the recorder's lock.
func (s *standings) verdicts(tl *timeline.Timeline) []objective.Verdict {
	if len(s.shown) == 0 || tl.Phase != timeline.Measure || tl.Unsent() {
		return nil
	}
	var record metric.Record
	if s.lists {
		record = metric.Of(tl)
	} else {
		record = metric.ScalarsOf(tl)
	}
	verdicts := make([]objective.Verdict, len(s.shown))
	for i, at := range s.shown {
		verdicts[i] = objective.CheckAmong(s.objectives, at, &record)
	}
	return verdicts
}

// add counts verdicts, under the recorder's lock.
func (s *standings) add(verdicts []objective.Verdict) {
	for i, v := range verdicts {
		switch v {
		case objective.Good:
			s.counts[i].Good++
			s.counts[i].Valid++
		case objective.Bad:
			s.counts[i].Valid++
		}
	}
}
