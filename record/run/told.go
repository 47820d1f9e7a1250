package run

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Told is what another tool's file says of a whole run of which it has no request.
// Its figures are that tool's, by its definitions; nothing of them was computed here,
// and nothing can be computed anew.
type Told struct {
	// Total, OK and Failed count measured requests; null where the file does not say.
	Total  timeline.Opt[int64] `json:"total"`
	OK     timeline.Opt[int64] `json:"ok"`
	Failed timeline.Opt[int64] `json:"failed"`
	// Metrics have a distribution's figures by our name of it. N is 0 where the file
	// does not say how many values there were.
	Metrics    map[string]metric.Dist `json:"metrics"`
	Throughput metric.Throughput      `json:"throughput"`
}

// told puts the other tool's figures in the place of those that requests give.
func (r *Run) told() {
	t := r.Told
	r.Warnings = r.Noticed
	q := &r.Requests
	q.OK, q.Failed, q.Total = t.OK.Or(0), t.Failed.Or(0), t.Total.Or(0)
	q.Untold = metric.Untold{Total: !t.Total.OK(), OK: !t.OK.OK(), Failed: !t.Failed.OK()}
	for name, d := range t.Metrics {
		r.Metrics[name] = d
	}
	r.Throughput = t.Throughput
	r.Goodput, r.Cost = nil, nil
	r.Validity.SummaryOnly()
}
