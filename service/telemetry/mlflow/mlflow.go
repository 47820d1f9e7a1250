// Package mlflow logs a run to an MLflow tracking server while it goes on: the table
// of metrics as a page for Prometheus shows it, and at the end the run's own figures.
package mlflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
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
	opt    Options
	client *http.Client
	began  time.Time
	run    string // its id; empty: not made yet
	step   int64
	failed atomic.Int64
	stop   chan struct{}
	ended  chan struct{}
}

// New begins to log. It must be closed.
func New(opt Options) *Logger {
	opt.Every, opt.Timeout = cmp.Or(opt.Every, 5*time.Second), cmp.Or(opt.Timeout, 5*time.Second)
	l := &Logger{opt: opt, began: time.Now(), stop: make(chan struct{}), ended: make(chan struct{}),
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
// and ends it with a status. It returns the run's id; an error where the server lacks
// something of it.
func (l *Logger) Close(ctx context.Context, status string, figures map[string]float64, params map[string]string) (run string, err error) {
	close(l.stop)
	<-l.ended
	defer l.client.CloseIdleConnections()
	if err := l.once(ctx); err != nil {
		return l.run, err
	}
	var metrics []any
	for name, v := range figures {
		metrics = l.metric(metrics, name, v)
	}
	if err := l.log(ctx, metrics); err != nil {
		return l.run, err
	}
	if err := l.params(ctx, params); err != nil {
		return l.run, err
	}
	return l.run, l.ask(ctx, "runs/update", map[string]any{"run_id": l.run, "status": status, "end_time": time.Now().UnixMilli()}, nil)
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
	return l.log(ctx, metrics)
}

// begin makes the run, in its experiment.
func (l *Logger) begin(ctx context.Context) error {
	experiment := cmp.Or(l.opt.ExperimentID, "0")
	if name := l.opt.Experiment; name != "" {
		var told struct {
			ID         string `json:"experiment_id"`
			Experiment struct {
				ID string `json:"experiment_id"`
			} `json:"experiment"`
		}
		err := l.ask(ctx, "experiments/get-by-name?experiment_name="+url.QueryEscape(name), nil, &told)
		if status := (*statusError)(nil); errors.As(err, &status) && status.code == http.StatusNotFound {
			err = l.ask(ctx, "experiments/create", map[string]any{"name": name}, &told)
		}
		if err != nil {
			return err
		}
		experiment = cmp.Or(told.Experiment.ID, told.ID)
	}
	var made struct {
		Run struct {
			Info struct {
				ID string `json:"run_id"`
			} `json:"info"`
		} `json:"run"`
	}
	if err := l.ask(ctx, "runs/create", map[string]any{"experiment_id": experiment, "start_time": l.began.UnixMilli(),
		"tags": []any{tag("mlflow.source.name", "tokenmeter bench"), tag("mlflow.source.type", "JOB")}}, &made); err != nil {
		return err
	}
	id := made.Run.Info.ID
	if id == "" || len(id) > 64 || strings.IndexFunc(id, func(r rune) bool { return !plain(r) }) >= 0 {
		return errors.New("it made a run without an id that is one")
	}
	l.run = id
	return l.params(ctx, l.opt.Params)
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

// statusError is an answer that is none of a server that took it.
type statusError struct {
	host string
	code int
}

// Error does not use the server's words, which may hold the key that it was sent.
func (e *statusError) Error() string {
	return fmt.Sprintf("%s answered HTTP %d %s", e.host, e.code, http.StatusText(e.code))
}

// ask sends one request, GET where there is no body, and reads the answer into told.
func (l *Logger) ask(ctx context.Context, what string, body map[string]any, told any) error {
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		text, _ = json.Marshal(body) // maps, lists, texts and finite numbers
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(l.opt.URL, "/")+"/"+what, bytes.NewReader(text))
	if err != nil {
		return errors.New("the address is no URL")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", strings.TrimSpace("tokenmeter "+l.opt.Version))
	if l.opt.Key != "" {
		request.Header.Set("Authorization", "Bearer "+l.opt.Key)
	}
	response, err := l.client.Do(request)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			return failed.Err // the URL's query may hold a key
		}
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	switch {
	case response.StatusCode != http.StatusOK:
		return &statusError{request.URL.Host, response.StatusCode}
	case err != nil:
		return err
	case told == nil:
		return nil
	}
	if json.Unmarshal(answer, told) != nil {
		return errors.New("its answer is not that of MLflow")
	}
	return nil
}
