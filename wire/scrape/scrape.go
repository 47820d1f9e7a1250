// Package scrape reads pages in Prometheus's text format: how busy GPUs are, and
// what an engine tells of itself while it is measured. What is absent, stale or
// out of range is no reading: a gap, never a zero.
package scrape

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
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
	return &Reader{target: t, client: newClient(&http.Transport{TLSClientConfig: t.TLS, IdleConnTimeout: 2 * t.Every}, t.Timeout)}
}

// Name is what logs and metrics call the target.
func (r *Reader) Name() string { return r.target.Name }

// Failed is how often nothing could be read.
func (r *Reader) Failed() int64 { return r.failed.Load() }

// Read asks once and returns the readings, 0 to 1, one a series. That there are
// none is an error.
func (r *Reader) Read(ctx context.Context, now time.Time) ([]float64, error) {
	body, err := get(ctx, r.client, r.target.URL, r.target.Header)
	if err != nil {
		return nil, err
	}
	return r.target.parse(body, now)
}

// parse finds the readings in an exporter's page.
func (t *Target) parse(page []byte, now time.Time) (readings []float64, err error) {
	stale, beyond := 0, 0
	err = samples(page, func(s *sample) {
		switch {
		case string(s.name) != t.Metric || math.IsNaN(s.value) || !t.wants(s):
		case s.at != 0 && now.Sub(time.UnixMilli(s.at)) > StaleAfter:
			stale++
		// DCGM shows what it can't measure as a huge number.
		case !(s.value >= 0 && s.value <= t.Full):
			beyond++
		default:
			readings = append(readings, s.value/t.Full)
		}
	})
	if err != nil {
		return nil, err
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

func (t *Target) wants(s *sample) bool {
	for name, want := range t.Labels {
		if got, ok := s.label(name); !ok || string(got) != want {
			return false
		}
	}
	return true
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
				told(err)
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
