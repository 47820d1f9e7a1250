// Package genai reads what spans of OpenTelemetry's conventions for generative
// AI say of requests to models: their attributes under the names of every
// edition, and which request is a part of another. How the spans come out of a
// file is the callers' own.
package genai

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"tokenmeter/record/timeline"
)

// Span is one span, as far as it matters here. Sources of the names: open-telemetry/
// semantic-conventions-genai v0.1.0, and those of core from 1.27 on.
type Span struct {
	Trace, ID, Parent string // Parent is empty at the root
	Begin, End        time.Time
	Attrs             map[string]any // as Plain returns them
}

// Plain takes an AnyValue of OTLP, as JSON decodes to, out of its wrapping.
// Anything else stays as it is.
func Plain(v any) any {
	wrapped, ok := v.(map[string]any)
	if !ok || len(wrapped) != 1 {
		return v
	}
	for kind, inner := range wrapped {
		switch kind {
		case "stringValue", "boolValue", "doubleValue", "intValue", "bytesValue":
			return inner
		case "arrayValue", "kvlistValue":
			object, _ := inner.(map[string]any)
			list, _ := object["values"].([]any)
			if kind == "arrayValue" {
				out := []any{}
				for _, x := range list {
					out = append(out, Plain(x))
				}
				return out
			}
			out := map[string]any{}
			for _, x := range list {
				pair, _ := x.(map[string]any)
				if name, ok := pair["key"].(string); ok {
					out[name] = Plain(pair["value"])
				}
			}
			return out
		}
	}
	return v
}

// Text is the first of some attributes that is one; empty without.
func (s *Span) Text(names ...string) string {
	for _, name := range names {
		if text, ok := s.Attrs[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// Number is the first of some attributes that is one.
func (s *Span) Number(names ...string) timeline.Opt[float64] {
	for _, name := range names {
		switch v := s.Attrs[name].(type) {
		case float64:
			return timeline.Some(v)
		case string: // whole numbers are texts in OTLP
			if x, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
				return timeline.Some(x)
			}
		}
	}
	return timeline.Opt[float64]{}
}

// Count is the first of some attributes that is a whole number from 0.
func (s *Span) Count(names ...string) timeline.Opt[int64] {
	for _, name := range names {
		if x, ok := s.Number(name).Get(); ok && x >= 0 && x < 1<<53 && x == math.Trunc(x) {
			return timeline.Some(int64(x))
		}
	}
	return timeline.Opt[int64]{}
}

// Input is how many tokens the prompt had, cached ones among them, as the conventions
// say. Instrumentations that leave out what was read from a cache or written to one, as
// Anthropic's own usage does, are known by a cache that is larger than the prompt: it
// stands beside it then. Source: traceloop/openllmetry#4449, pydantic/logfire#1812.
func (s *Span) Input() timeline.Opt[int64] {
	input := s.Count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
	cache := s.Cached().Or(0) + s.Count("gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens").Or(0)
	return Whole(input, cache)
}

// Cached is how many of the prompt's tokens came from the provider's cache.
func (s *Span) Cached() timeline.Opt[int64] {
	return s.Count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens")
}

// Output is how many tokens the answer had, reasoning among them, as the conventions
// say; reasoning that is larger than the answer stands beside it.
func (s *Span) Output() timeline.Opt[int64] {
	return Whole(s.Count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"), s.Reasoning().Or(0))
}

// Whole is a count of tokens with a part of it that may have been left out: one that is
// larger than the count can be no part of it, and stands beside it. Empty without a count.
func Whole(count timeline.Opt[int64], part int64) timeline.Opt[int64] {
	return timeline.Map(count, func(n int64) int64 {
		if part > n {
			return n + part
		}
		return n
	})
}

// Reasoning is how many of the answer's tokens were reasoning, whether it came or not:
// the conventions' name, OpenLLMetry's, and pydantic-ai's.
func (s *Span) Reasoning() timeline.Opt[int64] {
	return s.Count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "gen_ai.usage.details.reasoning_tokens")
}

// Finish is why the answer ended: the first of its reasons, which LiteLLM writes as a JSON
// text; empty without.
func (s *Span) Finish() (reason string) {
	reasons, _ := s.Attrs["gen_ai.response.finish_reasons"].([]any)
	if text, ok := s.Attrs["gen_ai.response.finish_reasons"].(string); ok && json.Unmarshal([]byte(text), &reasons) != nil {
		return text
	}
	if len(reasons) > 0 {
		reason, _ = reasons[0].(string)
	}
	return reason
}

// Conversation is the session that the span names; empty without.
func (s *Span) Conversation() string { return s.Text("gen_ai.conversation.id", "session.id") }

// FirstChunkS is the time to the first chunk of the answer, in seconds.
func (s *Span) FirstChunkS() timeline.Opt[float64] {
	if ms, ok := s.Number("ai.response.msToFirstChunk").Get(); ok { // the AI SDK's
		return timeline.Some(ms / 1000)
	}
	return s.Number("gen_ai.response.time_to_first_chunk", "gen_ai.server.time_to_first_token",
		"gen_ai.latency.time_to_first_token") // vLLM's own spans
}

// IsAgent reports whether the span is the call of an agent.
func (s *Span) IsAgent() bool { return s.Text("gen_ai.operation.name") == "invoke_agent" }

// AsksModel reports whether the span asks a model for tokens. Spans before 1.27
// name no operation: there a model and the length of a prompt tell. LiteLLM names its own
// functions, with an a in front of those that don't wait (call_type in its
// integrations/opentelemetry.py, CallTypes in types/utils.py).
func (s *Span) AsksModel() bool {
	switch s.Text("gen_ai.operation.name") {
	case "chat", "generate_content", "text_completion",
		"completion", "acompletion", "atext_completion", "responses", "aresponses", "anthropic_messages",
		"agenerate_content", "generate_content_stream", "agenerate_content_stream":
		return true
	case "":
		return s.Text("gen_ai.request.model", "gen_ai.response.model") != "" && (s.Input().OK() || s.Attrs["gen_ai.input.messages"] != nil)
	}
	return false
}

// Spans are those of a recording.
type Spans struct {
	All  []*Span // in the order in which they were added
	byID map[[2]string]*Span
}

// Add adds a span.
func (t *Spans) Add(s *Span) {
	if t.byID == nil {
		t.byID = map[[2]string]*Span{}
	}
	t.byID[[2]string{s.Trace, s.ID}] = s
	t.All = append(t.All, s)
}

// deepest is how many ancestors of a span are looked at: more than any program has,
// and an end where spans name each other in a circle.
const deepest = 100

// Above lists a span's ancestors, the nearest first.
func (t *Spans) Above(s *Span) (out []*Span) {
	for len(out) < deepest && s.Parent != "" {
		up := t.byID[[2]string{s.Trace, s.Parent}]
		if up == nil || slices.Contains(out, up) {
			break
		}
		out = append(out, up)
		s = up
	}
	return out
}

// Nested reports whether a request to a model is part of another one, as where
// both a framework and the client below it write spans. The outer one is what
// its caller waited for, retries among it.
func (t *Spans) Nested(s *Span) bool {
	return slices.ContainsFunc(t.Above(s), func(up *Span) bool { return up != s && up.AsksModel() })
}
