// Package scrape reads gauges that others export in Prometheus's text format,
// such as how busy GPUs are. What is absent, stale or out of range is no
// reading: a gap, never a zero.
package scrape

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// The defaults of a Target.
const (
	DefaultMetric  = "DCGM_FI_DEV_GPU_UTIL"
	DefaultEvery   = 10 * time.Second
	DefaultTimeout = 5 * time.Second
	// MaxBody is how much of an answer is read. One of more is refused: half of
	// the GPUs would be another figure.
	MaxBody = 8 << 20
	// StaleAfter is how old a sample that has a time may be.
	StaleAfter = time.Minute
)

// Target is an exporter and the gauge that is read there.
type Target struct {
	Name    string
	URL     string
	Metric  string            // empty: DefaultMetric
	Labels  map[string]string // only series with these
	Full    float64           // what a series shows at most: 100 or 1; 0: by the metric's name
	Every   time.Duration     // 0: DefaultEvery
	Timeout time.Duration     // of one answer; 0: DefaultTimeout, but never over Every
	Header  http.Header
	TLS     *tls.Config
}

// FullOf is what a full GPU shows as a metric of this name: DCGM counts percent,
// its profiling metrics and what ends in _ratio are shares.
func FullOf(metric string) float64 {
	if strings.HasPrefix(metric, "DCGM_FI_PROF_") || strings.HasSuffix(metric, "_ratio") {
		return 1
	}
	return 100
}

// Reader reads one target, again and again.
type Reader struct {
	target Target
	client *http.Client
	failed atomic.Int64
}

// New returns a reader. Defaults are filled in.
func New(t Target) *Reader {
	t.Metric = cmp.Or(t.Metric, DefaultMetric)
	t.Full = cmp.Or(t.Full, FullOf(t.Metric))
	t.Every = cmp.Or(t.Every, DefaultEvery)
	t.Timeout = min(cmp.Or(t.Timeout, DefaultTimeout), t.Every)
	transport := &http.Transport{TLSClientConfig: t.TLS, MaxIdleConnsPerHost: 1, IdleConnTimeout: 2 * t.Every, ResponseHeaderTimeout: t.Timeout}
	return &Reader{target: t, client: &http.Client{Transport: transport, Timeout: t.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Name is what logs and metrics call the target.
func (r *Reader) Name() string { return r.target.Name }

// Failed is how often nothing could be read.
func (r *Reader) Failed() int64 { return r.failed.Load() }

// Read asks once and returns the readings, 0 to 1, one a series. That there are
// none is an error.
func (r *Reader) Read(ctx context.Context, now time.Time) ([]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.target.URL, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range r.target.Header {
		request.Header[name] = values
	}
	request.Header.Set("Accept", "text/plain; version=0.0.4")
	request.Header.Set("User-Agent", "tokenmeter")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s", response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > MaxBody:
		return nil, fmt.Errorf("its answer is over %d MiB", MaxBody>>20)
	}
	return r.target.parse(body, now)
}

// parse finds the readings in an exporter's page.
func (t *Target) parse(page []byte, now time.Time) (readings []float64, err error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	stale, beyond := 0, 0
	for _, m := range families[t.Metric].GetMetric() {
		v, ok := valueOf(m)
		if !ok || !t.wants(m) {
			continue
		}
		if at := m.GetTimestampMs(); at != 0 && now.Sub(time.UnixMilli(at)) > StaleAfter {
			stale++
			continue
		}
		// DCGM shows what it can't measure as a huge number.
		if !(v >= 0 && v <= t.Full) {
			beyond++
			continue
		}
		readings = append(readings, v/t.Full)
	}
	switch {
	case len(readings) > 0:
		return readings, nil
	case stale > 0:
		return nil, fmt.Errorf("its %s is over %s old", t.Metric, StaleAfter)
	case beyond > 0:
		return nil, fmt.Errorf("its %s is not between 0 and %v", t.Metric, t.Full)
	}
	return nil, fmt.Errorf("it has no %s%s", t.Metric, withLabels(t.Labels))
}

func withLabels(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	return " with these labels"
}

func valueOf(m *dto.Metric) (float64, bool) {
	var v float64
	switch {
	case m.Gauge != nil:
		v = m.Gauge.GetValue()
	case m.Untyped != nil:
		v = m.Untyped.GetValue()
	case m.Counter != nil: // some exporters call their gauges counters
		v = m.Counter.GetValue()
	default:
		return 0, false
	}
	return v, !math.IsNaN(v)
}

func (t *Target) wants(m *dto.Metric) bool {
	found := 0
	for _, l := range m.GetLabel() {
		if want, asked := t.Labels[l.GetName()]; asked && want == l.GetValue() {
			found++
		}
	}
	return found == len(t.Labels)
}

// Run reads until the context ends. Readings go to each; told hears of the first
// failure of several in a row, and nil when it is over.
func (r *Reader) Run(ctx context.Context, each func(readings []float64), told func(error)) {
	defer r.client.CloseIdleConnections()
	ticker := time.NewTicker(r.target.Every)
	defer ticker.Stop()
	wrong := false
	for {
		readings, err := r.Read(ctx, time.Now())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.failed.Add(1)
			if !wrong {
				told(bare(err))
			}
		default:
			if wrong {
				told(nil)
			}
			each(readings)
		}
		wrong = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// bare is an error without the URL, which may hold a password.
func bare(err error) error {
	var of interface{ Unwrap() error }
	if errors.As(err, &of) {
		if cause := of.Unwrap(); cause != nil {
			return cause
		}
	}
	return err
}
