// Command metrics holds runs of a llama-server or of vLLM against the server's own
// metrics page, which bench read meanwhile (llama-server needs --metrics). It exits 1
// when a figure is further off than allowed.
//
//	go run ./examples/real-engine/metrics [-within 0.05] [-places 4] RUN…
package main

import (
	"flag"
	"fmt"
	"math"
	"os"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

func main() {
	within := flag.Float64("within", 0.05, "largest relative difference")
	places := flag.Int("places", 4, "how many requests the server computes at once")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	failed := false
	for _, dir := range flag.Args() {
		if err := check(dir, *within, *places); err != nil {
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

func check(dir string, within float64, places int) error {
	f, err := run.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	r := f.Run()
	if r.ServerMetrics == nil {
		return fmt.Errorf("%s: no metrics page was read", dir)
	}
	var against func(*holder, *run.Run, *sums, []metric.ServerSample)
	switch r.ServerMetrics.Engine {
	case "llamacpp":
		against = llamacpp
	case "vllm":
		against = vllm
	default:
		return fmt.Errorf("%s: the page is of %q, and only those of llama-server and vLLM are known here", dir, r.ServerMetrics.Engine)
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
	fmt.Printf("%s: %d requests\n  %-52s %10s  %10s\n", dir, s.n, "", "records", "/metrics")
	h := holder{within: within, places: places}
	against(&h, &r, &s, f.ServerSamples())
	if d := r.Decomposition; d != nil {
		fmt.Printf("  mean TTFT: queue %.2f, prefill %.1f, else in the server %.1f, network and the rest %.1f ms\n",
			d.QueueMS.Or(0), d.PrefillMS.Or(0), d.ServerRestMS.Or(0), d.NetworkMS.Or(0))
	}
	if h.off > 0 {
		return fmt.Errorf("%s: %d figures are off by more than %.0f %%", dir, h.off, 100*within)
	}
	return nil
}

// holder prints figures beside those of the page, and counts which are too far off.
type holder struct {
	within float64 // largest relative difference
	places int     // requests that the server computes at once
	off    int
}

func (h *holder) hold(what string, ours, theirs float64) {
	verdict := "ok"
	if math.Abs(ours-theirs) > h.within*max(theirs, 1e-9) {
		verdict = "OFF"
		h.off++
	}
	fmt.Printf("  %-52s %10.3f  %10.3f  %+6.2f %%  %s\n", what, ours, theirs, 100*(ours/max(theirs, 1e-9)-1), verdict)
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
