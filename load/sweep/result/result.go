// Package result is what a sweep measured, as sweep.json: points, the curve
// through them, and the load at which objectives cease to hold.
package result

import (
	"cmp"
	"slices"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Schema names the version of sweep.json.
const Schema = "tokenmeter.sweep/v1"

// Names of the files in the folder of a sweep, beside the folders of its runs.
const (
	File = run.SweepFile
	Page = "sweep.html" // only when asked for
)

// Sweep is sweep.json.
type Sweep struct {
	Dir      string     `json:"-"`
	Begun    []string   `json:"-"` // folders of runs that are no points: the sweep was killed meanwhile
	Schema   string     `json:"schema"`
	Name     string     `json:"name"`
	Started  time.Time  `json:"started"`
	Finished *time.Time `json:"finished"`
	Partial  bool       `json:"partial"`
	Version  string     `json:"version"`
	Command  []string   `json:"command"` // secrets removed
	Seed     uint64     `json:"seed"`
	Target   run.Target `json:"target"`
	Variable string     `json:"variable"` // rate | concurrency | input_tokens | output_tokens, or a flag or field of the workload
	// Axes are all that was varied, the variable among them.
	Axes []string `json:"axes"`
	// GPUs behind the server, as the user says; null when not told.
	GPUs timeline.Opt[int64] `json:"gpus"`
	// Hardware is the model and its devices, as the user says; empty when not told.
	Hardware   string   `json:"hardware"`
	Objectives []string `json:"objectives"`

	// Points are in the order of their values; those of one value in that of
	// their repeats. Planned counts them all, Points holds those that were made.
	Planned int     `json:"planned"`
	Points  []Point `json:"points"`
	Order   []int   `json:"order"` // which point was made when

	Knee    *Knee                 `json:"knee"`
	Peak    *Peak                 `json:"peak"`
	PeakTPS timeline.Opt[float64] `json:"peak_tps"` // the plateau; null when the curve still rises
	// Series has knee and plateau of each combination of the other axes; empty
	// where there is one combination, whose are above.
	Series   []Series         `json:"series"`
	Pareto   []Pareto         `json:"pareto"`
	Method   *Method          `json:"method"` // null without --method
	Found    *Found           `json:"found"`
	Warnings []metric.Warning `json:"warnings"`

	// Checksum is that of the rest, and the last field of the file; older ones have none.
	Checksum string `json:"checksum,omitempty"`
}

// Insert adds the point that was made next, in the order of the values.
func (s *Sweep) Insert(p Point) {
	at := len(s.Points)
	for at > 0 && cmp.Or(cmp.Compare(s.Points[at-1].Place, p.Place), cmp.Compare(s.Points[at-1].Value, p.Value), cmp.Compare(s.Points[at-1].Repeat, p.Repeat)) > 0 {
		at--
	}
	s.Order = slices.Insert(s.Order, at, len(s.Points))
	s.Points = slices.Insert(s.Points, at, p)
}

// Point is one run of a sweep.
type Point struct {
	Value float64 `json:"value"` // of the variable; its place in the list, from 1, where it is no number
	Text  string  `json:"text"`  // as it was asked for
	// Settings are the values of all axes; null where one thing was varied.
	Settings []Setting `json:"settings"`
	Place    int       `json:"-"` // in the order of what was asked for, from 1; 0 where loads were searched
	Repeat   int       `json:"repeat"`
	Run      string    `json:"run"` // folder, relative to the sweep's
	Error    string    `json:"error"`
	// TargetFailed says that Error is the server's: it answered nothing that was measured, or
	// more failed than --max-failures allows.
	// False where the error is ours, as of a command before the point.
	TargetFailed bool `json:"target_failed"`

	OfferedPerS  timeline.Opt[float64]  `json:"offered_per_s"`
	AchievedPerS timeline.Opt[float64]  `json:"achieved_per_s"`
	Requests     metric.Requests        `json:"requests"`
	Metrics      map[string]metric.Dist `json:"metrics"`
	Throughput   metric.Throughput      `json:"throughput"`
	// OutputCI95 is the interval of system_output_tps, from its spread over time.
	OutputCI95 *[2]float64        `json:"output_tps_ci95"`
	Goodput    *objective.Goodput `json:"goodput"`
	Cost       *metric.Cost       `json:"cost"`
	Roofline   *metric.Roofline   `json:"roofline"` // null where no hardware was named
	Validity   validity.Validity  `json:"validity"`
	// Unsettled says that the server was not at rest before the run.
	Unsettled string `json:"unsettled"`

	TPSPerGPU  timeline.Opt[float64] `json:"tps_per_gpu"`  // system_output_tps ÷ GPUs
	TPSPerUser timeline.Opt[float64] `json:"tps_per_user"` // median decode_tps
}

// Setting is what was varied and its value.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Series is one curve of several: what its points have in common.
type Series struct {
	Settings []Setting             `json:"settings"`
	Knee     *Knee                 `json:"knee"`
	Peak     *Peak                 `json:"peak"`
	PeakTPS  timeline.Opt[float64] `json:"peak_tps"`
}

// Knee is where throughput stops growing with load: the load at which the line
// through the origin meets the plateau, with its 95 % interval.
type Knee struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// Peak is the plateau of a sweep: the mean output tokens/s of the points that
// more load no longer raises, with its 95 % interval.
type Peak struct {
	TPS   float64     `json:"output_tps"`
	CI95  *[2]float64 `json:"ci95"`
	From  float64     `json:"from"` // the first value on the plateau
	Count int         `json:"points"`
}

// Pareto is a point that no other one beats in both speed for one reader and
// throughput.
type Pareto struct {
	Value      float64 `json:"value"`
	Run        string  `json:"run"`
	TPSPerUser float64 `json:"tps_per_user"`
	TPSPerGPU  float64 `json:"tps_per_gpu"` // of the whole server when the number of GPUs was not told
}

// Found is the answer of a search, or of loads that were measured as asked for.
type Found struct {
	Objectives []string              `json:"objectives"`
	Variable   string                `json:"variable"` // rate | concurrency
	Holds      timeline.Opt[float64] `json:"holds"`    // null: none was shown to hold
	Fails      timeline.Opt[float64] `json:"fails"`    // null: none was shown to fail
	Confidence float64               `json:"confidence"`
	Probes     int                   `json:"probes"`
	Requests   int64                 `json:"requests"`
	Settled    bool                  `json:"settled"` // the bracket is as narrow as was asked
	Why        string                `json:"why"`     // it is not, or there is none
	Next       string                `json:"next"`    // what would narrow the bracket
	Unknown    string                `json:"unknown"` // what the answer leaves open, whatever it says
	Missed     []string              `json:"missed"`  // objectives on the whole run, missed at holds
	Steps      []Step                `json:"steps"`
	// Grid says that the loads were those that were asked for: there was no search.
	Grid bool `json:"grid"`
}

// rounding is how far loads may be off that are meant to be the same.
const rounding = 0.002

// NoneHolds reports whether no load holds: even the smallest that was tried was shown
// to fail, and none seemed to hold. A search without that has left it open.
func (f *Found) NoneHolds() bool {
	fails, failed := f.Fails.Get()
	if !failed || f.Holds.OK() {
		return false
	}
	return !slices.ContainsFunc(f.Steps, func(s Step) bool { return s.Load < fails*(1-rounding) })
}

// Step is one probe of a search.
type Step struct {
	Load     float64               `json:"load"`
	Says     string                `json:"says"`   // holds | fails | unclear
	Firm     bool                  `json:"firm"`   // at the confidence of the search
	Repeat   bool                  `json:"repeat"` // one more look, with fresh requests, at the load that held
	Grows    bool                  `json:"grows"`  // the server fell behind
	Requests int64                 `json:"requests"`
	Share    timeline.Opt[float64] `json:"good_share"`
	Worst    string                `json:"worst"` // objective nearest to its limit
	Run      string                `json:"run"`
	Note     string                `json:"note"`
}
