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
	input, output, cached, thought              metric.Int64Counter   // after it
	inputSizes, outputSizes                     metric.Int64Histogram
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
	g.firstChunk = seconds(n.firstChunk, "Time to the first chunk that bears tokens.", firstEdges, telemetry.TTFT)
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
	g.thought = counter(n.thinkCounter, "Reasoning tokens; part of the output tokens.")
	g.inputSizes = tokens(n.inputSizes, "Input tokens of an operation.")
	g.outputSizes = tokens(n.outputSizes, "Output tokens of an operation.")
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
	plain := metric.WithAttributeSet(attribute.NewSet(all...))
	with := plain
	if r.Outcome != timeline.OK {
		with = metric.WithAttributeSet(attribute.NewSet(append(all, attribute.String("error.type", string(r.Outcome)))...))
	}
	if s, ok := seconds(r); ok {
		g.duration.Record(ctx, s, with)
		g.serverDuration.Record(ctx, s, with)
	}
	g.tokens(ctx, r, all)
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

// tokens records only counts that a server told: an estimate must not be
// reported as usage.
func (g *genAI) tokens(ctx context.Context, r *traffic.Request, all []attribute.KeyValue) {
	v := &r.Record
	input, knowsInput := v.InputTokens.Get()
	output, knowsOutput := v.OutputTokens.Get()
	knowsOutput = knowsOutput && v.TokenSource != nil && *v.TokenSource == string(record.FromUsage)
	all = slices.Clip(all)
	if g.usage != nil {
		typed := func(kind string) metric.MeasurementOption {
			return metric.WithAttributeSet(attribute.NewSet(append(all, attribute.String("gen_ai.token.type", kind))...))
		}
		if knowsInput {
			g.usage.Record(ctx, input, typed("input"))
		}
		if knowsOutput {
			g.usage.Record(ctx, output, typed("output"))
		}
		return
	}
	with := metric.WithAttributeSet(attribute.NewSet(all...))
	if knowsInput {
		g.input.Add(ctx, input, with)
		g.inputSizes.Record(ctx, input, with)
	}
	if knowsOutput {
		g.output.Add(ctx, output, with)
		g.outputSizes.Record(ctx, output, with)
	}
	if n, ok := v.CachedTokens.Get(); ok {
		g.cached.Add(ctx, n, with)
	}
	if n, ok := v.ReasoningTokens.Get(); ok {
		g.thought.Add(ctx, n, with)
	}
}
