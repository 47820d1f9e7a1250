//go:build !lean

package main

import (
	"slices"

	"tokenmeter/physics/published"
	"tokenmeter/record/metric"
)

// referenceTopics are what the field has published, and claims about serving
// that the simulator tries.
func referenceTopics() (all []metric.Topic) {
	for _, t := range published.Tables() {
		text := t.Title + "\n\n" + t.Text() + "\n" + published.SourceTable(t).Text()
		all = append(all, metric.Topic{Name: t.Name, Kind: "reference data", Title: t.Title, Text: text})
	}
	for _, c := range slices.Concat(published.Misconceptions, published.Techniques) {
		all = append(all, metric.Topic{Name: c.Name, Kind: "claims", Title: c.Said, Text: c.Text()})
	}
	return all
}
