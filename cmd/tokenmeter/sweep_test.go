package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/api"
	"tokenmeter/bench"
	"tokenmeter/client"
	"tokenmeter/objective"
	"tokenmeter/sim"
	"tokenmeter/sweep"
	"tokenmeter/sweep/result"
	"tokenmeter/timeline"
	"tokenmeter/validity"
)

// onSay calls a function instead of telling anybody.
type onSay struct {
	silent
	heard func()
}

func (o onSay) say(string) { o.heard() }

// searched makes a search of a simulated server in virtual time. heard is called when
// a probe is over, before it is saved.
func searched(t *testing.T, heard func(saved *result.Sweep, stop func())) (*result.Sweep, error) {
	var saved *result.Sweep
	var err error
	synctest.Test(t, func(t *testing.T) {
		preset, _ := sim.FindPreset("fast")
		preset.Config.Base = time.Now()
		ln := sim.NewPipeListener()
		server := sim.New(preset.Config)
		go server.Serve(ln)
		defer server.Close()
		objectives, perr := objective.ParseAll([]string{"p90 ttft < 10s"})
		if perr != nil {
			t.Fatal(perr)
		}
		s := &result.Sweep{Variable: sweep.Rate}
		if err := sweep.Create(t.TempDir(), "", s, false); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(context.Background())
		defer stop(nil)
		open := func() *result.Sweep {
			saved, err := sweep.Open(s.Dir)
			if err != nil {
				t.Fatal(err)
			}
			return saved
		}
		subject := &sweep.Server{Variable: sweep.Rate, Dir: s.Dir, Plan: bench.Plan{Timers: true, Prompt: "Hello.", OutputTokens: "4",
			Client: client.Config{BaseURL: "http://sim", API: api.OpenAIChat, Dial: ln.Dial, NoKernelStamps: true}}}
		search := sweep.Search{Objectives: objectives, MaxProbes: 3, MaxTime: 5 * time.Minute, Confidence: 0.95}
		err = (&sweepCmd{}).find(ctx, onSay{heard: func() { heard(open(), func() { stop(client.ErrUser) }) }}, search, subject, s)
		saved = open()
	})
	return saved, err
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

func TestLearn(t *testing.T) {
	for name, c := range map[string]struct {
		probes       []sweep.Probe
		holds, fails float64
	}{
		"weak evidence is none":      {[]sweep.Probe{{Load: 1, Says: "holds"}, {Load: 2, Says: "fails"}}, 0, 0},
		"a bracket":                  {[]sweep.Probe{{Load: 1, Says: "holds", Firm: true}, {Load: 4, Says: "fails", Firm: true}, {Load: 2, Says: "holds", Firm: true}, {Load: 3, Says: "fails", Firm: true}}, 2, 3},
		"a failure by bad luck":      {[]sweep.Probe{{Load: 1, Says: "holds", Firm: true}, {Load: 4, Says: "fails", Firm: true}, {Load: 4, Says: "holds", Repeat: true}}, 1, 0},
		"what held holds no longer":  {[]sweep.Probe{{Load: 2, Says: "holds", Firm: true}, {Load: 4, Says: "fails", Firm: true}, {Load: 2, Says: "fails", Repeat: true}}, 0, 2},
		"more holds than had failed": {[]sweep.Probe{{Load: 2, Says: "fails", Firm: true}, {Load: 3, Says: "holds", Firm: true}}, 3, 0},
	} {
		var f sweep.Found
		for _, p := range c.probes {
			learn(&f, p)
		}
		if f.Holds != c.holds || f.Fails != c.fails || len(f.Probes) != len(c.probes) {
			t.Errorf("%s: %g to %g", name, f.Holds, f.Fails)
		}
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
		"too few to tell at one":  {result.Sweep{Points: []result.Point{point(valid, objective.Insufficient), point(valid, objective.Missed)}}, true, exitOK},
		"missed at all":           {result.Sweep{Points: []result.Point{point(valid, objective.Missed), point(valid, objective.Missed), unreached}}, true, exitMissed},
		"invalid":                 {result.Sweep{Points: []result.Point{point(invalid, objective.Missed)}}, true, exitInvalid},
		"invalid without strict":  {result.Sweep{Points: []result.Point{point(invalid, ""), point(valid, "")}}, false, exitOK},
		"a search":                {result.Sweep{Points: []result.Point{probe}, Found: &result.Found{Holds: some(1), Fails: some(2)}}, true, exitOK},
		"no load holds":           {result.Sweep{Points: []result.Point{probe}, Found: &result.Found{Fails: some(2), Steps: []result.Step{{Load: 2}}}}, true, exitMissed},
		"a search without an end": {result.Sweep{Points: []result.Point{probe}, Found: &result.Found{Fails: some(2), SeemsHolds: some(1)}}, true, exitOK},
	} {
		cmd := sweepCmd{}
		cmd.Strict = c.strict
		if got := exitCode(cmd.verdict(&c.s)); got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}
