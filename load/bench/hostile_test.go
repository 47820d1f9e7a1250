package bench

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// A server that repeats the key gets it into none of our words.
func TestPreflightKeepsSecrets(t *testing.T) {
	const key = "key-0123456789abcdef"
	for name, c := range map[string]struct {
		status int
		text   string
		shown  string // in the place of the key; empty: the mask
	}{
		"401":    {401, `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`, ""},
		"403":    {403, `{"error":"` + key + `"}`, ""},
		"503":    {503, `{"detail":"` + key + `"}`, ""},
		"models": {200, `{"data":[{"id":"a"},{"id":"` + key + `"},{"id":"b"}]}`, "(a, b)"},
		"alone":  {200, `{"data":[{"id":"` + key + `"}]}`, "lists no models"},
		"cut":    {401, `{"error":"` + strings.Repeat("x", 190) + key + `"}`, ""},
	} {
		f := &fake{chat: echo, models: models(c.status, c.text)}
		plan := Plan{Client: client.Config{Header: http.Header{"Authorization": {"Bearer " + key}}}, Load: Load{Requests: 1}}
		res := virtual(t, f, plan, nil)
		if res.err == nil || hasText(res.err.Error(), "0123456789") || hasText(res.err.Error(), key[:8]) || !hasText(res.err.Error(), cmp.Or(c.shown, "***")) {
			t.Errorf("%s: %v", name, res.err)
		}
		if hasText(res.log, key) {
			t.Errorf("%s: log %q", name, res.log)
		}
	}
}

// The version that a server gives is its own text, and goes into the run.
func TestServerNameKeepsSecrets(t *testing.T) {
	const key = "key-0123456789abcdef"
	f := &fake{chat: echo, models: func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Server", "srv/"+key)
		models(200, `{"data":[{"id":"m"}]}`)(w, req)
	}}
	plan := Plan{Client: client.Config{Header: http.Header{"Authorization": {"Bearer " + key}}}, Load: Load{Requests: 1, Warmup: Warmup{Off: true}}}
	res := virtual(t, f, plan, nil)
	if res.err != nil || res.run.Target.Server != "srv/***" {
		t.Errorf("server %q, %v", res.run.Target.Server, res.err)
	}
}

func TestListedModels(t *testing.T) {
	long := strings.Repeat("m", 500)
	if got, want := listed([]string{"a\nb\x1b", long, "c"}), "a␊b␛, "+long[:80]+"…, c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := listed([]string{"1", "2", "3", "4", "5", "6", "7"}), "1, 2, 3, 4, 5 and 2 more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Silence is told with what was asked, how long, and what to do.
func TestPreflightSilence(t *testing.T) {
	f := &fake{chat: echo, models: func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }}
	res := virtual(t, f, Plan{Load: Load{Requests: 1}}, nil)
	want := "the server did not answer GET /v1/models within 10s; look whether it is a model server and is ready; --preflight none with --model does not ask it"
	if res.err == nil || res.err.Error() != want {
		t.Errorf("got %v", res.err)
	}
}

// What a reply took is given back when it is recorded, and when it never came to
// be: else a long run would run out of it.
func TestRoomComesBack(t *testing.T) {
	rec := newRecorder(discarding{}, false)
	rec.room = api.NewRoom(1<<20, replyInHand)
	ph := &phase{name: timeline.Measure}
	for i := range 20 {
		tl := rec.timeline()
		tl.Phase = timeline.Measure
		s := api.NewStream(tl, api.OpenAIChat, api.StreamOptions{Room: rec.room})
		s.Head(0, api.Head{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}})
		for range 300 {
			s.Read(1, 0, []byte(strings.Repeat(": ping\n\n", 100)))
		}
		if s.Complete() {
			t.Fatalf("request %d found no room", i)
		}
		s.End(2, timeline.EndUser, nil, nil)
		if j := (job{tl: tl, step: &workload.Step{}}); i%2 == 0 {
			rec.ended(ph, j)
		} else {
			rec.drop(j)
		}
	}
}

type discarding struct{}

func (discarding) Append(*timeline.Timeline) error { return nil }

