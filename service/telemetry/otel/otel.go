// Package otel sends metrics and, when asked, spans by OTLP over HTTP, under
// the names of the OpenTelemetry GenAI conventions and the table of package
// telemetry. Texts are never sent: neither prompts nor answers, nor the words
// of errors.
package otel

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"tokenmeter/record/objective"
	"tokenmeter/service/telemetry"
	"tokenmeter/service/traffic"
)

// Options say where and what to send.
type Options struct {
	Endpoint string            // http://HOST:4318; /v1/metrics and /v1/traces are added
	Headers  map[string]string // of each request; keys of collectors belong here
	TLS      *tls.Config
	Timeout  time.Duration // of one request; 0: 10 s
	Every    time.Duration // between requests of metrics; 0: 30 s

	NoMetrics bool
	Spans     bool    // a span a request
	Sample    float64 // share of requests with a span where the client's traceparent does not say; 0: all

	Next        bool // names of the conventions after v1.41
	Exponential bool // exponential histograms instead of explicit buckets
	NoFine      bool // no gaps between tokens, which are a value a token
	Models      int  // how many distinct models may be attributes of metrics; 0: 100
	Version     string

	// State hands out what is not read off finished requests; nil: nothing.
	State telemetry.State
	Log   *slog.Logger // nil: none
}

// Exporter is a sink.
type Exporter struct {
	opt    Options
	limit  *telemetry.Limit
	queue  *telemetry.Queue
	failed atomic.Int64

	meters *sdkmetric.MeterProvider
	tracer *sdktrace.TracerProvider
	spans  trace.Tracer
	gen    genAI
	own    []instrument // by the metric's place in the table

	mu    sync.Mutex
	known map[telemetry.Set]attribute.Set
}

// instrument is a metric of the table; one of the two is set.
type instrument struct {
	counter   metric.Float64Counter
	histogram metric.Float64Histogram
}

// New begins to send. It must be closed.
func New(ctx context.Context, opt Options, objectives []objective.Objective) (*Exporter, error) {
	if u, err := url.Parse(opt.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the endpoint is no URL like http://127.0.0.1:4318")
	}
	e := &Exporter{opt: opt, limit: telemetry.NewLimit(opt.Models), known: map[telemetry.Set]attribute.Set{}, own: make([]instrument, len(telemetry.Table))}
	e.opt.Timeout = cmp.Or(e.opt.Timeout, 10*time.Second)
	e.opt.Every = cmp.Or(e.opt.Every, 30*time.Second)
	res, err := identityOf(opt.Version)
	if err != nil {
		return nil, err
	}
	if !opt.NoMetrics {
		if err := e.openMetrics(res, objectives); err != nil {
			return nil, fmt.Errorf("metrics by OTLP: %w", err)
		}
	}
	if opt.Spans {
		if err := e.openSpans(ctx, res); err != nil {
			return nil, fmt.Errorf("spans by OTLP: %w", err)
		}
	}
	e.queue = telemetry.NewQueue(telemetry.QueueSize, e.take)
	return e, nil
}

// identityOf tells this process from others, as counters of several must not be
// taken for one. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come on top.
func identityOf(version string) (*resource.Resource, error) {
	own := []attribute.KeyValue{attribute.String("service.name", "tokenmeter"), attribute.String("service.instance.id", rand.Text())}
	if version != "" {
		own = append(own, attribute.String("service.version", version))
	}
	if host, err := os.Hostname(); err == nil {
		own = append(own, attribute.String("host.name", host))
	}
	return resource.Merge(resource.NewSchemaless(own...), resource.Environment())
}

// sender posts to a path below the endpoint.
func (e *Exporter) sender(path string) *sender {
	joined, err := url.JoinPath(e.opt.Endpoint, path)
	if err != nil {
		joined = e.opt.Endpoint
	}
	return newSender(joined, e.opt.Headers, e.opt.TLS, e.opt.Timeout)
}

func (e *Exporter) openMetrics(res *resource.Resource, objectives []objective.Objective) error {
	reader := sdkmetric.NewPeriodicReader(&metricsOut{e.sender("v1/metrics"), e}, sdkmetric.WithInterval(e.opt.Every), sdkmetric.WithTimeout(e.opt.Timeout))
	provider := []sdkmetric.Option{sdkmetric.WithReader(reader), sdkmetric.WithResource(res)}
	if e.opt.Exponential {
		provider = append(provider, sdkmetric.WithView(sdkmetric.NewView(sdkmetric.Instrument{Kind: sdkmetric.InstrumentKindHistogram},
			sdkmetric.Stream{Aggregation: sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}})))
	}
	e.meters = sdkmetric.NewMeterProvider(provider...)
	return e.instruments(objectives)
}

// names is the edition that is asked for.
func (e *Exporter) names() *names {
	if e.opt.Next {
		return &next
	}
	return &v141
}

