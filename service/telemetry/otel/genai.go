package otel

import (
	"context"
	"errors"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	record "tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry"
	"tokenmeter/service/traffic"
)

// genAI are the instruments of the conventions. A chunk is one that bears
// tokens, so that a first chunk with a role only is no first chunk.
type genAI struct {
	duration, firstChunk, perChunk              metric.Float64Histogram
	serverDuration, serverFirst, serverPerToken metric.Float64Histogram
	usage                                       metric.Int64Histogram // v1.41
	input, output, cached, written, thought     metric.Int64Counter   // after it
	inputSizes, outputSizes, embedSizes         metric.Int64Histogram
	embedDuration                               metric.Float64Histogram // nil: embeddings are like all else
}

func newGenAI(meter metric.Meter, n *names, objectives []objective.Objective) (genAI, error) {
	var g genAI
	var errs []error
	seconds := func(name, help string, edges []float64, of *telemetry.Metric) metric.Float64Histogram {
		if of != nil {
			thresholds := telemetry.Metric{Objective: of.Objective, PerUnit: of.PerUnit}
			edges = slices.Concat(edges, thresholds.Edges(objectives))
			slices.Sort(edges)
			edges = slices.Compact(edges)
		}
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(help), metric.WithExplicitBucketBoundaries(edges...))
		errs = append(errs, err)
		return h
	}
	tokens := func(name, help string) metric.Int64Histogram {
		h, err := meter.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(help), metric.WithExplicitBucketBoundaries(usageEdges...))
		errs = append(errs, err)
		return h
	}
	counter := func(name, help string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit("{token}"), metric.WithDescription(help))
		errs = append(errs, err)
		return c
	}
	g.duration = seconds(n.duration, "GenAI operation duration.", durationEdges, telemetry.E2E)
	g.firstChunk = seconds(n.firstChunk, "Time to the first chunk that bears tokens.", chunkEdges, telemetry.TTFT)
	g.perChunk = seconds(n.perChunk, "Time per chunk that bears tokens, after the first.", chunkEdges, telemetry.ICL)
	g.serverDuration = seconds(serverDuration, "Generative AI server request duration, as seen by the proxy.", durationEdges, telemetry.E2E)
	g.serverFirst = seconds(serverFirst, "Time to generate the first token of successful responses, as seen by the proxy.", firstEdges, telemetry.TTFT)
	g.serverPerToken = seconds(serverPerToken, "Time per output token after the first of successful responses, as seen by the proxy.", perTokenEdges, telemetry.TPOT)
	if n.tokenUsage != "" {
		g.usage = tokens(n.tokenUsage, "Number of input and output tokens used.")
		return g, errors.Join(errs...)
	}
	g.input = counter(n.inputCounter, "Input tokens used.")
	g.output = counter(n.outputCounter, "Output tokens used.")
	g.cached = counter(n.cacheCounter, "Input tokens read from a cache; part of the input tokens.")
	g.written = counter(n.writeCounter, "Input tokens written to a cache; part of the input tokens.")
	g.thought = counter(n.thinkCounter, "Reasoning tokens; part of the output tokens.")
	g.inputSizes = tokens(n.inputSizes, "Input tokens of an operation.")
	g.outputSizes = tokens(n.outputSizes, "Output tokens of an operation.")
	g.embedDuration = seconds(n.embedDuration, "Embeddings operation duration.", durationEdges, telemetry.E2E)
	g.embedSizes = tokens(n.embedSizes, "Input tokens of an embeddings operation.")
	return g, errors.Join(errs...)
}

// identity is what the conventions want to know of an operation.
func identity(api, model string) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("gen_ai.operation.name", operation(api)), attribute.String("gen_ai.provider.name", provider(api))}
	if model != "" {
		all = append(all, attribute.String("gen_ai.request.model", model))
	}
	return all
}

