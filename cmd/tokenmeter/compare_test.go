package main

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

func TestCompareScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/compare",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "made": made},
		Setup: func(env *testscript.Env) error {
			env.Setenv("LC_ALL", "C.UTF-8")
			return nil
		},
	})
}

// made DIR NAME TPOT_MS REQUESTS HOUR [INPUT] writes the folder of a made run.
func made(ts *testscript.TestScript, _ bool, args []string) {
	number := func(i int) float64 {
		x, err := strconv.ParseFloat(args[i], 64)
		ts.Check(err)
		return x
	}
	input := int64(256)
	if len(args) > 5 {
		input = int64(number(5))
	}
	m := run.Run{Name: args[1], Started: time.Date(2026, 11, 27, int(number(4)), 0, 0, 0, time.UTC),
		Target: run.Target{URL: "http://localhost:8000", API: "openai-chat", Model: "m"},
		Load:   run.Load{Kind: "closed", Concurrency: timeline.Some(int64(1)), Workers: 1}}
	w, err := run.Create(ts.MkAbs(args[0]), m, run.Options{})
	ts.Check(err)
	rng := rand.New(rand.NewPCG(uint64(number(4)), 9))
	level := 1 + 0.01*rng.NormFloat64()
	due := int64(0)
	for i := range int64(number(3)) {
		tl := timeline.New()
		tl.Request, tl.API, tl.Model, tl.Clock = i, m.Target.API, m.Target.Model, timeline.Kernel
		tl.DueUS, tl.StartUS, tl.Outcome, tl.Attempts = due, due, timeline.OK, 1
		tl.Streamed, tl.Asked, tl.HTTPStatus, tl.FinishReason = true, true, 200, "stop"
		tl.Usage.Input, tl.Usage.Output = timeline.Some(input), timeline.Some(int64(21))
		gap := int64(1000 * number(2) * level * (1 + 0.03*rng.NormFloat64()))
		at := 10 * gap
		for k := range int64(21) {
			tl.Events.Append(timeline.Event{AtUS: at, Kind: timeline.Text, Tokens: timeline.Some(int64(1)), Bytes: 4, Read: k})
			at += gap
		}
		tl.CloseUS = timeline.Some(at)
		due += at
		ts.Check(w.Append(tl))
	}
	finished := m.Started.Add(time.Duration(due) * time.Microsecond)
	m.Finished = &finished
	_, err = w.Finish(m)
	ts.Check(err)
}

func TestCompareSidesByName(t *testing.T) {
	c := &compareCmd{}
	if _, err := c.sides(nil); err != nil {
		t.Errorf("no runs are told elsewhere: %v", err)
	}
	var wrong, right checker
	if percentage(&wrong, "--within", "x"); wrong.err() == nil {
		t.Error("x is no percentage")
	}
	if x := percentage(&right, "--within", " 2.5 %"); right.err() != nil || x != 0.025 {
		t.Errorf("%v %v", x, right.err())
	}
}
