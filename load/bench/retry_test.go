package bench

import (
	"testing"
	"time"

	"tokenmeter/record/timeline"
)

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
	plan := Plan{Model: "m", Preflight: "none", Concurrency: 1, Requests: 4, Warmup: Warmup{Off: true}}
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
