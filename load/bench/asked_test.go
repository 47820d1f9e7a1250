package bench

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/objective"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Failures at the start that pass by do not end the run, in whatever phase they fall.
func TestEarlyFailuresThatPassBy(t *testing.T) {
	for name, broken := range map[string]func(s *stream){
		"five 503":    func(s *stream) { s.fail(503, "loading") },
		"five 500":    func(s *stream) { s.fail(500, "boom") },
		"five resets": func(s *stream) { s.token(time.Millisecond); panic(http.ErrAbortHandler) },
	} {
		for _, warm := range []bool{false, true} {
			f := &fake{chat: func(s *stream, _ body) {
				if s.n < 5 {
					broken(s)
					return
				}
				s.token(10 * time.Millisecond)
				s.end(256, 0)
			}}
			plan := Plan{Load: Load{Concurrency: 1, Requests: 100, Warmup: Warmup{Off: !warm}}}
			res := virtual(t, f, plan, nil)
			if res.err != nil || len(res.records) != 100 || res.run.Requests.OK < 95 {
				t.Errorf("%s, warm-up %t: %d records, %v", name, warm, len(res.records), res.err)
			}
			if warm && !warned(res.run, "warmup_failed") {
				t.Errorf("%s: the failed warm-up is not told: %+v", name, res.run.Warnings)
			}
		}
	}
}

// What no waiting mends is told in the warm-up, and nothing is measured.
func TestWarmupRefused(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 422} {
		f := &fake{chat: func(s *stream, _ body) { s.fail(status, "no") }}
		res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Requests: 50}}, nil)
		var target *TargetError
		if !asError(res.err, &target) || len(res.records) != 0 || len(f.bodies) != 4 {
			t.Errorf("%d: %d sent, %d records, %v", status, len(f.bodies), len(res.records), res.err)
		}
	}
}

// Requests that were due and never sent are not sent, not running and tried by
// nobody; they kept no promise, and the rate that was kept is that of the others.
func TestNeverSentIsNotSent(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(900 * time.Millisecond)
		s.token(100 * time.Millisecond)
		s.end(256, 0)
	}}
	for _, text := range []string{"p99 tpot < 500ms", "p50 e2e < 1h", "goodput > 99%"} {
		list := []string{text}
		if text == "goodput > 99%" {
			list = append(list, "p99 tpot < 500ms")
		}
		plan := Plan{
			Load:       Load{Rate: 100, Concurrency: 5, Duration: 10 * time.Second, Grace: 5 * time.Second, Warmup: Warmup{Off: true}},
			Conditions: Conditions{Objectives: objectivetest.Parse(t, list...)},
		}
		res := virtual(t, f, plan, nil)
		if res.err != nil || len(res.records) != 1000 {
			t.Fatalf("%d records, %v", len(res.records), res.err)
		}
		sent := int64(0)
		for _, rec := range res.records {
			if rec.Unsent() {
				if rec.Attempts != 0 || rec.Outcome != timeline.CancelledRunEnd || !(rec.DelayMS > 0) {
					t.Fatalf("%+v", rec)
				}
				continue
			}
			sent++
			if rec.StartS >= 10 {
				t.Fatalf("sent %v s after the start, in the grace", rec.StartS)
			}
		}
		q := res.run.Requests
		if int64(len(f.bodies)) != sent || q.Attempts != sent || q.Unsent() != 1000-sent || q.Excluded["cancelled_run_end"] != 0 || q.OK != sent {
			t.Errorf("%d sent, the server saw %d, %+v", sent, len(f.bodies), q)
		}
		// Each prompt that was sent was another: those that were not sent repeat nothing.
		if warned(res.run, "prompt_reuse") {
			t.Errorf("prompts that were never sent are taken for repeated ones: %+v", res.run.Warnings)
		}
		g := res.run.Goodput
		near(t, "goodput", g.Fraction.Or(1), float64(sent)/1000)
		if g.Objectives[0].State != objective.Missed {
			t.Errorf("%s: %s", text, g.Objectives[0].State)
		}
		if kept := res.run.Throughput.AchievedPerS.Or(100); math.Abs(kept-5) > 0.5 {
			t.Errorf("%v requests/s were sent", kept)
		}
		f.bodies = nil
	}
}

