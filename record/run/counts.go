package run

import (
	"maps"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

func emptyRequests() metric.Requests {
	return metric.Requests{
		ByClass:      map[timeline.Outcome]int64{},
		Excluded:     map[string]int64{},
		TokenSources: map[string]int64{},
		Flags:        map[string]int64{},
	}
}

// count keeps the few counts that run.json shows while the run goes on.
func count(r *metric.Requests, tl *timeline.Timeline) {
	if !tl.Phase.Counts() {
		if tl.Phase == timeline.Cooldown {
			r.Cooldown++
		} else {
			r.Warmup++
		}
		return
	}
	r.Total++
	r.Attempts += int64(tl.Attempts)
	r.ByClass[tl.Outcome]++
	switch {
	case tl.Outcome == timeline.OK:
		r.OK++
	case tl.Unsent():
		r.Excluded[metric.NeverSent]++
	case tl.Outcome.Cancelled():
		r.Excluded[string(tl.Outcome)]++
		if tl.Unanswered() {
			r.Unanswered++
		}
	default:
		r.Failed++
		if r.FirstError == nil && tl.Error != nil {
			words := tl.Error.Message
			r.FirstError = &words
		}
	}
}

func cloneRequests(r metric.Requests) metric.Requests {
	r.ByClass = maps.Clone(r.ByClass)
	r.Excluded = maps.Clone(r.Excluded)
	r.TokenSources = maps.Clone(r.TokenSources)
	r.Flags = maps.Clone(r.Flags)
	return r
}
