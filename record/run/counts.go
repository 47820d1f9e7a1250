package run

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// count keeps the few counts that run.json shows while the run goes on.
func count(r *metric.Requests, tl *timeline.Timeline) {
	if r.Count(tl) && r.FirstError == nil && tl.Error != nil && !tl.Outcome.Cancelled() {
		words := tl.Error.Message
		r.FirstError = &words
	}
}
