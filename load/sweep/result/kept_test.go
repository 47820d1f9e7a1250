package result

import (
	"testing"

	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// at is a point of a load whose only objective came to that state.
func at(load float64, state string) Point {
	return Point{Value: load, Place: 1, Run: "r", Validity: validity.Validity{Verdict: validity.Valid},
		Goodput: &objective.Goodput{Objectives: []objective.ObjectiveResult{{Text: "p95 ttft < 1s", Metric: "ttft", State: state}}}}
}

// The largest load that keeps the objectives is below the smallest that misses them, and
// what is not settled is neither.
func TestKeeps(t *testing.T) {
	invalid := at(8, objective.Met)
	invalid.Validity = validity.Validity{Verdict: validity.Invalid, Checks: []validity.Check{{Name: "cpu_busy", Verdict: validity.Invalid}}}
	other := invalid
	other.Validity.Figures = map[string]string{validity.TTFT: validity.Valid}
	unanswered := at(8, objective.Open)
	unanswered.Error, unanswered.TargetFailed = "every warm-up request failed", true
	silent := at(8, objective.Open)
	silent.Requests.Total, silent.Requests.Unanswered = 207, 207
	none := timeline.Opt[float64]{}
	for name, c := range map[string]struct {
		points       []Point
		holds, fails timeline.Opt[float64]
		settled      bool
	}{
		"a limit":               {[]Point{at(4, objective.Met), at(8, objective.Met), at(16, objective.Missed), at(32, objective.Missed)}, timeline.Some(8.0), timeline.Some(16.0), true},
		"all hold":              {[]Point{at(4, objective.Met), at(8, objective.Met)}, timeline.Some(8.0), none, true},
		"none holds":            {[]Point{at(4, objective.Missed), at(8, objective.Missed)}, none, timeline.Some(4.0), false},
		"open between":          {[]Point{at(4, objective.Met), at(8, objective.Open), at(16, objective.Missed)}, timeline.Some(4.0), timeline.Some(16.0), false},
		"open only":             {[]Point{at(4, objective.Open)}, none, none, false},
		"holds above a miss":    {[]Point{at(4, objective.Met), at(8, objective.Missed), at(16, objective.Met)}, timeline.Some(4.0), timeline.Some(8.0), true},
		"repeats disagree":      {[]Point{at(4, objective.Met), at(8, objective.Met), at(8, objective.Missed)}, timeline.Some(4.0), timeline.Some(8.0), true},
		"invalid":               {[]Point{at(4, objective.Met), invalid}, timeline.Some(4.0), none, false},
		"invalid, but for TTFT": {[]Point{at(4, objective.Met), other}, timeline.Some(8.0), none, true},
		"the target failed":     {[]Point{at(4, objective.Met), {Value: 8, Place: 2, Error: "gone", TargetFailed: true}}, timeline.Some(4.0), timeline.Some(8.0), true},
		"its warm-up failed":    {[]Point{at(4, objective.Met), unanswered}, timeline.Some(4.0), timeline.Some(8.0), true},
		"nothing is answered":   {[]Point{at(4, objective.Met), silent}, timeline.Some(4.0), timeline.Some(8.0), true},
		"a command failed":      {[]Point{at(4, objective.Met), {Value: 8, Place: 2, Error: "exit status 1"}}, timeline.Some(4.0), none, false},
	} {
		s := Sweep{Variable: "concurrency", Objectives: []string{"p95 ttft < 1s"}, Points: c.points}
		f := s.keeps()
		if f == nil || f.Holds != c.holds || f.Fails != c.fails || f.Settled != c.settled {
			t.Errorf("%s: %+v", name, f)
		}
	}
	s := Sweep{Variable: "concurrency", Points: []Point{at(4, objective.Met)}}
	if s.keeps() != nil {
		t.Error("an answer without an objective")
	}
}
