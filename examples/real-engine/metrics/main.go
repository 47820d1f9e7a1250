// Command metrics holds runs of a llama-server against the server's own metrics
// page, which bench read meanwhile (llama-server needs --metrics). It exits 1 when
// a figure is further off than allowed.
//
//	go run ./examples/real-engine/metrics [-within 0.05] RUN…
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

func main() {
	within := flag.Float64("within", 0.05, "largest relative difference")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	failed := false
	for _, dir := range flag.Args() {
		if err := check(dir, *within); err != nil {
			fmt.Fprintln(os.Stderr, "metrics:", err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// span is a stretch of the run's clock, in µs.
type span struct{ from, to int64 }

// sums are what the records of the measured requests add up to.
type sums struct {
	n                      int
	input, output          int64
	decodeUS, toldUS       float64 // E2E − TTFT; and what the replies say
	prefillMS              float64
	waits, prefills, lives []span
	alive                  float64 // requests at the server, mean over the page's readings
}

func check(dir string, within float64) error {
	f, err := run.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	r := f.Run()
	if r.ServerMetrics == nil || r.ServerMetrics.Engine != "llamacpp" {
		return fmt.Errorf("%s: nothing was read from a llama-server's metrics page", dir)
	}
	var s sums
	for tl, err := range f.Timelines() {
		if err != nil {
			return err
		}
		if tl.Phase == timeline.Measure && tl.Outcome == timeline.OK {
			s.add(tl)
		}
	}
	if s.n == 0 {
		return fmt.Errorf("%s: no request was answered, so there is nothing to hold against the page", dir)
	}
	fmt.Printf("%s: %d requests\n", dir, s.n)
	bad := 0
	hold := func(what string, ours, theirs float64) {
		off := math.Abs(ours-theirs) / max(theirs, 1e-9)
		verdict := "ok"
		if off > within {
			verdict = "OFF"
			bad++
		}
		fmt.Printf("  %-46s %10.3f  %10.3f  %+6.2f %%  %s\n", what, ours, theirs, 100*(ours/max(theirs, 1e-9)-1), verdict)
	}
	page := r.ServerMetrics.Counters
	fmt.Printf("  %-46s %10s  %10s\n", "", "records", "/metrics")
	hold("prompt tokens", float64(s.input), page["prompt_tokens"].Total)
	hold("output tokens", float64(s.output), page["output_tokens"].Total)
	hold("decode, s: E2E − TTFT", s.decodeUS/1e6, page["decode_s"].Total)
	hold("decode, s: as the replies say", s.toldUS/1e6, page["decode_s"].Total)
	// The page counts the time in which prompts were computed, once for all that
	// shared it; a reply's prefill is its own, with what else was in the steps.
	hold("prompts, s: time in which any was computed", union(s.prefills)/1e6, page["prompt_s"].Total)
	if r.ServerMetrics.Gauges["running"].Max <= 1 {
		hold("prefill, s: as the replies say", s.prefillMS/1e3, page["prompt_s"].Total)
	}
	queue, running, deferred := s.atReadings(f.ServerSamples(), r.ServerMetrics)
	hold("requests that run, at the page's readings", s.alive-queue, running)
	if deferred > 0.5 {
		// requests_deferred leaves out what the server's loop has not looked at since
		// its last step, or has just given a slot.
		hold("requests in the queue: at the server − running", queue, s.alive-running)
		fmt.Printf("  %-46s %10s  %10.3f\n", "of them deferred, as the page says", "", deferred)
	}
	if d := r.Decomposition; d != nil {
		fmt.Printf("  mean TTFT: queue %.1f, prefill %.1f, network and the rest %.1f ms\n", d.QueueMS.Or(0), d.PrefillMS.Or(0), d.NetworkMS.Or(0))
	}
	if bad > 0 {
		return fmt.Errorf("%s: %d figures are off by more than %.0f %%", dir, bad, 100*within)
	}
	return nil
}

func (s *sums) add(tl *timeline.Timeline) {
	v := metric.Of(tl)
	ttft, ok := v.TTFTMS.Get()
	e2e, ok2 := v.E2EMS.Get()
	if !ok || !ok2 {
		return
	}
	s.n++
	s.input += tl.Usage.Input.Or(0)
	s.output += tl.Usage.Output.Or(0)
	s.decodeUS += 1e3 * (e2e - ttft)
	s.toldUS += 1e3 * tl.Server["decode_ms"]
	s.prefillMS += tl.Server["prefill_ms"]
	first := tl.DueUS + int64(1e3*ttft)
	s.prefills = append(s.prefills, span{first - int64(1e3*tl.Server["prefill_ms"]), first})
	if sent, ok := tl.SentUS.Get(); ok {
		at := tl.DueUS + sent
		s.waits = append(s.waits, span{at, at + int64(1e3*tl.Server["queue_ms"])})
		s.lives = append(s.lives, span{at, tl.DueUS + int64(1e3*e2e)})
	}
}

// union is the length of time that any of the spans covers.
func union(spans []span) (us float64) {
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	end := int64(math.MinInt64)
	for _, s := range spans {
		us += float64(max(s.to-max(s.from, end), 0))
		end = max(end, s.to)
	}
	return us
}

// atReadings are means over the moments when the page was read: requests in the
// queue by the records, and what the page says of those that run and wait.
func (s *sums) atReadings(samples []metric.ServerSample, m *metric.ServerMetrics) (queue, running, deferred float64) {
	n := 0.0
	from, to := int64(1e6*m.FromS.Or(0)), int64(1e6*m.ToS.Or(0))
	s.alive = 0
	for _, x := range samples {
		switch {
		case x.AtUS < from || x.AtUS > to:
		case x.Name == "waiting":
			deferred += x.Value
		case x.Name == "running":
			n++
			running += x.Value
			queue += holding(s.waits, x.AtUS)
			s.alive += holding(s.lives, x.AtUS)
		}
	}
	if n == 0 {
		return 0, 0, 0
	}
	s.alive /= n
	return queue / n, running / n, deferred / n
}

// holding is how many of the spans hold a moment.
func holding(spans []span, us int64) (n float64) {
	for _, s := range spans {
		if s.from <= us && us < s.to {
			n++
		}
	}
	return n
}