// A server that takes the first requests and then nothing: what was sent in a
// moment is no rate that was kept.
func TestRateOfAHangingServer(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) { sleep(s.ctx, time.Hour) }}
	res := virtual(t, f, Plan{Load: Load{Rate: 50, Concurrency: 8, Duration: 4 * time.Second, Grace: -1, Warmup: Warmup{Off: true}}}, nil)
	if res.run == nil || len(f.bodies) != 8 {
		t.Fatalf("%d sent, %v", len(f.bodies), res.err)
	}
	if kept := res.run.Throughput.AchievedPerS.Or(50); kept > 3 || res.run.Validity.Verdict != "invalid" {
		t.Errorf("%v requests/s of 50, %s", kept, res.run.Validity.Verdict)
	}
}

// What Ctrl-C keeps from being sent is nobody's miss.
func TestUnsentByTheUser(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(time.Second)
		s.end(256, 0)
	}}
	plan := Plan{Load: Load{Rate: 10, Concurrency: 1, Duration: time.Minute, Warmup: Warmup{Off: true}}, Conditions: Conditions{Objectives: objectivetest.Parse(t, "p99 e2e < 1h")}}
	res := virtual(t, f, plan, func(cancel func()) { time.AfterFunc(3*time.Second, cancel) })
	if g := res.run.Goodput; g == nil || g.Bad != 0 {
		t.Errorf("%+v", g)
	}
}

// In an open loop, too, --requests counts requests and not what holds them.
func TestRequestsCountRequests(t *testing.T) {
	for name, text := range map[string]string{
		"conversations": "input: 20\noutput: 10\nturns: 5",
		"uneven ones":   "input: 20\noutput: 10\nturns: uniform:2,6",
		"tasks":         "task:\n  steps:\n    - {name: plan, input: 20, output: 5}\n    - {name: look, after: [plan], parallel: \"3\", input: 20, output: 5}\n    - {name: end, after: [look], input: 20, output: 5}",
	} {
		for _, workers := range []int{1, 3} {
			f := &fake{chat: said(10*time.Millisecond, func(int, body) string { return "so it is" })}
			res := virtual(t, f, Plan{Load: Load{Rate: 5, Requests: 40, Workers: workers, Warmup: Warmup{Off: true}}, Content: Content{Workload: spec(t, text)}}, nil)
			// The last conversation to begin is held to its end.
			if n := len(res.records); res.err != nil || n < 40 || n > 40+6 {
				t.Errorf("%s, %d workers: %d requests, %v", name, workers, n, res.err)
			}
		}
	}
}

// Answers far below the length that was asked for are another load, whatever the made
// prompts are of; to a prompt of the user's own they are as long as they are.
func TestFarShorterAnswersOfAnyMadeLoad(t *testing.T) {
	for name, text := range map[string]string{
		"tasks":              "task: {steps: [{name: plan, input: 20, output: 100}, {name: end, after: [plan], input: 20, output: 100}]}",
		"live conversations": "input: 20\noutput: 100\nturns: 3\nhistory: live",
		"a mix":              "mix: [{name: a, share: 1, input: 10, output: 100}, {name: b, share: 1, input: 30, output: 100, turns: 2, history: live}]",
		"own prompts":        "",
	} {
		f := &fake{chat: func(s *stream, _ body) {
			for range 12 {
				s.token(time.Millisecond)
			}
			s.end(20, 0)
		}}
		plan := Plan{Load: Load{Concurrency: 2, Requests: 40, Warmup: Warmup{Off: true}}, Content: Content{Prompt: "Say it.", OutputTokens: "100"}}
		if text != "" {
			plan.Content = Content{Workload: spec(t, text)}
		}
		res := virtual(t, f, plan, nil)
		if res.err != nil {
			t.Fatal(name, res.err)
		}
		i := slices.IndexFunc(res.run.Validity.Checks, func(c validity.Check) bool { return c.Name == "osl_shortfall" })
		if suspect := i >= 0 && res.run.Validity.Checks[i].Verdict == validity.Suspect; suspect != (text != "") {
			t.Errorf("%s: %+v", name, res.run.Validity.Checks)
		}
	}
}

