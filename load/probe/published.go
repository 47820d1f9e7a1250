package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// Publisher is the host of the router that tells the percentiles of each of a
// model's providers, to those who show a key (its API reference, "List all
// endpoints for a model").
const Publisher = "openrouter.ai"

// publishedTime is how long the first probes of a day wait for its answer.
const publishedTime = 5 * time.Second

// percentiles are those that the router has of half an hour.
type percentiles struct {
	P50 timeline.Opt[float64] `json:"p50"`
	P90 timeline.Opt[float64] `json:"p90"`
}

// published asks a target, where it is one that tells, what it says of its own
// speed. What goes wrong leaves it unknown: it is no failure of a probe.
func published(ctx context.Context, t *Target, clk *clock.Clock) (all []run.Published) {
	at, err := url.Parse(t.Client.BaseURL)
	if err != nil || at.Hostname() != Publisher {
		return nil
	}
	cfg := t.Client
	cfg.Clock = clk
	Mark(&cfg)
	cl, err := client.New(cfg)
	if err != nil {
		return nil
	}
	defer cl.Close()
	ctx, stop := context.WithTimeout(ctx, publishedTime)
	defer stop()
	model, _, _ := strings.Cut(t.Model, ":") // what follows is a way to be served, no model
	r, err := cl.Get(ctx, "/v1/models/"+model+"/endpoints")
	if err != nil || r.Status != http.StatusOK {
		return nil
	}
	var answer struct {
		Data struct {
			Endpoints []struct {
				Name       string      `json:"provider_name"`
				Tag        string      `json:"tag"`
				Latency    percentiles `json:"latency_last_30m"`    // ms to the first token
				Throughput percentiles `json:"throughput_last_30m"` // tokens/s
			} `json:"endpoints"`
		} `json:"data"`
	}
	if json.Unmarshal(r.Body, &answer) != nil {
		return nil
	}
	red := cl.Redactor()
	for _, e := range answer.Data.Endpoints {
		all = append(all, run.Published{At: wall(clk), Provider: red.String(e.Name), Tag: red.String(e.Tag),
			TTFTP50: e.Latency.P50, TTFTP90: e.Latency.P90, TPSP50: e.Throughput.P50, TPSP90: e.Throughput.P90})
	}
	return all
}
