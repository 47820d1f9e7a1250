package bench

import (
	"testing"
	"time"

	"tokenmeter/record/timeline"
)

// A caller that has seen enough ends the run; what it saw is in order of the
// schedule by index, and the run is whole.
func TestEachEndsTheRun(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(time.Duration(200-10*(s.n%10)) * time.Millisecond)
		s.end(10, 0)
	}}
	var seen []int64
	res := virtual(t, f, Plan{
		Load:    Load{Rate: 50, Requests: 1000, Warmup: Warmup{Requests: 3}},
		Content: Content{OutputTokens: "1"},
		Output: Output{Each: func(e Ended) bool {
			seen = append(seen, e.Index)
			if want := e.Index * 20_000; e.DueUS < want-1 || e.DueUS > want+1 {
				t.Errorf("request %d was due at %d µs", e.Index, e.DueUS)
			}
			return len(seen) < 40
		}},
	}, nil)
	if res.err != nil || res.run.Partial {
		t.Fatalf("%v, partial %v", res.err, res.run.Partial)
	}
	if len(seen) != 40 || res.run.Requests.OK != 40 {
		t.Errorf("saw %d, %d ok", len(seen), res.run.Requests.OK)
	}
	if res.run.Requests.ByClass[timeline.CancelledRunEnd] == 0 {
		t.Errorf("nothing was cut off: %+v", res.run.Requests)
	}
}
