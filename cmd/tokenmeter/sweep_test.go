package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/method"
	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// onSay calls a function instead of telling anybody.
type onSay struct {
	silent
	heard func()
}

func (o onSay) say(string) { o.heard() }

// simulated runs a fast server in virtual time, and plans short requests to it.
func simulated(t *testing.T, do func(t *testing.T, plan bench.Plan)) {
	synctest.Test(t, func(t *testing.T) {
		preset, _ := sim.FindPreset("fast")
		preset.Config.Base = time.Now()
		ln := simtest.NewPipeListener()
		server := sim.New(preset.Config)
		go server.Serve(ln)
		defer server.Close()
		do(t, bench.Plan{
			Timers:  true,
			Client:  client.Config{BaseURL: "http://sim", API: api.OpenAIChat, Dial: ln.Dial, NoKernelStamps: true},
			Content: bench.Content{Prompt: "Hello.", OutputTokens: "4"},
		})
	})
}

func reopened(t *testing.T, s *result.Sweep) *result.Sweep {
	t.Helper()
	saved, err := sweep.Open(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// searched makes a search of a simulated server in virtual time. heard is called when
// a probe is over, before it is saved.
func searched(t *testing.T, heard func(saved *result.Sweep, stop func())) (saved *result.Sweep, err error) {
	simulated(t, func(t *testing.T, plan bench.Plan) {
		s := &result.Sweep{Variable: sweep.Rate}
		held, failed := sweep.Create(t.TempDir(), "", s, false)
		if failed != nil {
			t.Fatal(failed)
		}
		defer held.Close()
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		view := onSay{heard: func() { heard(reopened(t, s), func() { cancel(client.ErrUser) }) }}
		search := sweep.Search{Objectives: objectivetest.Parse(t, "p90 ttft < 10s"), Most: 4, MaxTime: 5 * time.Minute, Confidence: 0.95}
		err = (&sweepCmd{}).find(ctx, view, search, &sweep.Server{Variable: sweep.Rate, Dir: s.Dir, Plan: plan}, s)
		saved = reopened(t, s)
	})
	return saved, err
}

// A method that searches measures at what it found, beside the probes; where nothing
// holds it says so, and still what its result is not.
func TestMethodThatSearches(t *testing.T) {
	for name, limit := range map[string]string{"holds": "p99 ttft < 10s", "none holds": "p99 ttft < 0.001ms"} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T, plan bench.Plan) {
				way, err := method.ByName("mlperf-server")
				if err != nil {
					t.Fatal(err)
				}
				plan.Objectives, plan.Duration = objectivetest.Parse(t, limit, "p99 tpot < 10s"), 5*time.Second
				j := &sweepJob{plan: plan, way: way, repeats: 1, promises: plan.Objectives, variable: way.Variable, settle: time.Second,
					search: sweep.Search{From: 4, Most: 8, MaxTime: time.Hour, Confidence: 0.95, Width: 0.4}}
				c := &sweepCmd{}
				s := c.begun(j)
				held, err := sweep.Create(t.TempDir(), "", s, false)
				if err != nil {
					t.Fatal(err)
				}
				defer held.Close()
				if err := c.follow(context.Background(), onSay{heard: func() {}}, j, s); err != nil {
					t.Fatal(err)
				}
				holds, last := s.Found.Holds.OK(), s.Points[len(s.Points)-1]
				s = reopened(t, s)
				if s.Partial || s.Planned != len(s.Points) || len(s.Objectives) != 2 || holds != (name == "holds") {
					t.Errorf("partial %v, %d of %d points, %q, found %+v", s.Partial, len(s.Points), s.Planned, s.Objectives, s.Found)
				}
				if (last.Place > 0) != holds || len(s.Points)-s.Found.Probes != last.Place {
					t.Errorf("%d probes and %d points, the last at place %d", s.Found.Probes, len(s.Points), last.Place)
				}
				if m := s.Method; m == nil || m.Says == "" || m.Verdict != "INVALID" || (len(m.Fields) > 0) != holds {
					t.Errorf("%+v", m)
				}
				if got, want := exitCode(c.verdict(s)), map[bool]int{true: exitOK, false: exitMissed}[holds]; got != want {
					t.Errorf("exit code %d", got)
				}
			})
		})
	}
}

// What a search has found is saved after each probe, for when it is killed.
func TestSearchIsSavedAfterEachProbe(t *testing.T) {
	probes := 0
	saved, err := searched(t, func(saved *result.Sweep, _ func()) {
		if len(saved.Points) != probes || probes > 0 && (saved.Found == nil || len(saved.Found.Steps) != probes || saved.Found.Why == "") || !saved.Partial {
			t.Errorf("after %d probes: %d points, found %+v", probes, len(saved.Points), saved.Found)
		}
		probes++
	})
	if err != nil || saved.Partial || probes < 2 || len(saved.Points) != probes {
		t.Errorf("%v: %d probes, %d points", err, probes, len(saved.Points))
	}
}

