package proxy

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// shares says how many tokens the client got and how many were made for nobody.
func shares(r *traffic.Request) {
	total, known := r.Record.OutputTokens.Get()
	if r.Unmeasured != "" || !known {
		return
	}
	delivered := total
	if left, gone := r.LeftUS.Get(); gone {
		delivered = 0
		switch by, all := metric.EventsBy(r.Timeline, left); {
		case all > 0 && by == all:
			delivered = total
		case all > 0: // total is a server's word, and may be any number
			delivered = min(int64(float64(total)*float64(by)/float64(all)), total)
		}
	}
	r.Delivered, r.Wasted = timeline.Some(delivered), timeline.Some(total-delivered)
}
