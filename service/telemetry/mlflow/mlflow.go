// Package mlflow logs a run to an MLflow tracking server while it goes on: the table
// of metrics as a page for Prometheus shows it, and at the end the run's own figures.
package mlflow

import (
	"cmp"
	"context"
	"crypto/rand"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Options say where a run is logged.
type Options struct {
	URL          string // of the REST API: http://HOST:5000/api/2.0/mlflow
	Key          string // sent as Authorization: Bearer; empty: none
	Experiment   string // by its name, made where it is not there; empty: ExperimentID
	ExperimentID string // empty: 0, which every server has
	Params       map[string]string
	Every        time.Duration // between two batches; 0: 5 s
	Timeout      time.Duration // of one; 0: 5 s
	Version      string        // of this program, in the user agent
	// Gather is what there is to log. Labels that are constant are left out of names.
	Gather func() ([]*dto.MetricFamily, error)
}

// The statuses that a run ends with.
const (
	Finished = "FINISHED"
	Failed   = "FAILED"
)

// mostMetrics is how many one batch may hold. Source: MLflow's REST API, runs/log-batch.
const mostMetrics = 1000

// Logger logs one run.
type Logger struct {
	opt        Options
	client     *http.Client
	began      time.Time
	mark       string // a tag of the run, which no other has
	experiment string // its id; empty: not known yet
	asked      int    // how many times the server was asked to make the run
	run        string // its id; empty: not made yet, as far as is known
	told       bool   // the run has Options.Params
	step       int64
	failed     atomic.Int64
	stop       chan struct{}
	ended      chan struct{}
}

// New begins to log. It must be closed.
func New(opt Options) *Logger {
	opt.Every, opt.Timeout = cmp.Or(opt.Every, 5*time.Second), cmp.Or(opt.Timeout, 5*time.Second)
	l := &Logger{opt: opt, began: time.Now(), mark: rand.Text(), stop: make(chan struct{}), ended: make(chan struct{}),
		client: &http.Client{Timeout: opt.Timeout, Transport: http.DefaultTransport.(*http.Transport).Clone(),
			// A key goes to nobody else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	go l.follow()
	return l
}

func (l *Logger) follow() {
	defer close(l.ended)
	tick := time.NewTicker(l.opt.Every)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), l.opt.Timeout)
		_ = l.once(ctx) // counted
		cancel()
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
	}
}

// Failed is how many times the server has not taken a batch.
func (l *Logger) Failed() int64 { return l.failed.Load() }

// Close logs a last time, the figures of the whole run and what is known of it now too,
// and ends it with a status, whatever the server refused before. It returns the run's id;
// an error, the first, where the server lacks something of it.
func (l *Logger) Close(ctx context.Context, status string, figures map[string]float64, params map[string]string) (run string, err error) {
	close(l.stop)
	<-l.ended
	defer l.client.CloseIdleConnections()
	err = l.once(ctx)
	if l.run != "" {
		var metrics []any
		for name, v := range figures {
			metrics = l.metric(metrics, name, v)
		}
		err = cmp.Or(err, l.log(ctx, metrics), l.params(ctx, params))
	}
	return l.run, cmp.Or(err, l.end(ctx, status))
}

// once logs what there is now.
func (l *Logger) once(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			l.failed.Add(1)
		}
	}()
	if l.run == "" {
		if err := l.begin(ctx); err != nil {
			return err
		}
	}
	var refused error // of parameters: costs no metric
	if !l.told {
		refused = l.params(ctx, l.opt.Params)
		l.told = refused == nil
	}
	families, err := l.opt.Gather()
	if err != nil {
		return err
	}
	var metrics []any
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := nameOf(f.GetName(), m)
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				metrics = l.metric(metrics, name, m.GetCounter().GetValue())
			case dto.MetricType_GAUGE:
				metrics = l.metric(metrics, name, m.GetGauge().GetValue())
			case dto.MetricType_HISTOGRAM:
				h := m.GetHistogram()
				metrics = l.metric(metrics, name+"/count", float64(h.GetSampleCount()))
				metrics = l.metric(metrics, name+"/mean", h.GetSampleSum()/float64(h.GetSampleCount())) // 0/0 is none
			}
		}
	}
	l.step++
	return cmp.Or(refused, l.log(ctx, metrics))
}

// params says what a run was; those that are empty are left out.
func (l *Logger) params(ctx context.Context, params map[string]string) error {
	var list []any
	for name, value := range params {
		if value != "" {
			list = append(list, tag(name, value[:min(len(value), 500)])) // 500 is what the oldest servers take
		}
	}
	if len(list) == 0 {
		return nil
	}
	return l.ask(ctx, "runs/log-batch", map[string]any{"run_id": l.run, "params": list}, nil)
}

func tag(key, value string) map[string]string { return map[string]string{"key": key, "value": value} }

// plain reports whether a letter may stand in names of every server.
func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r)
}

// nameOf is a series' name: behind its family's the values of labels that differ within
// a run.
func nameOf(family string, m *dto.Metric) string {
	for _, label := range m.GetLabel() {
		if value := label.GetValue(); value != "" && !slices.Contains([]string{"source", "route", "upstream", "model", "api", "hash", "run"}, label.GetName()) {
			family += "/" + value
		}
	}
	return strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '_'
	}, family)
}

func (l *Logger) metric(list []any, name string, v float64) []any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return list
	}
	return append(list, map[string]any{"key": name, "value": v, "timestamp": time.Now().UnixMilli(), "step": l.step})
}

// log sends metrics in as many batches as it takes.
func (l *Logger) log(ctx context.Context, metrics []any) error {
	for len(metrics) > 0 {
		n := min(len(metrics), mostMetrics)
		if err := l.ask(ctx, "runs/log-batch", map[string]any{"run_id": l.run, "metrics": metrics[:n]}, nil); err != nil {
			return err
		}
		metrics = metrics[n:]
	}
	return nil
}
