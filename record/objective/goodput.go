package objective

import (
	"encoding/json"

	"tokenmeter/record/timeline"
)

// Goodput is the share and rate of requests that met every objective.
type Goodput struct {
	Objectives   []ObjectiveResult     `json:"objectives"`
	Good         int64                 `json:"good"`
	Bad          int64                 `json:"bad"`
	Excluded     int64                 `json:"excluded"`
	ExcludedBy   map[string]int64      `json:"excluded_by"` // cancelled_run_end, cancelled_user, not_evaluable
	Fraction     timeline.Opt[float64] `json:"fraction"`
	FractionCI95 *[2]float64           `json:"fraction_ci95"`
	RequestsPerS timeline.Opt[float64] `json:"requests_per_s"`
}

// The states of an objective. A criterion has none of its own: "" here, null in
// files.
const (
	Met    = "met"
	Missed = "missed"
	Open   = "open" // the interval holds both sides of the limit
)

// ObjectiveResult is what became of one objective.
type ObjectiveResult struct {
	Text       string                `json:"text"`
	Metric     string                `json:"metric"`
	Percentile timeline.Opt[float64] `json:"percentile"`
	Limit      float64               `json:"limit"`
	Attained   timeline.Opt[float64] `json:"attained"` // share of good among good and bad
	Value      timeline.Opt[float64] `json:"value"`    // the statistic with failures as +∞ (a speed: as −∞); null when infinite
	N          int64                 `json:"n"`
	CI95       *[2]float64           `json:"ci95"`  // of value
	Met        timeline.Opt[bool]    `json:"met"`   // null while open
	State      string                `json:"state"` // met | missed | open
	// Settled is whether the 95 % interval lies on one side of the limit. An open
	// objective is not settled; nor is one that --allow-low-n decides all the same.
	Settled timeline.Opt[bool] `json:"settled"`
	// Worth is how many independent requests the verdict rests on, since those that
	// share a queue or a fault are alike; null for figures of the whole run.
	Worth timeline.Opt[float64] `json:"worth"`
}

// MarshalJSON writes null for no state.
func (r ObjectiveResult) MarshalJSON() ([]byte, error) {
	type fields ObjectiveResult
	out := struct {
		fields
		State *string `json:"state"`
	}{fields: fields(r)}
	if r.State != "" {
		out.State = &r.State
	}
	return json.Marshal(out)
}

// Metrics are what an objective of these is made of: its own metric, or all of them
// where it is on the share of good requests.
func (g *Goodput) Metrics(o *ObjectiveResult) []string {
	if o.Metric != "goodput" {
		return []string{o.Metric}
	}
	var all []string
	for i := range g.Objectives {
		if m := g.Objectives[i].Metric; m != "goodput" {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return []string{o.Metric}
	}
	return all
}

// Missed reports whether any objective was missed: the run's exit code is 1.
func (g *Goodput) Missed() bool {
	if g == nil {
		return false
	}
	for _, o := range g.Objectives {
		if o.State == Missed {
			return true
		}
	}
	return false
}