// The cool-down begins where the requests of the main part are counted.
func TestRequestsCountRequestsBeforeACooldown(t *testing.T) {
	f := &fake{chat: said(3*time.Second, func(int, body) string { return "so it is" })}
	res := virtual(t, f, Plan{Load: Load{Rate: 2, Requests: 10, Cooldown: 20 * time.Second, Warmup: Warmup{Off: true}}, Content: Content{Workload: spec(t, "input: 20\noutput: 10\nturns: 2")}}, nil)
	if q := res.run.Requests; res.err != nil || q.Total != 10 || q.Cooldown == 0 {
		t.Errorf("%+v, %v", q, res.err)
	}
}

// Open loops fit made prompts to the server's count as closed ones do.
func TestOpenLoopsFitPrompts(t *testing.T) {
	counts := func(s *stream, b body) {
		s.token(time.Millisecond)
		s.end(wordsIn(b)*3/2, 0)
	}
	for name, plan := range map[string]Plan{
		"constant": {Load: Load{Rate: 20}},
		"poisson":  {Load: Load{Rate: 20, Arrival: "poisson"}, Content: Content{Seed: 3}},
		"stages":   {Load: Load{Stages: schedule.Curve{{For: 5 * time.Second, From: 5, To: 20}}}},
		"closed":   {Load: Load{Concurrency: 2}},
	} {
		plan.Requests, plan.InputTokens = 40, "600"
		res := virtual(t, &fake{chat: counts}, plan, nil)
		if res.err != nil || len(res.records) != 40 {
			t.Fatalf("%s: %d records, %v", name, len(res.records), res.err)
		}
		if in := res.run.Metrics["input_tokens"].Mean.Or(0); math.Abs(in-600) > 6 || !warned(res.run, "prompts_fitted") {
			t.Errorf("%s: %v tokens a prompt, %+v", name, in, res.run.Warnings)
		}
	}
}

