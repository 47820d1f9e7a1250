// Package prometheus shows the table of package telemetry as a /metrics page,
// with classic and native histograms. Counters are counted before Done returns
// and are exact; distributions are filled by a goroutine of their own.
package prometheus

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tokenmeter/record/objective"
	"tokenmeter/service/telemetry"
	"tokenmeter/service/traffic"
)

// Options are what the page is made from.
type Options struct {
	// State hands out what is not read off finished requests; nil: nothing.
	State telemetry.State
	// Models is how many distinct models may be labels; 0: 100.
	Models int
	// NoNative leaves native histograms out.
	NoNative bool
	// NoFine leaves the gaps between tokens out.
	NoFine bool
	// Hold is how long a new counter of an objective is shown as 0, from the
	// first page that has it on: longer than the time between scrapes. 0: not
	// at all, and rules lose what its first page shows.
	Hold time.Duration
	// Shown remembers over restarts which counters were shown; nil: nothing does.
	Shown Shown
	// Now is the time; nil: time.Now.
	Now func() time.Time
	// Queue is how many finished requests may wait for their distributions; 0:
	// telemetry.QueueSize.
	Queue int
}

// Exporter is a sink and a page.
type Exporter struct {
	opt      Options
	limit    *telemetry.Limit
	registry *prometheus.Registry
	births   births
	readers  *readers
	queue    *telemetry.Queue

	mu         sync.RWMutex
	edges      [][]float64 // by the metric's place
	counters   []*prometheus.CounterVec
	histograms []*prometheus.HistogramVec
	series     map[telemetry.Set]*series
}

// series are the metrics of one set of labels, found once.
type series struct {
	counters []prometheus.Counter // by the metric's place; nil where the metric has a label of its own
	figures  []prometheus.Observer
	mu       sync.RWMutex
	own      map[own]prometheus.Counter
}

type own struct {
	at    int
	value string
}

// New makes an exporter whose buckets have the thresholds of objectives as
// edges. It must be closed.
func New(opt Options, objectives []objective.Objective) *Exporter {
	n := len(telemetry.Table)
	e := &Exporter{opt: opt, limit: telemetry.NewLimit(opt.Models), registry: prometheus.NewRegistry(), series: map[telemetry.Set]*series{},
		births: births{hold: opt.Hold, now: opt.Now, shown: opt.Shown, first: map[string]time.Time{}}, readers: newReaders(),
		edges: make([][]float64, n), counters: make([]*prometheus.CounterVec, n), histograms: make([]*prometheus.HistogramVec, n)}
	for _, m := range telemetry.Table {
		if m.OfRequests() && m.Kind == telemetry.Counter {
			e.counters[m.At()] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
			e.registry.MustRegister(e.counters[m.At()])
		}
	}
	if e.births.now == nil {
		e.births.now = time.Now
	}
	e.Set(objectives)
	e.queue = telemetry.NewQueue(cmp.Or(opt.Queue, telemetry.QueueSize), e.figures)
	return e
}

// Set takes the thresholds of objectives. A histogram whose edges change begins
// anew, which Prometheus sees as a restart; nothing else is touched.
func (e *Exporter) Set(objectives []objective.Objective) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range telemetry.Table {
		if !m.OfRequests() || m.Kind != telemetry.Histogram || m.Fine && e.opt.NoFine {
			continue
		}
		edges := m.Edges(objectives)
		if before := e.edges[m.At()]; before != nil && slices.Equal(edges, before) {
			continue
		}
		if old := e.histograms[m.At()]; old != nil {
			e.registry.Unregister(old)
		}
		opts := prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: edges}
		if !e.opt.NoNative {
			opts.NativeHistogramBucketFactor = 1.1
			opts.NativeHistogramMaxBucketNumber = 160
			opts.NativeHistogramMinResetDuration = time.Hour
		}
		made := prometheus.NewHistogramVec(opts, m.Labels)
		e.registry.MustRegister(made)
		e.edges[m.At()], e.histograms[m.At()] = edges, made
	}
	clear(e.series)
}