// seconds is how long a request took: to the end of its body, or what is known.
func seconds(r *traffic.Request) (float64, bool) {
	for _, v := range []timeline.Opt[float64]{r.Record.CloseMS, r.Record.E2EMS} {
		if ms, ok := v.Get(); ok {
			return ms / 1000, true
		}
	}
	return 0, false
}

// record records what of a request the conventions name. Requests to no API
// that is known are none of theirs.
func (g *genAI) record(ctx context.Context, r *traffic.Request, set telemetry.Set, fine bool) {
	if r.Labels.API == "" {
		return
	}
	all := append(identity(set[4], set[3]), labels([]string{"tokenmeter.source", "tokenmeter.route", "tokenmeter.upstream"}, set[:3])...)
	all = slices.Clip(all) // NewSet sorts what it is given: what is added goes to a copy
	plain := metric.WithAttributeSet(attribute.NewSet(all...))
	with := plain
	if r.Outcome != timeline.OK {
		with = metric.WithAttributeSet(attribute.NewSet(append(all, attribute.String("error.type", string(r.Outcome)))...))
	}
	duration := g.duration
	if g.embedDuration != nil && set[4] == "embeddings" {
		duration = g.embedDuration
	}
	if s, ok := seconds(r); ok {
		duration.Record(ctx, s, with)
		g.serverDuration.Record(ctx, s, with)
	}
	g.tokens(ctx, r, all, with)
	if r.Unmeasured != "" || r.Outcome != timeline.OK {
		return
	}
	if ms, ok := r.Record.TTFTMS.Get(); ok && r.Streamed {
		g.firstChunk.Record(ctx, ms/1000, plain)
		g.serverFirst.Record(ctx, ms/1000, plain)
	}
	if ms, ok := r.Record.TPOTMS.Get(); ok {
		g.serverPerToken.Record(ctx, ms/1000, plain)
	}
	if fine && r.Streamed {
		record.Scan(r.Timeline, func(gap float64) { g.perChunk.Record(ctx, gap/1000, plain) }, nil)
	}
}

// tokens records only counts that a server told: an estimate must not be reported as
// usage. Where none came the conventions want 0, of tokens of unknown modality. with has
// the class of an error too.
func (g *genAI) tokens(ctx context.Context, r *traffic.Request, all []attribute.KeyValue, with metric.MeasurementOption) {
	v := &r.Record
	output := v.OutputTokens
	if v.TokenSource == nil || *v.TokenSource != string(record.FromUsage) {
		output = timeline.Opt[int64]{}
	}
	if g.usage != nil {
		typed := func(kind string, n timeline.Opt[int64]) {
			if n, ok := n.Get(); ok {
				g.usage.Record(ctx, n, metric.WithAttributeSet(attribute.NewSet(append(all, attribute.String("gen_ai.token.type", kind))...)))
			}
		}
		typed("input", v.InputTokens)
		typed("output", output)
		return
	}
	if r.Unmeasured != "" { // nobody looked for usage
		return
	}
	if r.Labels.API == "embeddings" {
		if n, ok := v.InputTokens.Get(); ok {
			g.embedSizes.Record(ctx, n, with)
		}
		return
	}
	g.inputSizes.Record(ctx, v.InputTokens.Or(0), with)
	g.outputSizes.Record(ctx, output.Or(0), with)
	of := func(modality string) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(append(all, attribute.String("gen_ai.token.modality", modality))...))
	}
	known, unknown := of(modality(operation(r.Labels.API))), of("unknown")
	for _, c := range []struct {
		counter metric.Int64Counter
		n       timeline.Opt[int64]
	}{{g.input, v.InputTokens}, {g.output, output}, {g.cached, v.CachedTokens}, {g.written, r.Usage.CacheWrite}, {g.thought, v.ReasoningTokens}} {
		if n, ok := c.n.Get(); ok {
			c.counter.Add(ctx, n, known)
		} else {
			c.counter.Add(ctx, 0, unknown)
		}
	}
}
