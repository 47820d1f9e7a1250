package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// lingering answers in ten milliseconds, but goes on for a while with requests
// whose client hung up: whoever comes then waits.
type lingering struct {
	drain time.Duration // after a request that was cut off
	slow  time.Duration // each answer takes so much longer once something was cut off

	mu    sync.Mutex
	until time.Time
	cut   bool
	looks []time.Time
}

func (l *lingering) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodGet {
		io.WriteString(w, `{"object":"list","data":[{"id":"m","owned_by":"tests"}]}`)
		return
	}
	var body struct {
		Messages []struct{ Content string }
	}
	data, _ := io.ReadAll(req.Body)
	_ = json.Unmarshal(data, &body)
	look := strings.Contains(string(data), restPrompt)
	l.mu.Lock()
	wait := 10 * ms
	if l.cut {
		wait += l.slow
	}
	if look {
		l.looks = append(l.looks, time.Now())
		wait += max(time.Until(l.until), 0)
	} else {
		wait = 10 * time.Second // the load's own requests are long ones
	}
	l.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-req.Context().Done():
		l.mu.Lock()
		if !look {
			l.cut, l.until = true, time.Now().Add(l.drain)
		}
		l.mu.Unlock()
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"one"}}]}`+"\n\n")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`+"\n\n")
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (l *lingering) asked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.looks)
}

// probes makes runs of four streams in which each request takes ten seconds, cut
// off or, in an hour, not, and returns what was said before each and how long that took.
func (l *lingering) probes(t *testing.T, s Server, durations ...time.Duration) (says []string, busy []bool, took []time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		ln := simtest.NewPipeListener()
		server := &http.Server{Handler: l}
		go server.Serve(ln)
		defer server.Close()
		s.Variable, s.Dir = Concurrency, t.TempDir()
		s.Plan = bench.Plan{
			Client:     client.Config{BaseURL: "http://tests", API: api.OpenAIChat, Dial: ln.Dial, NoKernelStamps: true},
			Timers:     true,
			Load:       bench.Load{Grace: -1, Warmup: bench.Warmup{Off: true}},
			Content:    bench.Content{Prompt: "Write a long story."},
			Conditions: bench.Conditions{KeepGoing: true},
		}
		for i, d := range durations {
			began := time.Now()
			limit := Limit{Duration: d}
			if d == time.Hour {
				limit = Limit{Requests: 4}
			}
			p, err := s.Probe(context.Background(), 4, limit, func(Seen) bool { return true })
			if err != nil {
				t.Fatalf("probe %d: %v", i, err)
			}
			says, busy = append(says, p.Unsettled), append(busy, p.Busy)
			took = append(took, time.Since(began)-d)
			if d < 10*time.Second {
				time.Sleep(time.Millisecond) // the server hears of the hang-up
			}
		}
	})
	return says, busy, took
}

// After a run that had all its answers nothing is left to wait for.
func TestNoWaitWithoutCutRequests(t *testing.T) {
	l := &lingering{drain: time.Hour}
	says, _, _ := l.probes(t, Server{}, time.Hour, time.Hour)
	if l.asked() != restRequests || says[1] != "" {
		t.Errorf("%d looks, %q", l.asked(), says)
	}
}

// A server that stops when its client hangs up is at rest at once.
func TestNoWaitWhereHangingUpStops(t *testing.T) {
	l := &lingering{}
	says, busy, took := l.probes(t, Server{}, 2*time.Second, 2*time.Second, 2*time.Second)
	for i := 1; i < 3; i++ {
		if says[i] != "" || busy[i] || took[i] > time.Second {
			t.Errorf("probe %d: %q after %v", i, says[i], took[i])
		}
	}
	if n := l.asked(); n != restRequests+2*lookRequests {
		t.Errorf("%d looks", n)
	}
}

// A server that goes on is waited for, with few looks, and then it is at rest.
func TestWaitsForAServerThatGoesOn(t *testing.T) {
	l := &lingering{drain: 20 * time.Second}
	says, busy, took := l.probes(t, Server{}, 2*time.Second, 2*time.Second)
	if says[1] != "" || busy[1] || took[1] < 19*time.Second || took[1] > 30*time.Second {
		t.Errorf("%q after %v", says[1], took[1])
	}
	if n := l.asked(); n > restRequests+8*lookRequests {
		t.Errorf("%d looks", n)
	}
}

// The wait is bounded, for one probe and for all together.
func TestWaitIsBounded(t *testing.T) {
	l := &lingering{drain: time.Hour}
	s := Server{SettleTime: 10 * time.Second, SettleTotal: 15 * time.Second}
	says, busy, took := l.probes(t, s, time.Second, time.Second, time.Second, time.Second, time.Second)
	for i, most := range []time.Duration{0, 10 * time.Second, 5 * time.Second, time.Second, time.Second} {
		if i > 0 && (!busy[i] || !strings.Contains(says[i], "not at rest") || took[i] > most+time.Second) {
			t.Errorf("probe %d: %q, busy %v, after %v", i, says[i], busy[i], took[i])
		}
	}
}

// A machine that has become slower is told once and not waited for again.
func TestRestMayMove(t *testing.T) {
	l := &lingering{slow: 40 * ms}
	says, busy, took := l.probes(t, Server{SettleTime: 10 * time.Second}, time.Second, time.Second, time.Second)
	if !strings.Contains(says[1], "has become slower: 50 ms") || busy[1] || took[1] > 11*time.Second {
		t.Errorf("%q, busy %v, after %v", says[1], busy[1], took[1])
	}
	if says[2] != "" || took[2] > time.Second {
		t.Errorf("then %q after %v", says[2], took[2])
	}
}

func TestRest(t *testing.T) {
	var r rest
	if r.learn([]float64{80, 21, 20, 22, 24}); r.ms != 22 || r.worst != 24 || r.limit() != 43 {
		t.Errorf("%+v, limit %g", r, r.limit())
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		times          []float64
		reached, moved bool
	}{
		{[]float64{300, 30, 30}, true, false},
		{[]float64{300, 30, 300}, false, false},
		{[]float64{30, 300, 30}, true, false}, // a hiccup of the machine
		{[]float64{inf, inf, inf}, false, false},
		{[]float64{60, 61, 59, 60, 58, 62, 60, 61, 59, 60, 63, 60}, false, true},
		{[]float64{90, 80, 75, 80, 70, 70, 60, 55, 52, 50, 50, 48}, false, false},             // a queue is worked off
		{[]float64{900, 910, 905, 900, 890, 900, 905, 900, 910, 900, 900, 900}, false, false}, // something long is still at work
	} {
		if got := r.reached(c.times); got != c.reached {
			t.Errorf("%v: reached %v", c.times, got)
		}
		if got := r.moved(c.times); got != c.moved {
			t.Errorf("%v: moved %v", c.times, got)
		}
	}
	r.learn(nil)
	if !r.reached([]float64{inf, inf}) { // it answers no such request: nothing can be told
		t.Error("a server that answers no look is waited for")
	}
}
