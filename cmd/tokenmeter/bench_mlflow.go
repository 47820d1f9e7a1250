//go:build !lean

package main

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/base/secret"
	"tokenmeter/load/bench"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry/mlflow"
)

// isMLflow tells MLflow's tracking servers by the path of their REST API.
func isMLflow(to string) bool {
	u, err := url.Parse(to)
	return err == nil && strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/api/2.0/mlflow")
}

// log logs the run to a tracking server; MLflow's own variables name the experiment and
// a token.
func (t *telemetry) log(a *app, to string, plan *bench.Plan, objectives []objective.Objective) {
	t.metrics(objectives)
	env := func(name string) string {
		if value, ok := a.env(name); ok {
			return strings.TrimSpace(value)
		}
		return ""
	}
	params := map[string]string{"url": secret.RedactURL(plan.Client.BaseURL), "api": plan.Client.API.Name, "version": fullVersion()}
	for i, o := range objectives {
		params["objective."+strconv.Itoa(i+1)] = o.String()
	}
	t.logs = append(t.logs, mlflow.New(mlflow.Options{URL: to, Key: cmp.Or(t.key, env("MLFLOW_TRACKING_TOKEN")), Experiment: env("MLFLOW_EXPERIMENT_NAME"),
		ExperimentID: env("MLFLOW_EXPERIMENT_ID"), Params: params, Every: telemetryEvery, Timeout: telemetryEnd, Version: fullVersion(), Gather: t.page.Gather}))
}

// ended logs the run's own figures and says where they are.
func (t *telemetry) ended(ctx context.Context, a *app, log *mlflow.Logger, of *run.Run) {
	status, figures, params := mlflow.Failed, map[string]float64{}, map[string]string{}
	if of != nil {
		if !of.Partial && of.Requests.OK > 0 {
			status = mlflow.Finished
		}
		params["model"], params["load"], params["verdict"] = printable.Text(of.Target.Model), of.Load.Kind, of.Validity.Verdict
		if n, ok := of.Load.Concurrency.Get(); ok {
			params["concurrency"] = strconv.FormatInt(n, 10)
		}
		if rate, ok := of.Load.RatePerS.Get(); ok {
			params["rate_per_s"] = strconv.FormatFloat(rate, 'g', -1, 64)
		}
		for name, d := range of.Metrics {
			for _, f := range d.Figures() {
				if f.Name != "sd" {
					figure(figures, name+"/"+f.Name, *f.Value)
				}
			}
		}
		figure(figures, "system_output_tps", of.Throughput.SystemOutputTPS)
		figure(figures, "requests_per_s", of.Throughput.RequestsPerS)
		if of.Goodput != nil {
			figure(figures, "goodput.fraction", of.Goodput.Fraction)
		}
		figures["requests.ok"], figures["requests.failed"] = float64(of.Requests.OK), float64(of.Requests.Failed)
	}
	id, err := log.Close(ctx, status, figures, params)
	if err != nil {
		a.warn("the tracking server of --telemetry has not got the last figures: %v (%d batches failed); the run itself lacks nothing", err, log.Failed())
	} else {
		a.note("logged to MLflow as run %s", id)
	}
}

func figure(into map[string]float64, name string, v timeline.Opt[float64]) {
	if x, ok := v.Get(); ok {
		into[name] = x
	}
}
