package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/load/bench"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

const (
	// A look at a server is a few short requests, one at a time: how long the
	// first token takes then is time in a queue, whatever the load's own prompts are.
	restPrompt   = "Count from one to three."
	restTokens   = "8"
	restRequests = 5 // tell what it is like before any load
	lookRequests = 3
	lookPrefix   = run.LookPrefix // of the folders of looks, which are removed after them

	settleTime  = time.Minute
	shortestLet = time.Second // a wait that makes sense
	firstPause  = 100 * time.Millisecond
	longPause   = 5 * time.Second

	// otherRest is how much slower a server may have become at rest; one that is
	// slower still is busy.
	otherRest = 4
)

// rest is what is known of a server of which nothing is asked.
type rest struct {
	known bool
	ms    float64       // to the first token; +Inf: it answers no short request
	worst float64       // the slowest of those that told it
	left  bool          // requests were cut off, with which the server may go on
	spent time.Duration // waiting, in all
}

// learn takes the times of a server at rest.
func (r *rest) learn(times []float64) {
	sorted := slices.Sorted(slices.Values(times))
	r.known, r.ms, r.worst = true, math.Inf(1), math.Inf(1)
	if n := len(sorted); n > 0 {
		// The slowest may have opened the connection.
		r.ms, r.worst = sorted[n/2], sorted[max(n-2, n/2)]
	}
}

// answered reports whether the server answered before any load.
func (r *rest) answered() bool { return r.known && !math.IsInf(r.ms, 1) }

// limit is what counts as being at rest.
func (r *rest) limit() float64 { return max(1.5*r.ms+10, r.worst) }

// reached reports whether two of the last three answers were as quick as at rest.
func (r *rest) reached(times []float64) bool {
	quick := 0
	for _, t := range times[max(len(times)-lookRequests, 0):] {
		if t <= r.limit() {
			quick++
		}
	}
	return quick >= 2
}

// moved reports whether the answers are slower than at rest, but no less so in
// the end: then it is not a queue that is worked off, the rest is another one.
func (r *rest) moved(times []float64) bool {
	n := len(times) / 2
	if n < 2*lookRequests {
		return false
	}
	a, b := middle(times[:n]), middle(times[n:])
	return b < otherRest*r.limit() && b > 0.8*a && b < 1.25*a
}

func middle(times []float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// after notes what a run left behind. A server that answered everything it was
// sent has nothing more to do.
func (r *rest) after(done *run.Run) {
	c := &done.Requests
	r.left = r.left || c.Cooldown > 0
	for _, class := range []timeline.Outcome{timeline.CancelledRunEnd, timeline.CancelledUser, timeline.TimeoutTTFT, timeline.TimeoutIdle, timeline.TimeoutTotal} {
		r.left = r.left || c.ByClass[class] > 0
	}
}

// settle waits until the server is at rest. Before any load it only learns what
// that is; later it looks where a run has cut requests off: a server that does
// not notice when its client hangs up goes on with them. busy: it still does.
func (s *Server) settle(ctx context.Context) (says string, busy bool, err error) {
	switch {
	case s.SettleTime < 0, s.rest.known && !s.rest.left:
		return "", false, nil
	case s.rest.known:
		return s.await(ctx)
	}
	times, err := s.look(ctx, restRequests, cmp.Or(s.SettleTime, settleTime))
	if err == nil {
		s.rest.learn(times)
	}
	return "", false, err
}

// await looks at the server at longer and longer intervals, so that the looks
// themselves are no load.
func (s *Server) await(ctx context.Context) (says string, busy bool, err error) {
	began, most := time.Now(), cmp.Or(s.SettleTime, settleTime)
	if s.SettleTotal > 0 {
		most = max(min(most, s.SettleTotal-s.rest.spent), shortestLet)
	}
	defer func() { s.rest.spent += time.Since(began) }()
	var times []float64
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		more, err := s.look(ctx, lookRequests, most-time.Since(began))
		if err != nil {
			return "", false, err
		}
		times = append(times, more...)
		if s.rest.reached(times) {
			s.rest.left = false
			return "", false, nil
		}
		if most-time.Since(began) <= pause {
			break
		}
		if clock.Sleep(ctx, pause) != nil {
			return "", false, bench.ErrInterrupted
		}
	}
	return s.restless(times, time.Since(began))
}

