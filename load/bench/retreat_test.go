package bench

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"tokenmeter/record/timeline"
)

// A server that is away for three of six seconds is asked now and then, not
// as fast as it can refuse, and measured again once it is back.
func TestClosedLoopRetreatsFromNobody(t *testing.T) {
	var once sync.Once
	var start time.Time
	f := &fake{chat: func(s *stream, _ body) {
		once.Do(func() { start = time.Now() })
		if up := time.Since(start); up >= time.Second && up < 4*time.Second {
			c, _, err := s.w.(http.Hijacker).Hijack()
			if err == nil {
				c.Close()
			}
			return
		}
		s.token(100 * time.Millisecond)
		s.end(5, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 2, Duration: 6 * time.Second, Warmup: Warmup{Off: true}}}, nil)
	ok, failed, late := 0, 0, 0
	for _, rec := range res.records {
		switch {
		case rec.Outcome != timeline.OK:
			failed++
		case rec.DueS > 5:
			late++
			ok++
		default:
			ok++
		}
	}
	// 10, 20, 40 … 640 ms and then seconds: 7 tries within 1.27 s, 2 more within the 3 s.
	if res.err != nil || failed < 2*8 || failed > 2*11 || late < 10 || ok < 2*19 {
		t.Errorf("%d ok (%d after 5 s), %d failed, %v", ok, late, failed, res.err)
	}
}

func TestRetreat(t *testing.T) {
	for lost, want := range map[int]time.Duration{0: 0, 1: 10 * time.Millisecond, 2: 20 * time.Millisecond,
		7: 640 * time.Millisecond, 8: time.Second, 1 << 40: time.Second} {
		if got := retreat(lost); got != want {
			t.Errorf("retreat(%d) = %v, want %v", lost, got, want)
		}
	}
}
