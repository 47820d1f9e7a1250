package bench

import (
	"errors"

	"tokenmeter/record/timeline"
)

// Ended is a measured request that has ended, as Plan.Each sees it.
type Ended struct {
	Index    int64              // place in the order of sending, from 0, of the measured requests
	DueUS    int64              // since measuring began
	Timeline *timeline.Timeline // must be neither changed nor kept
}

// errEnough ends a run whose caller has seen enough; it is no failure.
var errEnough = errors.New("enough was seen")

// shown shows a measured request to the caller, one at a time. Those that the
// end of the run cuts off are shown too, but not after the caller said stop.
func (r *recorder) shown(ph *phase, tl *timeline.Timeline) error {
	if r.each == nil || tl.Phase != timeline.Measure {
		return nil
	}
	r.eachMu.Lock()
	defer r.eachMu.Unlock()
	if r.eachOver {
		return nil
	}
	if r.each(Ended{Index: tl.Request - ph.first, DueUS: tl.DueUS - ph.baseUS, Timeline: tl}) {
		return nil
	}
	r.eachOver = true
	return errEnough
}
