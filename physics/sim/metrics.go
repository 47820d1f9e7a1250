package sim

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// histogram is a Prometheus histogram of seconds or counts.
type histogram struct {
	bounds []float64
	counts []uint64 // one more than bounds
	sum    float64
}

func newHistogram(bounds []float64) *histogram {
	return &histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

func (h *histogram) observe(v float64) {
	i, _ := slices.BinarySearch(h.bounds, v)
	h.counts[i]++
	h.sum += v
}

// The buckets vLLM uses.
var (
	ttftBounds    = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tokenBounds   = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBounds = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	countBounds   = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}
)

// metrics counts for /metrics.
type metrics struct {
	mu sync.Mutex

	promptTokens, cachedTokens, outputTokens uint64
	finished                                 map[string]uint64 // by reason
	promptSeconds, decodeSeconds             float64
	longest                                  int // prompt and output of one request

	ttft, itl, tpot, e2e, queue, prefill, decode, inference, prompts, outputs *histogram
}

func newMetrics() *metrics {
	return &metrics{
		finished: map[string]uint64{"stop": 0, "length": 0, "abort": 0, "error": 0},
		ttft:     newHistogram(ttftBounds), itl: newHistogram(tokenBounds), tpot: newHistogram(tokenBounds),
		e2e: newHistogram(requestBounds), queue: newHistogram(requestBounds), prefill: newHistogram(requestBounds),
		decode: newHistogram(requestBounds), inference: newHistogram(requestBounds),
		prompts: newHistogram(countBounds), outputs: newHistogram(countBounds),
	}
}

// tokens counts k more tokens of a reply, on the server's own times.
func (m *metrics) tokens(r *reply, at, before int64, k int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outputTokens += uint64(k)
	if before < 0 {
		m.promptTokens += uint64(r.promptTokens - r.cachedTokens)
		m.cachedTokens += uint64(r.cachedTokens)
		m.ttft.observe(sec(at - r.truth.ReceivedNS))
		m.promptSeconds += sec(r.truth.PrefillNS)
		return
	}
	m.itl.observe(sec(at - before))
	m.decodeSeconds += sec(at - before)
}

// done counts a request that is over. first and last are the model's times.
func (m *metrics) done(r *reply, reason string, first, last int64, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finished[reason]++
	m.longest = max(m.longest, r.promptTokens+n)
	if first < 0 {
		return
	}
	t := r.truth
	m.e2e.observe(sec(last - t.ReceivedNS))
	m.queue.observe(sec(t.QueueNS))
	m.prefill.observe(sec(t.PrefillNS))
	m.decode.observe(sec(last - first))
	m.inference.observe(sec(last - t.StartNS))
	m.prompts.observe(float64(r.promptTokens))
	m.outputs.observe(float64(n))
	if n > 1 {
		m.tpot.observe(sec(last-first) / float64(n-1))
	}
}

func sec(ns int64) float64 { return float64(ns) / 1e9 }

// page writes metrics in Prometheus' text form.
type page struct {
	b      []byte
	labels string // without braces
}

func (p *page) head(name, kind, help string) {
	p.b = fmt.Appendf(p.b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

func (p *page) sample(name, more string, v float64) {
	labels := p.labels + more
	if p.labels == "" && more != "" {
		labels = more[1:]
	}
	if labels != "" {
		labels = "{" + labels + "}"
	}
	p.b = fmt.Appendf(p.b, "%s%s %s\n", name, labels, strconv.FormatFloat(v, 'g', -1, 64))
}

func (p *page) single(kind, name, help string, v float64) {
	p.head(name, kind, help)
	p.sample(name, "", v)
}

func (p *page) histogram(name, help string, h *histogram) {
	p.head(name, "histogram", help)
	n := uint64(0)
	for i, c := range h.counts {
		n += c
		le := "+Inf"
		if i < len(h.bounds) {
			le = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
		}
		p.sample(name+"_bucket", `,le="`+le+`"`, float64(n))
	}
	p.sample(name+"_sum", "", h.sum)
	p.sample(name+"_count", "", float64(n))
}
