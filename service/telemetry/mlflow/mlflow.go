// Package mlflow logs a run to an MLflow tracking server while it goes on: the table
// of metrics as a page for Prometheus shows it, and at the end the run's own figures.
package mlflow

import (
	"cmp"
	"context"
	"crypto/rand"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"

	"tokenmeter/service/telemetry"
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
	// Gather is what there is to log. Labels of requests that all series of a metric have
	// alike are left out of names.
	Gather func() ([]*dto.MetricFamily, error)
}

// The statuses that a run ends with.
const (
	Finished = "FINISHED"
	Failed   = "FAILED"
)

// What one batch may hold. Source: MLflow's REST API, runs/log-batch.
const (
	mostMetrics = 1000
	mostParams  = 100
)

// Logger logs one run.
type Logger struct {
	telemetry.Push
	opt        Options
	began      time.Time
	mark       string // a tag of the run, which no other has
	experiment string // its id; empty: not known yet
	asked      int    // how many times the server was asked to make the run
	run        string // its id; empty: not made yet, as far as is known
	told       bool   // the run has Options.Params
	step       int64
}

// New begins to log. It must be closed.
func New(opt Options) *Logger {
	l := &Logger{opt: opt, began: time.Now(), mark: rand.Text()}
	l.Key, l.Every, l.Timeout, l.Version, l.Send = opt.Key, opt.Every, opt.Timeout, opt.Version, l.once
	l.Start(true)
	return l
}

// Close logs a last time, the figures of the whole run and what is known of it now too,
// and ends it with a status, whatever the server refused before. It returns the run's id;
// an error, the first, where the server lacks something of it.
func (l *Logger) Close(ctx context.Context, status string, figures map[string]float64, params map[string]string) (run string, err error) {
	l.Stop()
	defer l.Free()
	err = l.Once(ctx)
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
func (l *Logger) once(ctx context.Context) error {
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
		shown := labelsOf(f)
		for _, m := range f.GetMetric() {
			name := nameOf(f.GetName(), m, shown)
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

// labelsOf tells which labels' values a family's names need: neither those of requests
// that all its series have alike, nor what stands for another label.
func labelsOf(f *dto.MetricFamily) func(*dto.LabelPair) bool {
	first, differ := map[string]string{}, map[string]bool{}
	for _, m := range f.GetMetric() {
		for _, label := range m.GetLabel() {
			name, value := label.GetName(), label.GetValue()
			if one, ok := first[name]; ok && one != value {
				differ[name] = true
			}
			first[name] = value
		}
	}
	return func(label *dto.LabelPair) bool {
		switch name := label.GetName(); {
		case label.GetValue() == "" || name == "hash" || name == "run": // the objective is named, and it is one run
			return false
		default:
			return differ[name] || !slices.Contains(telemetry.RequestLabels, name)
		}
	}
}

// nameOf is a series' name: behind its family's the values of those labels.
func nameOf(family string, m *dto.Metric, shown func(*dto.LabelPair) bool) string {
	for _, label := range m.GetLabel() {
		if shown(label) {
			family += "/" + label.GetValue()
		}
	}
	return family
}

func (l *Logger) metric(list []any, name string, v float64) []any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return list
	}
	return append(list, map[string]any{"key": keyOf(name), "value": v, "timestamp": time.Now().UnixMilli(), "step": l.step})
}

// log sends metrics in as many batches as it takes.
func (l *Logger) log(ctx context.Context, metrics []any) error {
	return l.batches(ctx, "metrics", metrics, mostMetrics)
}

func (l *Logger) batches(ctx context.Context, what string, list []any, most int) error {
	for batch := range slices.Chunk(list, most) {
		if err := l.ask(ctx, "runs/log-batch", map[string]any{"run_id": l.run, what: batch}, nil); err != nil {
			return err
		}
	}
	return nil
}