// One rule says whether the target failed, that of package exit: failures beside
// an answer that the end cut off are none of the whole target, and what this
// machine lacks is not the target's.
func TestWhoFailed(t *testing.T) {
	for name, c := range map[string]struct {
		requests metric.Requests
		tally    tally
		target   bool
		own      bool
	}{
		"all failed":              {metric.Requests{Total: 3, Failed: 3}, tally{failed: 3}, true, false},
		"one was being answered":  {metric.Requests{Total: 3, Failed: 2}, tally{failed: 2}, false, false},
		"none was answered yet":   {metric.Requests{Total: 3, Unanswered: 3}, tally{}, false, false},
		"failed, or not answered": {metric.Requests{Total: 3, Failed: 2, Unanswered: 1}, tally{failed: 2}, true, false},
		"our own want":            {metric.Requests{Total: 3, Failed: 3, ByClass: map[timeline.Outcome]int64{timeline.ClientResource: 3}}, tally{failed: 3, own: 3}, true, true},
		"partly our own":          {metric.Requests{Total: 3, Failed: 3, ByClass: map[timeline.Outcome]int64{timeline.ClientResource: 2}}, tally{failed: 3, own: 2}, true, false},
	} {
		r := &runner{plan: &Plan{}, rec: newRecorder(discarding{}, false)}
		r.rec.counts[timeline.Measure] = &c.tally
		err := r.verdict(nil, &run.Run{Summary: metric.Summary{Requests: c.requests}})
		var target *TargetError
		if errors.As(err, &target) != c.target || c.target && target.Own != c.own {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A warm-up gives a server up that answers nothing at all, and not one that only had to load its model.
func TestWarmupOfASilentServer(t *testing.T) {
	silent := func(s *stream, _ body) { <-s.ctx.Done() }
	plan := Plan{Client: client.Config{IdleTimeout: 2 * time.Minute}, Load: Load{Concurrency: 1, Requests: 1}, Conditions: Conditions{Preflight: "none"}, Model: "m"}
	res := virtual(t, &fake{chat: silent}, plan, nil)
	var failed *TargetError
	if !errors.As(res.err, &failed) || res.wall > 5*time.Minute {
		t.Errorf("silent: %v after %v", res.err, res.wall)
	}
	var n atomic.Int64
	loads := func(s *stream, b body) {
		if n.Add(1) == 1 {
			silent(s, b)
		}
		echo(s, b)
	}
	if res := virtual(t, &fake{chat: loads}, plan, nil); res.err != nil || res.run.Requests.OK != 1 {
		t.Errorf("it had to load its model: %v", res.err)
	}
}

// A server that stops answering in the middle is told, be the loop closed or open; what
// the end of the load alone cut off is not.
func TestServerThatStopped(t *testing.T) {
	for name, c := range map[string]struct {
		load    Load
		answers int
		verdict string
	}{
		"closed":        {Load{Concurrency: 2, Duration: 20 * time.Second}, 8, validity.Invalid},
		"open":          {Load{Rate: 4, Duration: 20 * time.Second}, 8, validity.Invalid},
		"at the end":    {Load{Concurrency: 2, Duration: 20 * time.Second}, 38, ""},
		"the last ones": {Load{Rate: 4, Duration: 20 * time.Second}, 78, ""},
	} {
		c.load.Grace, c.load.Warmup = time.Second, Warmup{Off: true}
		f := &fake{chat: func(s *stream, _ body) {
			if s.n >= c.answers {
				<-s.ctx.Done()
				return
			}
			for range 10 {
				s.token(100 * time.Millisecond)
			}
			s.end(9, 0)
		}}
		res := virtual(t, f, Plan{Load: c.load}, nil)
		if res.err != nil {
			t.Errorf("%s: %v", name, res.err)
			continue
		}
		verdict := ""
		for _, check := range res.run.Validity.Checks {
			if check.Name == "silence" {
				verdict = check.Verdict
			}
		}
		if verdict != c.verdict {
			t.Errorf("%s: silence is %q, want %q", name, verdict, c.verdict)
		}
	}
}