// instruments makes those of the conventions and those of the table.
func (e *Exporter) instruments(objectives []objective.Objective) error {
	n := e.names()
	var err error
	if e.gen, err = newGenAI(e.meters.Meter("tokenmeter", metric.WithSchemaURL(n.schema), metric.WithInstrumentationVersion(e.opt.Version)), n, objectives); err != nil {
		return err
	}
	meter := e.meters.Meter("tokenmeter", metric.WithInstrumentationVersion(e.opt.Version))
	var errs []error
	for _, m := range telemetry.Table {
		if !m.OfRequests() {
			continue
		}
		one := &e.own[m.At()]
		if m.Kind == telemetry.Counter {
			one.counter, err = meter.Float64Counter(m.OTel(), metric.WithUnit(m.OTelUnit()), metric.WithDescription(m.Help))
		} else {
			one.histogram, err = meter.Float64Histogram(m.OTel(), metric.WithUnit(m.OTelUnit()), metric.WithDescription(m.Help), metric.WithExplicitBucketBoundaries(m.Edges(objectives)...))
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, e.observe(meter))...)
}

// observe makes the instruments that are read when metrics are sent.
func (e *Exporter) observe(meter metric.Meter) error {
	var errs []error
	all := make([]metric.Observable, 0, len(telemetry.Table))
	made := make([]metric.Float64Observable, len(telemetry.Table))
	for _, m := range telemetry.Table {
		if m.OfRequests() || e.opt.State == nil {
			continue
		}
		var err error
		if m.Kind == telemetry.Counter {
			made[m.At()], err = meter.Float64ObservableCounter(m.OTel(), metric.WithUnit(m.OTelUnit()), metric.WithDescription(m.Help))
		} else {
			made[m.At()], err = meter.Float64ObservableGauge(m.OTel(), metric.WithUnit(m.OTelUnit()), metric.WithDescription(m.Help))
		}
		errs = append(errs, err)
		all = append(all, made[m.At()])
	}
	if len(all) > 0 {
		_, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
			e.opt.State(func(m *telemetry.Metric, v float64, values ...string) {
				o.ObserveFloat64(made[m.At()], v, metric.WithAttributeSet(attribute.NewSet(labels(m.Labels, values)...)))
			})
			return nil
		}, all...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// labels are attributes of those that have a value.
func labels(names, values []string) []attribute.KeyValue {
	var all []attribute.KeyValue
	for i, name := range names {
		if i < len(values) && values[i] != "" {
			all = append(all, attribute.String(name, values[i]))
		}
	}
	return all
}

// Done implements traffic.Sink.
func (e *Exporter) Done(r *traffic.Request) { e.queue.Done(r) }

// take records one request.
func (e *Exporter) take(r *traffic.Request) {
	ctx := context.Background()
	if e.meters != nil {
		set := e.limit.Set(r.Labels)
		with := metric.WithAttributeSet(e.attributes(set))
		telemetry.Counts(r, func(m *telemetry.Metric, own string, n float64) {
			if name := m.Own(); name != "" {
				e.own[m.At()].counter.Add(ctx, n, with, metric.WithAttributes(attribute.String(name, own)))
			} else {
				e.own[m.At()].counter.Add(ctx, n, with)
			}
		})
		telemetry.Figures(r, !e.opt.NoFine, func(m *telemetry.Metric, v float64, times int64) {
			for range times {
				e.own[m.At()].histogram.Record(ctx, v, with)
			}
		})
		e.gen.record(ctx, r, set, !e.opt.NoFine)
	}
	if e.spans != nil {
		e.span(r)
	}
}

func (e *Exporter) attributes(set telemetry.Set) attribute.Set {
	e.mu.Lock()
	defer e.mu.Unlock()
	made, ok := e.known[set]
	if !ok {
		made = attribute.NewSet(labels(telemetry.RequestLabels, set[:])...)
		e.known[set] = made
	}
	return made
}

// Dropped is how many requests were dropped.
func (e *Exporter) Dropped() int64 { return e.queue.Dropped() }

// Failed is how many batches could not be sent.
func (e *Exporter) Failed() int64 { return e.failed.Load() }

// Close sends what waits.
func (e *Exporter) Close(ctx context.Context) {
	e.queue.Close()
	if e.meters != nil {
		_ = e.meters.Shutdown(ctx)
	}
	if e.tracer != nil {
		_ = e.tracer.Shutdown(ctx)
	}
}

// failure counts a batch that was not sent, and says so without quoting what
// the other side said.
func (e *Exporter) failure(what string, err error) {
	if err == nil {
		return
	}
	n := e.failed.Add(1)
	if e.opt.Log == nil {
		return
	}
	why := "refused or not understood"
	var u *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		why = "no answer in time"
	case errors.As(err, &u):
		why = "not reached"
	}
	e.opt.Log.Warn("OpenTelemetry could not be sent", "what", what, "why", why, "failed", n)
}

func (e *Exporter) openSpans(ctx context.Context, res *resource.Resource) error {
	out, err := otlptrace.New(ctx, spanSender{e.sender("v1/traces")})
	if err != nil {
		return err
	}
	share := cmp.Or(e.opt.Sample, 1)
	e.tracer = sdktrace.NewTracerProvider(sdktrace.WithBatcher(&spansOut{out, e}), sdktrace.WithResource(res),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(share))))
	e.spans = e.tracer.Tracer("tokenmeter", trace.WithSchemaURL(e.names().schema), trace.WithInstrumentationVersion(e.opt.Version))
	return nil
}
