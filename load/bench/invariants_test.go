package bench

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/api/engines"
	"tokenmeter/wire/client"
)

// Whatever the plan, the server and the moment of an interruption: every
// request is recorded once, none before it was due, never more in flight than
// allowed, and the summary counts what the records hold.
func TestInvariants(t *testing.T) {
	for seed := range uint64(40) {
		src := random.New(seed)
		pick := func(n int64) int64 { return src.Between(0, n-1) }
		plan := Plan{Load: Load{Workers: int(1 + pick(3)), Grace: time.Duration(1+pick(5)) * time.Second}, Content: Content{Seed: seed}, Conditions: Conditions{KeepGoing: true}}
		if pick(2) == 0 {
			plan.Rate = float64(1 + pick(40))
			plan.Arrival = []string{"constant", "poisson", "gamma"}[pick(3)]
			plan.Concurrency = int(pick(4)) * 2
		} else {
			plan.Concurrency = int(1 + pick(12))
		}
		if pick(2) == 0 {
			plan.Requests = int(1 + pick(60))
		}
		if plan.Requests == 0 || pick(2) == 0 {
			plan.Duration = time.Duration(1+pick(20)) * time.Second
		}
		plan.Warmup.Requests = int(pick(4))
		plan.Warmup.Off = plan.Warmup.Requests == 0
		interrupt := time.Duration(0)
		if pick(4) == 0 {
			interrupt = time.Duration(pick(8000)) * time.Millisecond
		}
		fates := random.New(seed, 1)
		f := &fake{}
		f.chat = func(s *stream, b body) {
			f.mu.Lock()
			fate, pause := fates.Between(0, 19), time.Duration(fates.Between(0, 900))*time.Millisecond
			f.mu.Unlock()
			switch fate {
			case 0:
				s.fail(500, "broken")
			case 1:
				s.token(pause)
				panic(http.ErrAbortHandler)
			case 2:
				sleep(s.ctx, pause)
				s.fail(429, "slow down")
			default:
				for range 3 {
					s.token(pause)
				}
				s.end(wordsIn(b), 0)
			}
		}
		res := virtual(t, f, plan, func(cancel func()) {
			if interrupt > 0 {
				time.AfterFunc(interrupt, cancel)
			}
		})
		if res.run == nil {
			if interrupt == 0 {
				t.Errorf("seed %d: %v", seed, res.err)
			}
			continue
		}
		checkInvariants(t, seed, plan, interrupt, f, &res)
	}
}

func checkInvariants(t *testing.T, seed uint64, plan Plan, interrupt time.Duration, f *fake, res *result) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("seed %d: "+format, append([]any{seed}, args...)...)
	}
	all := append(slices.Clone(res.warm), res.records...)
	var ordinals []int64
	sent, ok, failed := 0, int64(0), int64(0)
	for _, rec := range all {
		ordinals = append(ordinals, rec.Request)
		if rec.StartS < rec.DueS || rec.DelayMS < 0 {
			fail("request %d started before it was due", rec.Request)
		}
		if rec.SentMS.OK() {
			sent++
		}
		if rec.Phase == timeline.Measure && rec.Outcome == timeline.OK {
			ok++
		}
		if rec.Phase == timeline.Measure && rec.Outcome.Failed() {
			failed++
		}
		if (rec.Outcome == timeline.CancelledUser) && interrupt == 0 {
			fail("request %d: cancelled by nobody", rec.Request)
		}
	}
	slices.Sort(ordinals)
	if n := len(slices.Compact(ordinals)); n != len(all) {
		fail("%d records, %d ordinals", len(all), n)
	}
	// A request may be cancelled before it is written, never the other way round.
	if len(f.bodies) > len(all) || len(f.bodies) < sent-1 {
		fail("%d records, %d of them sent; the server saw %d", len(all), sent, len(f.bodies))
	}
	if plan.Concurrency > 0 && f.most > plan.Concurrency {
		fail("%d in flight, %d allowed", f.most, plan.Concurrency)
	}
	if r := res.run.Requests; r.OK != ok || r.Failed != failed || r.Warmup != int64(len(res.warm)) {
		fail("%d ok, %d failed in the records; summary %+v", ok, failed, r)
	}
	if plan.Requests > 0 && len(res.records) > plan.Requests {
		fail("%d of %d requests", len(res.records), plan.Requests)
	}
	if interrupt == 0 && plan.Requests > 0 && plan.Duration == 0 && len(res.records) != plan.Requests {
		fail("%d of %d requests", len(res.records), plan.Requests)
	}
	if interrupt > 0 && res.wall > interrupt && res.err != ErrInterrupted {
		fail("interrupted after %v, ended after %v with %v", interrupt, res.wall, res.err)
	}
	if res.run.Partial != (res.err == ErrInterrupted) {
		fail("partial %v with %v", res.run.Partial, res.err)
	}
	if res.run.Client.MaxInFlight < 0 || plan.Concurrency > 0 && res.run.Client.MaxInFlight > int64(plan.Concurrency) {
		fail("at most %d in flight here", res.run.Client.MaxInFlight)
	}
}

func FuzzLookups(f *testing.F) {
	f.Add(200, `{"data":[{"id":"a","owned_by":"vllm"}]}`)
	f.Add(401, `{"error":{"message":"no"}}`)
	f.Add(500, `{"detail":["x"],"version":"1"}`)
	f.Fuzz(func(t *testing.T, status int, text string) {
		a := engines.Answer{Status: status, Body: []byte(text), Header: http.Header{}}
		if w := words(a); len(w) > 210 {
			t.Errorf("%d bytes of words", len(w))
		}
		r := &runner{plan: &Plan{Client: client.Config{API: api.OpenAIChat}}, log: &logger{}}
		r.accessible(a)
		engine(context.Background(), func(context.Context, string) (engines.Answer, error) { return a, nil }, a)
	})
}
