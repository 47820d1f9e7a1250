package bench

import (
	"testing"
	"time"

	"tokenmeter/record/timeline"
)

// The budget bounds the retries of all requests together; what it turns away is a
// failure like any other.
func TestRetryBudget(t *testing.T) {
	for _, c := range []struct {
		budget  float64
		retried int64
	}{{0, 100}, {0.2, 20}, {0.05, 5}, {1, 100}} {
		f := &fake{chat: func(s *stream, _ body) { s.fail(503, "busy") }}
		plan := Plan{Model: "m", Load: Load{Concurrency: 1, Requests: 100, Warmup: Warmup{Off: true}}, Conditions: Conditions{Preflight: "none"}}
		plan.Client.Retries, plan.Client.RetryBudget = 1, c.budget
		res := virtual(t, f, plan, nil)
		if res.run == nil || res.run.Requests.Failed != 100 || res.run.Requests.Attempts != 100+c.retried {
			t.Errorf("budget %v: %+v, %v", c.budget, res.run.Requests, res.err)
		}
	}
}

// A wait to ask again that the run's end cuts off is no second try.
func TestCutWhileWaitingToRetry(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.w.Header().Set("Retry-After", "60")
		s.fail(429, "slow down")
	}}
	plan := Plan{Model: "m", Load: Load{Concurrency: 3, Duration: 5 * time.Second, Grace: time.Second, Warmup: Warmup{Off: true}}, Conditions: Conditions{Preflight: "none"}}
	plan.Client.Retries = 2
	res := virtual(t, f, plan, nil)
	for _, rec := range res.records {
		if rec.Attempts != 1 || rec.Outcome != timeline.CancelledRunEnd {
			t.Errorf("%s after %d attempts", rec.Outcome, rec.Attempts)
		}
	}
	if res.run.Requests.Attempts != int64(len(f.bodies)) || len(res.records) != 3 {
		t.Errorf("%d sent, %+v", len(f.bodies), res.run.Requests)
	}
}

// B46: tries that were repeated after 429 and 503 are counted in the summary
// and warned of, and their wait is part of the latency.
func TestB46AttemptsInTheSummary(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		if s.n%2 == 0 { // every first try
			s.w.Header().Set("Retry-After", "2")
			s.fail(map[bool]int{true: 429, false: 503}[s.n%4 == 0], "slow down")
			return
		}
		s.token(150 * time.Millisecond)
		s.end(10, 0)
	}}
	plan := Plan{Model: "m", Load: Load{Concurrency: 1, Requests: 4, Warmup: Warmup{Off: true}}, Conditions: Conditions{Preflight: "none"}}
	plan.Client.Retries = 1
	res := virtual(t, f, plan, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	q := res.run.Requests
	if q.OK != 4 || q.Failed != 0 || q.Attempts != 8 || !warned(res.run, "retries") {
		t.Errorf("%d ok, %d failed, %d attempts, warnings %v", q.OK, q.Failed, q.Attempts, res.run.Warnings)
	}
	for _, r := range res.records {
		if r.Attempts != 2 || r.RetryAfterMS != timeline.Some(2000.0) {
			t.Errorf("%d attempts, retry after %v", r.Attempts, r.RetryAfterMS)
		}
		near(t, "ttft", r.TTFTMS.Or(0), 2150)
	}

	// Without --retries the first answer counts: as failed, with the hint.
	f.bodies = nil
	plan.Client.Retries = 0
	res = virtual(t, f, plan, nil)
	q = res.run.Requests
	if q.OK != 2 || q.ByClass[timeline.HTTP429] != 1 || q.ByClass[timeline.HTTP5xx] != 1 || q.Attempts != 4 || warned(res.run, "retries") {
		t.Errorf("%+v", q)
	}
	for _, r := range res.records {
		if r.Outcome == timeline.OK != !r.RetryAfterMS.OK() {
			t.Errorf("%s: retry after %v", r.Outcome, r.RetryAfterMS)
		}
	}
}