// So do traces that tell lengths, without showing the server a prompt of theirs.
func TestTracesFitPrompts(t *testing.T) {
	name := t.TempDir() + "/trace.jsonl"
	text := ""
	for i := range 20 {
		text += fmt.Sprintf(`{"timestamp":%d,"input_length":%d,"output_length":5}`+"\n", 100*i, 300+i)
	}
	if err := writeFile(name, text); err != nil {
		t.Fatal(err)
	}
	work, err := workload.Load(name, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{chat: func(s *stream, b body) {
		s.token(time.Millisecond)
		s.end(wordsIn(b)*3/2, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Trace: &schedule.Trace{Times: work.Times}}, Content: Content{Workload: work}}, nil)
	if res.err != nil || len(res.records) != 20 {
		t.Fatalf("%d records, %v", len(res.records), res.err)
	}
	for i, rec := range res.records {
		if math.Abs(float64(rec.InputTokens.Or(0)-int64(300+i))) > 3 {
			t.Errorf("record %d: %v tokens", i, rec.InputTokens)
		}
	}
}

// A trace whose times run backwards is refused before anything is sent, wherever
// that is.
func TestTraceOutOfOrder(t *testing.T) {
	for _, at := range []int{1, 700, 2999} {
		name := fmt.Sprintf("%s/trace-%d.jsonl", t.TempDir(), at)
		text := ""
		for i := range 3000 {
			ms := 100 + 10*i
			if i == at {
				ms -= 11
			}
			text += fmt.Sprintf(`{"timestamp":%d,"input_length":20,"output_length":5}`+"\n", ms)
		}
		if err := writeFile(name, text); err != nil {
			t.Fatal(err)
		}
		work, err := workload.Load(name, workload.Options{Salt: "s"})
		if err != nil {
			if !hasText(err.Error(), "sort") {
				t.Error(err)
			}
			continue
		}
		f := &fake{chat: echo}
		res := virtual(t, f, Plan{Load: Load{Trace: &schedule.Trace{Times: work.Times}}, Content: Content{Workload: work}}, nil)
		var usage *UsageError
		if !asError(res.err, &usage) || !hasText(res.err.Error(), fmt.Sprintf("record %d ", at+1)) || len(f.bodies) != 0 {
			t.Errorf("at %d: %d sent, %v", at, len(f.bodies), res.err)
		}
	}
}

// Fewer requests than streams never make the asked load, and the run says so.
func TestFewerRequestsThanStreams(t *testing.T) {
	f := &fake{chat: echo}
	for _, c := range []struct {
		plan   Plan
		warned bool
	}{
		{Plan{Load: Load{Concurrency: 32, Requests: 10}}, true},
		{Plan{Load: Load{Concurrency: 2, Requests: 1}}, true},
		{Plan{Load: Load{Requests: 7}}, true}, // of the 8 streams that nobody asked for
		{Plan{Load: Load{Concurrency: 10, Requests: 10}}, false},
		{Plan{Load: Load{Concurrency: 10, Requests: 5, Rate: 5}}, false},
	} {
		c.plan.Warmup.Off = true
		if res := virtual(t, f, c.plan, nil); res.err != nil || warned(res.run, "too_few_requests") != c.warned {
			t.Errorf("%+v, %v", c.plan.Requests, res.err)
		}
	}
}

// Conversations hold several requests: as many as streams are too few, unless every
// stream is to have one.
func TestFewerConversationsThanStreams(t *testing.T) {
	for _, c := range []struct {
		requests int
		every    bool
		warned   bool
		begun    int
	}{{16, false, true, 6}, {45, false, true, 15}, {46, false, false, 16}, {16, true, false, 16}, {6, true, false, 16}} {
		f := &fake{chat: echo}
		name := t.TempDir() + "/w.yaml"
		if err := writeFile(name, "input: 50\noutput: 10\nturns: 3\n"); err != nil {
			t.Fatal(err)
		}
		work, err := workload.Load(name, workload.Options{Salt: "s"})
		if err != nil {
			t.Fatal(err)
		}
		plan := Plan{Load: Load{Concurrency: 16, Requests: c.requests, EveryStream: c.every, Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}
		res := virtual(t, f, plan, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		if got := res.run.Requests.Total; got != int64(3*c.begun) || warned(res.run, "too_few_requests") != c.warned {
			t.Errorf("%+v: %d requests, warnings %v", c, got, res.run.Warnings)
		}
	}
}

// What a person reads while a run goes on is the load that is sent.
func TestLoadWords(t *testing.T) {
	for want, p := range map[string]Plan{
		"closed loop of 8 streams":                                 {},
		"closed loop of 1 stream":                                  {Load: Load{Concurrency: 1}},
		"open loop, 2.5 requests/s, constant":                      {Load: Load{Rate: 2.5}},
		"open loop, 10 requests/s, poisson, at most 4 at once":     {Load: Load{Rate: 10, Arrival: "poisson", Concurrency: 4}},
		"open loop, stages 1m0s@5,2m0s@5..50 requests/s, constant": {Load: Load{Stages: schedule.Curve{{For: time.Minute, From: 5, To: 5}, {For: 2 * time.Minute, From: 5, To: 50}}}},
		"closed loop, stages 1m0s@2..8 streams":                    {Load: Load{Stages: schedule.Curve{{For: time.Minute, From: 2, To: 8}}, StagesClosed: true}},
		"open loop, trace, 2 times as fast":                        {Load: Load{Trace: &schedule.Trace{Speed: 2}}},
		"open loop, trace, at its own speed, at most 3 at once":    {Load: Load{Trace: &schedule.Trace{}, Concurrency: 3}},
	} {
		if got := p.LoadWords(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
