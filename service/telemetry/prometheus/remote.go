package prometheus

import (
	"context"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"

	"tokenmeter/service/telemetry"
)

// Remote says where a page is written to.
type Remote struct {
	URL     string        // of a receiver: http://HOST:9090/api/v1/write
	Key     string        // sent as Authorization: Bearer; empty: none
	Every   time.Duration // between two writes; 0: 5 s
	Timeout time.Duration // of one; 0: 5 s
	Version string        // of this program, in the user agent
}

// Writer writes a page to a receiver of Prometheus's remote write, 1.0, every few
// seconds: what a scrape would show, histograms by their classic buckets. Source:
// prometheus.io/docs/specs/prw/remote_write_spec.
type Writer struct {
	telemetry.Push
	url    string
	gather func() ([]*dto.MetricFamily, error)
	host   string
	known  map[string]bool // series that were written
	before time.Time       // of the last write that was taken, or the start
}

// Write begins to write the page. It must be closed.
func (e *Exporter) Write(to Remote) *Writer {
	w := &Writer{url: to.URL, gather: e.Gather, known: map[string]bool{}, before: time.Now()}
	w.Key, w.Every, w.Timeout, w.Version, w.Send = to.Key, to.Every, to.Timeout, to.Version, w.write
	w.host, _ = os.Hostname()
	w.Start(false)
	return w
}

// Gather is what the page shows.
func (e *Exporter) Gather() ([]*dto.MetricFamily, error) {
	own := prometheus.NewRegistry()
	own.MustRegister(&view{e: e})
	return prometheus.Gatherers{e.registry, own}.Gather()
}

// Close writes a last time, once more where that failed. It is an error where the
// receiver has not got the last figures.
func (w *Writer) Close(ctx context.Context) error {
	w.Stop()
	defer w.Free()
	err := w.Once(ctx)
	if err != nil && ctx.Err() == nil {
		err = w.Once(ctx)
	}
	return err
}

// write writes what the page shows now. Where it fails, the next has all of it again.
func (w *Writer) write(ctx context.Context) error {
	families, err := w.gather()
	if err != nil {
		return err
	}
	now := time.Now()
	m := message{known: w.known, at: now, before: w.before, instance: w.host}
	for _, f := range families {
		m.family(f)
	}
	if _, err = w.Ask(ctx, http.MethodPost, w.url, snappy(m.data), map[string]string{"Content-Type": "application/x-protobuf",
		"Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"}); err != nil {
		return err
	}
	for _, name := range m.new {
		w.known[name] = true
	}
	w.before = now
	return nil
}

// message is a WriteRequest of prometheus.io/docs/specs/prw/remote_write_spec.
type message struct {
	data       []byte
	at, before time.Time
	instance   string
	known      map[string]bool
	new        []string // series of which nothing was written yet
}

func (m *message) family(f *dto.MetricFamily) {
	name := f.GetName()
	for _, s := range f.GetMetric() {
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			m.series(name, s, "", s.GetCounter().GetValue(), true)
		case dto.MetricType_GAUGE:
			m.series(name, s, "", s.GetGauge().GetValue(), false)
		case dto.MetricType_HISTOGRAM:
			h := s.GetHistogram()
			for _, b := range h.GetBucket() {
				if !math.IsInf(b.GetUpperBound(), 1) {
					m.series(name+"_bucket", s, strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64), float64(b.GetCumulativeCount()), true)
				}
			}
			m.series(name+"_bucket", s, "+Inf", float64(h.GetSampleCount()), true)
			m.series(name+"_sum", s, "", h.GetSampleSum(), true)
			m.series(name+"_count", s, "", float64(h.GetSampleCount()), true)
		}
	}
}

// series adds a TimeSeries with the sample of now. What grows and is new was 0 at the
// write before: without that sample an increase would leave out what came until now.
func (m *message) series(name string, of *dto.Metric, le string, value float64, grows bool) {
	labels := []string{"__name__\x00" + name, "job\x00tokenmeter"} // by name, as the receiver wants them
	if m.instance != "" {
		labels = append(labels, "instance\x00"+m.instance)
	}
	for _, l := range of.GetLabel() {
		if l.GetValue() != "" { // an empty label is none
			labels = append(labels, l.GetName()+"\x00"+l.GetValue())
		}
	}
	if le != "" {
		labels = append(labels, "le\x00"+le)
	}
	slices.Sort(labels)
	var series []byte
	for _, l := range labels {
		key, text, _ := strings.Cut(l, "\x00")
		label := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), key)
		label = protowire.AppendString(protowire.AppendTag(label, 2, protowire.BytesType), text)
		series = protowire.AppendBytes(protowire.AppendTag(series, 1, protowire.BytesType), label)
	}
	if id := strings.Join(labels, "\x01"); !m.known[id] {
		m.new = append(m.new, id)
		if grows && m.before.UnixMilli() < m.at.UnixMilli() {
			series = sample(series, 0, m.before)
		}
	}
	series = sample(series, value, m.at)
	m.data = protowire.AppendBytes(protowire.AppendTag(m.data, 1, protowire.BytesType), series)
}

func sample(series []byte, value float64, at time.Time) []byte {
	s := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(value))
	s = protowire.AppendVarint(protowire.AppendTag(s, 2, protowire.VarintType), uint64(at.UnixMilli()))
	return protowire.AppendBytes(protowire.AppendTag(series, 2, protowire.BytesType), s)
}

// snappy is data in Snappy's block format as literals, not made smaller: an encoder
// weighs more than what it would save once in five seconds. Source:
// github.com/google/snappy, format_description.txt, sections 1 and 2.1.
func snappy(data []byte) []byte {
	out := protowire.AppendVarint(make([]byte, 0, len(data)+len(data)>>14+16), uint64(len(data)))
	for len(data) > 0 {
		n := min(len(data), 1<<16)
		out = append(out, 61<<2, byte(n-1), byte((n-1)>>8)) // two bytes of length less one follow the tag
		out = append(out, data[:n]...)
		data = data[n:]
	}
	return out
}
