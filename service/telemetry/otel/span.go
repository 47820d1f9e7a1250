package otel

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	record "tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// span sends a request as one span, a child of the client's where it sent a
// traceparent. It has no texts: no prompt, no answer, no words of an error.
func (e *Exporter) span(r *traffic.Request) {
	if r.Labels.API == "" {
		return
	}
	took, known := seconds(r)
	if !known {
		return
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": r.Trace})
	name := operation(r.Labels.API)
	if r.Labels.Model != "" {
		name += " " + r.Labels.Model
	}
	_, s := e.spans.Start(ctx, name, trace.WithTimestamp(r.At), trace.WithSpanKind(trace.SpanKindClient))
	defer s.End(trace.WithTimestamp(r.At.Add(time.Duration(took * float64(time.Second)))))
	if !s.IsRecording() {
		return
	}
	s.SetAttributes(e.about(r)...)
	if r.Outcome != timeline.OK {
		s.SetAttributes(attribute.String("error.type", string(r.Outcome)))
	}
	if r.Outcome.Failed() {
		s.SetStatus(codes.Error, string(r.Outcome))
	}
}

// about is what a span says of its request.
func (e *Exporter) about(r *traffic.Request) []attribute.KeyValue {
	v := &r.Record
	all := append(identity(r.Labels.API, r.Labels.Model),
		attribute.String("tokenmeter.outcome", string(r.Outcome)))
	if r.Asked {
		all = append(all, attribute.Bool("gen_ai.request.stream", true))
	}
	all = append(all, labels([]string{"tokenmeter.source", "tokenmeter.listener", "tokenmeter.route", "tokenmeter.upstream", "tokenmeter.unmeasured"},
		[]string{string(r.Labels.Source), r.Labels.Listener, r.Labels.Route, r.Labels.Upstream, string(r.Unmeasured)})...)
	if v.Remote != nil {
		if host, port, err := net.SplitHostPort(*v.Remote); err == nil {
			all = append(all, attribute.String("server.address", host))
			if n, err := strconv.Atoi(port); err == nil {
				all = append(all, attribute.Int("server.port", n))
			}
		}
	}
	reason := ""
	if v.FinishReason != nil {
		reason = finish(*v.FinishReason)
	} else if r.Outcome != timeline.OK && r.HTTPStatus == 200 {
		reason = "error" // an answer began and never said why it ended
	}
	if reason != "" {
		all = append(all, attribute.StringSlice("gen_ai.response.finish_reasons", []string{reason}))
	}
	if n, ok := v.HTTPStatus.Get(); ok {
		all = append(all, attribute.Int64("http.response.status_code", n))
	}
	count := func(name string, v timeline.Opt[int64]) {
		if n, ok := v.Get(); ok {
			all = append(all, attribute.Int64(name, n))
		}
	}
	time := func(name string, v timeline.Opt[float64]) {
		if ms, ok := v.Get(); ok {
			all = append(all, attribute.Float64(name, ms/1000))
		}
	}
	count("gen_ai.request.max_tokens", v.RequestedTokens)
	count("gen_ai.usage.input_tokens", v.InputTokens)
	if v.TokenSource != nil && *v.TokenSource == string(record.FromUsage) {
		count("gen_ai.usage.output_tokens", v.OutputTokens)
	}
	count("gen_ai.usage.cache_read.input_tokens", v.CachedTokens)
	count(e.names().cacheWrite, r.Usage.CacheWrite)
	count("gen_ai.usage.reasoning.output_tokens", v.ReasoningTokens)
	if r.Streamed {
		time("gen_ai.response.time_to_first_chunk", v.TTFTMS)
	}
	time("tokenmeter.ttft", v.TTFTMS)
	time("tokenmeter.tpot", v.TPOTMS)
	time("tokenmeter.max_gap", v.MaxGapMS)
	time("tokenmeter.e2e", v.E2EMS)
	return all
}

// finish is a reason that is known; a server could say anything else.
func finish(reason string) string {
	switch low := strings.ToLower(reason); low {
	case "stop", "length", "tool_calls", "tool_call", "function_call", "content_filter", "end_turn", "max_tokens", "stop_sequence", "tool_use",
		"pause_turn", "refusal", "safety", "error", "abort", "eos", "eos_token", "limit", "complete", "completed", "incomplete":
		return low
	}
	return "other"
}
