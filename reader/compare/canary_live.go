package compare

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// AddTimeline takes a request that has ended, as [Canary.Add] does. When it was due is on
// one clock for both sides: by that, [Canary.End] notices one that fell silent.
func (c *Canary) AddTimeline(side int, tl *timeline.Timeline) {
	if !tl.Phase.Counts() {
		return
	}
	if side == SideA || side == SideB {
		c.ends[side].add(tl)
	}
	r := metric.ScalarsOf(tl)
	c.Add(side, &r)
}
