package telemetry

import (
	"slices"

	"tokenmeter/record/objective"
)

// Edges are the upper edges of a metric's buckets: its own, and the threshold
// of every objective of its figure. A bucket holds values up to and with its
// edge, so of "<= 120ms" it is the count of those that keep the limit, and of
// "< 120ms" that and whatever is exactly at it.
func (m *Metric) Edges(objectives []objective.Objective) []float64 {
	edges := slices.Clone(m.Buckets)
	if m.Objective != "" {
		for i := range objectives {
			if o := &objectives[i]; o.Metric == m.Objective && o.Limit > 0 {
				edges = append(edges, o.Limit/m.PerUnit)
			}
		}
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}
