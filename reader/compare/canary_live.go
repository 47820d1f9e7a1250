package compare

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// AddTimeline takes a request that has ended, as [Canary.Add] does.
func (c *Canary) AddTimeline(side int, tl *timeline.Timeline) {
	if !tl.Phase.Counts() {
		return
	}
	r := metric.ScalarsOf(tl)
	c.Add(side, &r)
}
