package metric

import (
	"maps"

	"tokenmeter/record/timeline"
)

// NewRequests counts no request yet.
func NewRequests() Requests {
	return Requests{
		ByClass: map[timeline.Outcome]int64{}, Excluded: map[string]int64{},
		TokenSources: map[string]int64{}, Flags: map[string]int64{}, ITLLeftOut: map[string]int64{},
		Clocks: map[timeline.Clock]int64{}, ServiceTiers: map[string]int64{}, ServedModels: map[string]int64{}, Unread: map[string]int64{},
	}
}

// Count counts a request by its end; false for one that is not measured.
func (r *Requests) Count(tl *timeline.Timeline) (measured bool) {
	if !tl.Phase.Counts() {
		switch {
		case tl.Unsent():
		case tl.Phase == timeline.Cooldown:
			r.Cooldown++
		default:
			r.Warmup++
			if tl.Outcome.Failed() && tl.Outcome != timeline.ClientResource || tl.Unanswered() {
				r.WarmupFailed++
			}
		}
		return false
	}
	r.Total++
	if !tl.Unsent() {
		r.Attempts += int64(max(tl.Attempts, 1))
	}
	r.ByClass[tl.Outcome]++
	switch {
	case tl.Outcome == timeline.OK:
		r.OK++
	case tl.Unsent():
		r.Excluded[NeverSent]++
	case tl.Outcome.Cancelled():
		r.Excluded[string(tl.Outcome)]++
		if tl.Unanswered() {
			r.Unanswered++
		}
	default:
		r.Failed++
	}
	return true
}

// Copied stays as it is while r goes on.
func (r *Requests) Copied() Requests {
	out := *r
	out.ByClass, out.Excluded = maps.Clone(r.ByClass), maps.Clone(r.Excluded)
	out.TokenSources, out.Flags = maps.Clone(r.TokenSources), maps.Clone(r.Flags)
	out.Clocks, out.ITLLeftOut, out.ServiceTiers = maps.Clone(r.Clocks), maps.Clone(r.ITLLeftOut), maps.Clone(r.ServiceTiers)
	out.Unread, out.ServedModels = maps.Clone(r.Unread), maps.Clone(r.ServedModels)
	return out
}
