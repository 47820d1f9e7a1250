// Package validity judges a measurement: was the client late, was the load
// achieved, did bursts or drift spoil the sample? It says valid, suspect or
// invalid, in words, with what to do.
package validity

import (
	"slices"

	"tokenmeter/record/timeline"
)

// Validity says whether the figures can be believed, in words.
type Validity struct {
	Verdict string `json:"verdict"` // valid | suspect | invalid | unknown: files are missing or damaged, or the run has no end
	// Figures has a verdict for each family of figures, the worst of the checks that
	// bear on it; nil in runs of before there were any.
	Figures map[string]string `json:"figures,omitempty"`
	Checks  []Check           `json:"checks"`
}

// errorsCheck is the check of failed requests.
const errorsCheck = "errors"

// Damaged makes the verdict unknown: the files that it is made from are not what
// was written, in the way that says tells.
func (v *Validity) Damaged(says string) {
	v.unknown(append(slices.Clone(v.Checks), Check{Name: "files", Verdict: Unknown, Says: says}))
}

// Unended makes unknown whatever is not found invalid: the run was broken off before it
// could say what some of the checks need.
func (v *Validity) Unended() {
	v.Checks = append(slices.Clone(v.Checks), Check{Name: "end", Verdict: Unknown,
		Says: "The run goes on, or its process was ended before it wrote how busy it was, how late its requests left and how long prompts were to be."})
	for figure, verdict := range v.Figures {
		if verdict != Invalid {
			v.Figures[figure] = Unknown
		}
	}
	if v.Verdict != Invalid {
		v.Verdict = Unknown
	}
}

// SummaryOnly makes the verdict unknown: no request is there that could be checked.
func (v *Validity) SummaryOnly() {
	v.unknown([]Check{{Name: "evidence", Verdict: Unknown,
		Says: "These are another tool's figures of a whole run, by its definitions: no request is there to check them by."}})
}

func (v *Validity) unknown(checks []Check) {
	v.Verdict, v.Checks = Unknown, checks
	v.Figures = make(map[string]string, len(Figures))
	for _, figure := range Figures {
		v.Figures[figure] = Unknown
	}
}

// Check is one test of the measurement.
type Check struct {
	Name    string                `json:"name"`
	Verdict string                `json:"verdict"` // valid | suspect | invalid | unknown
	Value   timeline.Opt[float64] `json:"value"`
	Limit   timeline.Opt[float64] `json:"limit"`             // the limit that was passed, or the nearest
	Figures []string              `json:"figures,omitempty"` // the families that it bears on; none: all
	Says    string                `json:"says"`              // a sentence, with what to do when it fails
}

// Client is what the load generator knew of itself; validity judges it.
type Client struct {
	CPUBusy           timeline.Opt[float64] `json:"cpu_busy_ratio"` // of the cores it may use
	Steal             timeline.Opt[float64] `json:"steal_ratio"`
	Throttled         timeline.Opt[float64] `json:"throttled_ratio"`
	ThrottledPeriods  timeline.Opt[int64]   `json:"throttled_periods"` // of the CPU quota
	GCPauseMaxMS      timeline.Opt[float64] `json:"gc_pause_max_ms"`
	ConnectionsOpened int64                 `json:"connections_opened"`
	MaxInFlight       int64                 `json:"max_in_flight"`
	// Streams is the most requests at once on one connection; null over HTTP/1.1.
	Streams     timeline.Opt[int64]   `json:"streams_per_connection"`
	OfferedPerS timeline.Opt[float64] `json:"offered_per_s"`
}