// ServeHTTP writes the page: text, OpenMetrics, or protobuf with native
// histograms, as the client asks.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := &view{e: e}
	own := prometheus.NewRegistry()
	own.MustRegister(p)
	promhttp.HandlerFor(prometheus.Gatherers{e.registry, own}, promhttp.HandlerOpts{EnableOpenMetrics: true, ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
	e.readers.read(r.RemoteAddr, p.last)
}

// Gone forgets a connection that was closed: Linger does not wait for it.
func (e *Exporter) Gone(address string) { e.readers.gone(address) }

// End says that the last event was counted: a counter that was shown as 0 need
// not be kept back any longer. It reports whether there is nobody to wait for:
// nobody ever asked for a page.
func (e *Exporter) End() bool {
	e.births.end()
	return e.readers.all()
}

// Linger waits, after End, until everybody who reads the page has read it since:
// each connection that asked for pages and is still open, and one reader at
// least. It reports false when the context ended before.
func (e *Exporter) Linger(ctx context.Context) bool { return e.readers.wait(ctx) }

// Done implements traffic.Sink.
func (e *Exporter) Done(r *traffic.Request) {
	s := e.find(e.limit.Set(r.Labels))
	telemetry.Counts(r, func(m *telemetry.Metric, value string, n float64) {
		if c := s.counters[m.At()]; c != nil {
			c.Add(n)
		} else {
			e.own(s, m, value, r.Labels).Add(n)
		}
	})
	e.queue.Done(r)
}

// figures fills the distributions.
func (e *Exporter) figures(r *traffic.Request) {
	s := e.find(e.limit.Set(r.Labels))
	telemetry.Figures(r, !e.opt.NoFine, func(m *telemetry.Metric, v float64, times int64) {
		if h := s.figures[m.At()]; h != nil {
			for range times {
				h.Observe(v)
			}
		}
	})
}

// find returns the series of a set of labels, and makes them the first time.
func (e *Exporter) find(set telemetry.Set) *series {
	e.mu.RLock()
	s := e.series[set]
	e.mu.RUnlock()
	if s != nil {
		return s
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.series[set]; s != nil {
		return s
	}
	n := len(telemetry.Table)
	s = &series{counters: make([]prometheus.Counter, n), figures: make([]prometheus.Observer, n), own: map[own]prometheus.Counter{}}
	values := valid(set[:])
	for _, m := range telemetry.Table {
		if v := e.counters[m.At()]; v != nil && m.Own() == "" {
			s.counters[m.At()] = v.WithLabelValues(values...)
		}
		if v := e.histograms[m.At()]; v != nil {
			s.figures[m.At()] = v.WithLabelValues(values...)
		}
	}
	e.series[set] = s
	return s
}

func (e *Exporter) own(s *series, m *telemetry.Metric, value string, labels traffic.Labels) prometheus.Counter {
	at := own{m.At(), value}
	s.mu.RLock()
	c := s.own[at]
	s.mu.RUnlock()
	if c != nil {
		return c
	}
	set := e.limit.Set(labels)
	c = e.counters[m.At()].WithLabelValues(valid(append(set[:], value))...)
	s.mu.Lock()
	s.own[at] = c
	s.mu.Unlock()
	return c
}

// valid are label values as Prometheus takes them.
func valid(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strings.ToValidUTF8(v, "\uFFFD")
	}
	return out
}

// Limit is what keeps models few.
func (e *Exporter) Limit() *telemetry.Limit { return e.limit }

// Dropped is how many requests have no part in the distributions.
func (e *Exporter) Dropped() int64 { return e.queue.Dropped() }

// Close works off what waits. The page stays.
func (e *Exporter) Close() { e.queue.Close() }

// view collects what is read when it is asked for, for one page.
type view struct {
	e    *Exporter
	last bool // nothing on it is kept back, and no further event comes
}

// Describe says nothing: what there is depends on the configuration.
func (*view) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (p *view) Collect(to chan<- prometheus.Metric) {
	// All series of an objective are kept back on one page, or none.
	births := &p.e.births
	births.mu.Lock()
	defer births.mu.Unlock()
	now, held := births.now(), map[string]bool{}
	seen := map[string]bool{}
	emit := func(m *telemetry.Metric, v float64, values ...string) {
		// A series that is there twice would spoil the page.
		id := m.Name + "\xff" + strings.Join(values, "\xff")
		if seen[id] {
			return
		}
		seen[id] = true
		if ofSLO(m) {
			key := birthKey(values)
			back, decided := held[key]
			if !decided {
				back = births.held(values, now)
				held[key] = back
			}
			if back {
				v = 0
			}
		}
		kind := prometheus.GaugeValue
		if m.Kind == telemetry.Counter {
			kind = prometheus.CounterValue
		}
		made, err := prometheus.NewConstMetric(prometheus.NewDesc(m.Name, m.Help, m.Labels, nil), kind, v, valid(values)...)
		if err == nil {
			to <- made
		}
	}
	if p.e.opt.State != nil {
		p.e.opt.State(emit)
	}
	emit(telemetry.Dropped, float64(p.e.Dropped()), "prometheus")
	p.last = births.ended
	for _, back := range held {
		p.last = p.last && !back
	}
}