// breathe waits a little after a probe at which the client was late, or that was turned
// away: what keeps the machine busy may soon be over, and short probes would all meet it.
func (s *Server) breathe(ctx context.Context) error {
	if s.lost == 0 {
		return nil
	}
	most := longPause
	if s.SettleTotal > 0 {
		most = min(most, s.SettleTotal-s.rest.spent)
	}
	pause := min(time.Second<<min(s.lost-1, 4), most)
	if pause <= 0 {
		return nil
	}
	if s.rest.spent += pause; clock.Sleep(ctx, pause) != nil {
		return bench.ErrInterrupted
	}
	return nil
}

// restless says what a server is like that did not come to rest.
func (s *Server) restless(times []float64, waited time.Duration) (says string, busy bool, err error) {
	if s.rest.moved(times) {
		before := s.rest.ms
		s.rest.learn(times[len(times)/2:])
		s.rest.left = false
		return fmt.Sprintf("the server at rest has become slower: %.0f ms to the first token of a short request, %.0f ms before any load", s.rest.ms, before), false, nil
	}
	says = fmt.Sprintf("the server was not at rest after %v", waited.Round(time.Second))
	if n := len(times); n > 0 && !math.IsInf(times[n-1], 0) {
		says += fmt.Sprintf(": %.0f ms to the first token of a short request, %.0f ms before any load", times[n-1], s.rest.ms)
	}
	return says, true, nil
}

// look sends short requests one after the other and returns the milliseconds to
// the first token of each; to one that did not come, infinitely many.
func (s *Server) look(ctx context.Context, n int, within time.Duration) (times []float64, err error) {
	dir, err := os.MkdirTemp(s.Dir, lookPrefix)
	if err != nil {
		return nil, &run.WriteError{Path: s.Dir, Err: err}
	}
	defer os.RemoveAll(dir)
	of := &s.Plan
	p := bench.Plan{
		Client:     of.Client,
		Model:      cmp.Or(of.Model, s.model),
		Version:    of.Version,
		Timers:     of.Timers,
		Load:       bench.Load{Concurrency: 1, Requests: n, Duration: max(within, time.Millisecond), Grace: -1, Warmup: bench.Warmup{Off: true}},
		Content:    bench.Content{Extra: of.Extra, NoStream: of.NoStream, Prompt: restPrompt, OutputTokens: restTokens, Seed: of.Seed},
		Conditions: bench.Conditions{Preflight: of.Preflight, KeepGoing: true, WaitReady: of.WaitReady},
		Output:     bench.Output{Out: filepath.Join(dir, "run")},
	}
	if of.Client.API != nil && of.Client.API.Product().Lengthless() {
		p.OutputTokens = ""
	}
	if of.Client.API != nil && of.Client.API.Product() == timeline.Transcript {
		p.Prompt, p.Workload = "", of.Workload
	}
	p.Each = func(e bench.Ended) bool {
		v := metric.ValuesOf(e.Timeline)
		times = append(times, v.TTFTMS.Or(v.E2EMS.Or(math.Inf(1))))
		return true
	}
	_, err = bench.Run(ctx, p)
	var target *bench.TargetError
	if errors.As(err, &target) && (s.alive || !unreachable[target.Class]) {
		err = nil // the load's own requests will show what is wrong
	}
	return times, err
}

// unreachable are the failures after which another request is no use.
var unreachable = map[timeline.Outcome]bool{
	timeline.ConnectRefused: true, timeline.DNS: true, timeline.TLS: true, timeline.TimeoutConnect: true,
}
