package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"

	"tokenmeter/record/objective"
	"tokenmeter/service/proxy"
	"tokenmeter/service/slo"
	"tokenmeter/service/telemetry"
	"tokenmeter/service/telemetry/datadog"
	"tokenmeter/service/telemetry/otel"
	"tokenmeter/service/telemetry/prometheus"
	"tokenmeter/service/traffic"
)

// exporters are all ways by which figures leave the daemon. They are opened at
// the start and stay as they are; only the thresholds of the page change.
type exporters struct {
	page *prometheus.Exporter
	otel *otel.Exporter    // nil: not asked for
	dog  *datadog.Exporter // likewise
}

func (d *Daemon) openExporters(ctx context.Context, plan *Plan) (*exporters, error) {
	cfg := &plan.Config
	x := &exporters{page: prometheus.New(prometheus.Options{State: d.state, Models: cfg.Metrics.Models, Hold: cfg.Metrics.hold(), Shown: shown{d},
		NoNative: !given(cfg.Metrics.Native, true), NoFine: !given(cfg.Metrics.Gaps, true)}, plan.thresholds())}
	var err error
	if o := cfg.OTel; o != nil {
		x.otel, err = otel.New(context.WithoutCancel(ctx), otel.Options{Endpoint: o.Endpoint, Headers: o.headers(plan.otelKey, plan.otelExtra), TLS: plan.otelTLS,
			Timeout: o.Timeout, Every: o.Every, NoMetrics: !given(o.Metrics, true), Spans: o.Traces, Sample: given(o.Sample, 1), Next: o.Conventions != "v1.41",
			Exponential: o.Histograms == "exponential", NoFine: !given(o.Gaps, true), Models: cfg.Metrics.Models, Version: d.opt.Version, State: d.state, Log: d.log}, plan.thresholds())
		if err != nil {
			x.close()
			return nil, fmt.Errorf("otel: %w", err)
		}
	}
	if o := cfg.Datadog; o != nil {
		x.dog, err = datadog.New(datadog.Options{Address: o.Address, Tags: o.Tags, Every: o.Every, Fine: o.Gaps, Models: cfg.Metrics.Models, State: d.state})
		if err != nil {
			x.close()
			return nil, fmt.Errorf("datadog: %w", err)
		}
	}
	return x, nil
}

// thresholds are all objectives whose limits are edges of buckets.
func (p *Plan) thresholds() []objective.Objective {
	all := slices.Clone(p.Objectives)
	for _, o := range p.SLO {
		all = append(all, o.Promises...)
	}
	return all
}

// sinks are told of every finished request; the counters first.
func (d *Daemon) sinks() traffic.Sinks {
	all := traffic.Sinks{d.counters, d.out.page}
	if d.out.otel != nil {
		all = append(all, d.out.otel)
	}
	if d.out.dog != nil {
		all = append(all, d.out.dog)
	}
	if d.budgets != nil {
		all = append(all, d.budgets.watch)
	}
	if d.rows != nil {
		all = append(all, d.rows)
	}
	return append(all, d.opt.Sinks...)
}

// set takes the objectives of a new plan.
func (x *exporters) set(before, now *Plan, log *slog.Logger) {
	x.page.Set(now.thresholds())
	if before == nil {
		return
	}
	a, b := &before.Config, &now.Config
	if !reflect.DeepEqual(a.Metrics, b.Metrics) || !reflect.DeepEqual(a.OTel, b.OTel) || !reflect.DeepEqual(a.Datadog, b.Datadog) || before.otelKey != now.otelKey {
		log.Warn("metrics, otel with its key, and datadog are read at the start only; the change counts after a restart")
	}
	if !reflect.DeepEqual(a.Rows, b.Rows) {
		log.Warn("rows are read at the start only; the change counts after a restart")
	}
	if !reflect.DeepEqual(a.Probes, b.Probes) {
		log.Warn("probes are read at the start only; the change counts after a restart")
	}
}

// exportTime is how long the last figures may take to be sent.
const exportTime = 5 * time.Second

func (x *exporters) close() {
	ctx, stop := context.WithTimeout(context.Background(), exportTime)
	defer stop()
	x.page.Close()
	if x.otel != nil {
		x.otel.Close(ctx)
	}
	if x.dog != nil {
		x.dog.Close()
	}
}

// state hands out what is not read off finished requests.
func (d *Daemon) state(emit func(m *telemetry.Metric, v float64, values ...string)) {
	d.mu.Lock()
	var all []proxy.Stats
	var names []string
	for i, one := range d.openings { // its own name may be older
		all, names = append(all, one.proxy.Load().Stats()), append(names, d.plan.listeners[i].Name)
	}
	plan, out, budgets, archive, servers := d.plan, d.out, d.budgets, d.rows, d.servers
	d.mu.Unlock()
	budgets.emit(emit)
	servers.emit(emit)
	for i, s := range all {
		name := names[i]
		emit(telemetry.InFlight, float64(s.InFlight), name)
		for _, why := range slices.Sorted(maps.Keys(s.Refused)) {
			emit(telemetry.Refused, float64(s.Refused[why]), name, why)
		}
		emit(telemetry.Passed, float64(s.Passed), name)
		emit(telemetry.Retries, float64(s.Retries), name)
		for _, u := range s.Upstreams {
			healthy := 0.
			if u.Healthy {
				healthy = 1
			}
			emit(telemetry.Healthy, healthy, name, u.Name)
		}
	}
	for i, s := range all {
		for _, k := range s.Keys {
			emit(telemetry.KeyInFlight, float64(k.InFlight), names[i], k.Name)
			emit(telemetry.KeyRequests, float64(k.Requests), names[i], k.Name)
			emit(telemetry.KeyLimited, float64(k.Limited), names[i], k.Name)
			emit(telemetry.KeyInput, float64(k.Input), names[i], k.Name)
			emit(telemetry.KeyOutput, float64(k.Output), names[i], k.Name)
		}
	}
	emit(telemetry.Reloads, float64(d.reloads.Load()))
	emit(telemetry.ReloadErrors, float64(d.failed.Load()))
	if plan != nil {
		for _, s := range telemetry.OfCounters(d.counters, plan.Objectives) {
			// One that has a budget too is counted there.
			if !slices.ContainsFunc(plan.SLO, func(o *slo.Objective) bool { return o.Hash == s.Hash }) {
				s.Emit(emit)
			}
		}
	}
	if out == nil {
		return
	}
	telemetry.EmitCounters(d.counters, out.page.Limit(), emit)
	if out.otel != nil {
		emit(telemetry.Dropped, float64(out.otel.Dropped()), "otel")
		emit(telemetry.DroppedSends, float64(out.otel.Failed()), "otel")
	}
	if archive != nil {
		emit(telemetry.Dropped, float64(archive.Dropped()), "rows")
		emit(telemetry.DroppedSends, float64(archive.Failed()), "rows")
	}
	for _, sink := range d.opt.Sinks {
		switch s := sink.(type) {
		case *Records:
			emit(telemetry.Dropped, float64(s.Dropped()), "records")
		case *Trace:
			emit(telemetry.Dropped, float64(s.Dropped()), "trace")
		}
	}
	if out.dog != nil {
		emit(telemetry.Dropped, float64(out.dog.Dropped()), "datadog")
		emit(telemetry.DroppedSends, float64(out.dog.Failed()), "datadog")
	}
}