func TestSearchThatIsStoppedIsPartial(t *testing.T) {
	saved, err := searched(t, func(_ *result.Sweep, stop func()) { stop() })
	if !errors.Is(err, bench.ErrInterrupted) || !saved.Partial || len(saved.Points) != 1 || saved.Found == nil {
		t.Errorf("%v: %+v", err, saved)
	}
}

// The exit code of a sweep: what all its points missed, and with --strict an invalid one.
func TestSweepVerdict(t *testing.T) {
	point := func(verdict string, state string) result.Point {
		p := result.Point{Place: 1, Run: "001", Validity: validity.Validity{Verdict: verdict}}
		if state != "" {
			p.Goodput = &objective.Goodput{Objectives: []objective.ObjectiveResult{{State: state}}}
		}
		return p
	}
	valid, invalid := validity.Valid, validity.Invalid
	probe := point(invalid, objective.Missed)
	probe.Place = 0
	unreached := result.Point{Place: 1, Error: "refused"}
	some := timeline.Some[float64]
	for name, c := range map[string]struct {
		s      result.Sweep
		strict bool
		want   int
	}{
		"no objectives":           {result.Sweep{Points: []result.Point{point(valid, "")}}, true, exitOK},
		"missed at one of two":    {result.Sweep{Points: []result.Point{point(valid, objective.Met), point(valid, objective.Missed)}}, true, exitOK},
		"too few to tell at one":  {result.Sweep{Points: []result.Point{point(valid, objective.Open), point(valid, objective.Missed)}}, true, exitInvalid},
		"missed at all":           {result.Sweep{Points: []result.Point{point(valid, objective.Missed), point(valid, objective.Missed), unreached}}, true, exitMissed},
		"invalid":                 {result.Sweep{Points: []result.Point{point(invalid, objective.Missed)}}, true, exitInvalid},
		"invalid without strict":  {result.Sweep{Points: []result.Point{point(invalid, ""), point(valid, "")}}, false, exitOK},
		"a search":                {result.Sweep{Points: []result.Point{probe}, Found: &result.Found{Holds: some(1), Fails: some(2)}}, true, exitOK},
		"no load holds":           {result.Sweep{Points: []result.Point{probe}, Found: &result.Found{Fails: some(2), Steps: []result.Step{{Load: 2}}}}, true, exitMissed},
		"not one answer":          {result.Sweep{Points: []result.Point{{Requests: metric.Requests{Total: 9, Failed: 9}}}, Found: &result.Found{Fails: some(2)}}, false, exitTarget},
		"a search without an end": {result.Sweep{Points: []result.Point{probe}, Found: &result.Found{Fails: some(2), Steps: []result.Step{{Load: 1}, {Load: 2}}}}, true, exitInvalid},
	} {
		cmd := sweepCmd{}
		cmd.Strict = c.strict
		if got := exitCode(cmd.verdict(&c.s)); got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}

// What a stopped sweep has kept is told with the command that shows it.
func TestStoppedSweepSaysWhatIsKept(t *testing.T) {
	for want, s := range map[string]result.Sweep{
		"interrupted; nothing was measured":                                                     {Dir: "d", Planned: 4},
		"interrupted; kept: 1 of 4 points, see tokenmeter report d":                             {Dir: "d", Planned: 4, Points: make([]result.Point, 1)},
		"interrupted; kept: the runs of the search so far (3), see tokenmeter report 'my runs'": {Dir: "my runs", Found: &result.Found{}, Points: make([]result.Point, 3)},
	} {
		var out, err bytes.Buffer
		got := (&sweepCmd{}).conclude(&app{stdout: &out, stderr: &err, env: func(string) (string, bool) { return "", false }}, &s, bench.ErrInterrupted)
		if got == nil || got.Error() != want || exitCode(got) != exitInterrupted {
			t.Errorf("%v, want %q", got, want)
		}
	}
}

// A step on the way does not read as if it had shown something.
func TestProbeLine(t *testing.T) {
	for want, p := range map[string]sweep.Probe{
		"rate 1  leans to hold (weak)  8 requests, 100.0 % good of those judged":               {Load: 1, Says: "holds", Requests: 8, Share: 1},
		"rate 128  leans to fail (weak)  132 requests, 66.7 % good of those judged":            {Load: 128, Says: "fails", Requests: 132, Share: 2.0 / 3},
		"rate 2  holds  900 requests, 99.0 % good of those judged":                             {Load: 2, Says: "holds", Firm: true, Requests: 900, Share: 0.99},
		"rate 2  fails this time  900 requests, 90.0 % good of those judged, requests pile up": {Load: 2, Says: "fails", Repeat: true, Grows: true, Requests: 900, Share: 0.9},
		"rate 2  unclear  20 requests, 90.0 % good of those judged; became worse and worse":    {Load: 2, Says: "unclear", Requests: 20, Share: 0.9, Note: "became worse and worse"},
	} {
		if got := probeLine("rate", p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
