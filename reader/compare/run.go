package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tokenmeter/record/exit"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Run is one run as a comparison needs it: the values of its requests in the
// order in which they were due, and the facts that must be alike.
type Run struct {
	Facts  Facts
	series map[string]series // by metric key; missing: not measured
	pools  []*pool           // of a run among others in a baseline file

	summary metric.Summary
	judged  []objective.Objective // of gates on values
	judge   *objective.Judge      // nil where the records are not known
	told    *run.Told             // nil but where another tool told figures and no request
}

// Facts are what must be alike for two runs to be compared, and their names.
type Facts struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Dir          string            `json:"dir"`
	Tags         map[string]string `json:"tags"`
	Started      time.Time         `json:"started"`
	Finished     *time.Time        `json:"finished"`
	Partial      bool              `json:"partial"`
	Version      string            `json:"version"`
	Target       run.Target        `json:"target"`
	Load         run.Load          `json:"load"`
	Workload     run.Workload      `json:"workload"`
	Tokenizer    *string           `json:"tokenizer"`
	Objectives   []string          `json:"objectives"`
	CPUModel     string            `json:"cpu_model"`
	OS           string            `json:"os"`
	Validity     string            `json:"validity"` // valid | suspect | invalid; empty: not judged
	ValidityWhy  string            `json:"validity_why"`
	Figures      map[string]string `json:"figures,omitempty"`     // verdicts by family (package validity)
	FiguresWhy   map[string]string `json:"figures_why,omitempty"` // what spoils a family that is invalid
	Requests     Counts            `json:"requests"`
	Asked        exit.Facts        `json:"-"`                       // what became of them, for the exit code
	Silent       bool              `json:"silent,omitempty"`        // its server answered none of them, by failing or until the run ended
	ServedModels string            `json:"served_models,omitempty"` // that the server says answered; empty: it named none
	Evidence     timeline.Evidence `json:"evidence"`                // of the request that is known least
	Clock        timeline.Clock    `json:"clock"`                   // user, if any request's was
	TokenSource  string            `json:"token_source"`
	Flags        map[string]int64  `json:"flags"`
	ITLLeftOut   map[string]int64  `json:"itl_left_out,omitempty"` // answers that are not in itl_ms, by reason
	InputTokens  Length            `json:"input_tokens"`
	OutputTokens Length            `json:"output_tokens"`
	AllowDrift   bool              `json:"allow_isl_drift"`
	Prices       metric.Cost       `json:"prices"`
}

// Counts are a run's measured requests.
type Counts struct {
	Total  int64 `json:"total"`
	OK     int64 `json:"ok"`
	Failed int64 `json:"failed"`
	// Untold are those of which another tool's figures say nothing.
	Untold metric.Untold `json:"-"`
}

// Length describes the lengths of prompts or answers, in tokens.
type Length struct {
	Mean timeline.Opt[float64] `json:"mean"`
	P90  timeline.Opt[float64] `json:"p90"`
}

// Load reads a run folder. Gates on values are judged while its records are
// read; they must be those of the comparison.
func Load(path string, gates ...Gate) (*Run, error) {
	f, err := run.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	manifest, err := run.Outline(f)
	if err != nil {
		return nil, err
	}
	if manifest.Told != nil {
		return newTold(&manifest), nil
	}
	c := NewCollector(manifest, gates...)
	for tl, err := range f.Timelines() {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		c.Add(tl)
	}
	return c.Run(), nil
}

func factsOf(m *run.Run) Facts {
	f := Facts{
		ID: m.ID, Name: m.Name, Dir: m.Dir, Tags: m.Tags, Started: m.Started, Finished: m.Finished, Partial: m.Partial,
		Version: m.Version, Target: m.Target, Load: m.Load, Workload: m.Workload, Tokenizer: m.Tokenizer,
		Objectives: m.Objectives, CPUModel: m.Environment.CPUModel, OS: m.Environment.OS,
		Validity: m.Validity.Verdict, Evidence: timeline.Arrivals, Clock: timeline.Kernel, AllowDrift: m.AllowISLDrift,
	}
	for _, check := range slices.Backward(m.Validity.Checks) { // the damage stands last
		if f.Validity == validity.Unknown && check.Verdict == f.Validity {
			f.ValidityWhy = check.Says
			break
		}
	}
	for _, check := range m.Validity.Checks {
		if f.ValidityWhy != "" {
			break
		}
		if check.Verdict == f.Validity && f.Validity != "valid" {
			f.ValidityWhy = check.Says
			break
		}
	}
	f.Figures = m.Validity.Figures
	for figure, verdict := range f.Figures {
		if c, ok := m.Validity.Why(figure); ok && verdict == validity.Invalid {
			if f.FiguresWhy == nil {
				f.FiguresWhy = map[string]string{}
			}
			f.FiguresWhy[figure] = c.Name
		}
	}
	f.ServedModels = strings.Join(slices.Sorted(maps.Keys(m.Requests.ServedModels)), ", ")
	f.Asked = exit.OfRequests(&m.Requests)
	_, f.Silent = f.Asked.Silent()
	if m.Cost != nil {
		f.Prices = *m.Cost
	}
	return f
}
