package imports

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tokenmeter/record/genai"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// otelTraces is an export of spans in OTLP's JSON. A stream of such texts, as the
// collector's file exporter writes, is read as well. Source:
// opentelemetry/proto/trace/v1.
type otelTraces struct {
	otelTrace
	Trace otelTrace `json:"trace"` // as Tempo's /api/v2/traces has them
}

type otelTrace struct {
	ResourceSpans []otelResource `json:"resourceSpans"`
	Batches       []otelResource `json:"batches"` // Tempo's name of them, in /api/traces (tempopb.Trace)
}

type otelResource struct {
	ScopeSpans []otelScope `json:"scopeSpans"`
	Older      []otelScope `json:"instrumentationLibrarySpans"` // their name before OTLP 0.19
}

type otelScope struct {
	Spans []otelSpan `json:"spans"`
}

func isOTel(head []byte) bool {
	return (contains(`"resourceSpans"`)(head) || contains(`"batches"`)(head)) &&
		(contains(`"scopeSpans"`)(head) || contains(`"instrumentationLibrarySpans"`)(head))
}

// otelInteger is one of 64 bits, which readers of protobuf's JSON have to take as a text
// and as a number. Source: https://protobuf.dev/programming-guides/json
type otelInteger string

func (n *otelInteger) UnmarshalJSON(b []byte) error {
	*n = otelInteger(bytes.Trim(b, `"`))
	return nil
}

type otelSpan struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId"`
	Start      otelInteger `json:"startTimeUnixNano"`
	End        otelInteger `json:"endTimeUnixNano"`
	Attributes []struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	} `json:"attributes"`
	Status struct {
		Code    any    `json:"code"` // a number in OTLP's JSON, a name in some exporters'
		Message string `json:"message"`
	} `json:"status"`
}

var errNoSpans = errors.New("no span of a model's client is in it: they have gen_ai.operation.name")

func readOTel(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	var spans genai.Spans
	requests := map[*genai.Span]*request{}
	err := eachLine(in, func(at int64, v *otelTraces) error {
		for _, resource := range slices.Concat(v.ResourceSpans, v.Batches, v.Trace.ResourceSpans, v.Trace.Batches) {
			for _, scope := range append(resource.ScopeSpans, resource.Older...) {
				for i := range scope.Spans {
					sp := scope.Spans[i].span()
					spans.Add(sp)
					if sp.AsksModel() {
						requests[sp] = otelRequest(at, sp, &scope.Spans[i])
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	var all []*request
	for _, sp := range spans.All {
		if r := requests[sp]; r != nil && !spans.Nested(sp) {
			all = append(all, r)
		}
	}
	if n := len(requests) - len(all); n > 0 {
		in.note(fmt.Sprintf("spans of requests that lie within the span of another request, and count with it: %d", n))
	}
	if len(all) == 0 {
		return m, in.at(0, errNoSpans)
	}
	err = emit(in, &m.Load, all, add)
	return m, err
}

func (s *otelSpan) span() *genai.Span {
	sp := &genai.Span{Trace: s.TraceID, ID: s.SpanID, Parent: s.Parent, Begin: nanos(s.Start), End: nanos(s.End), Attrs: map[string]any{}}
	for _, a := range s.Attributes {
		sp.Attrs[a.Key] = genai.Plain(a.Value)
	}
	return sp
}

// otelRequest is what the span of a model's client tells.
func otelRequest(at int64, sp *genai.Span, s *otelSpan) *request {
	r := unknown(at)
	r.start, r.end = unix(sp.Begin), unix(sp.End)
	r.first = sp.FirstChunkS().Or(r.first)
	r.streamed = r.first == r.first
	r.model = sp.Text("gen_ai.response.model", "gen_ai.request.model")
	r.session, r.id = sp.Conversation(), sp.Text("gen_ai.response.id")
	r.input, r.cached, r.output = sp.Input(), sp.Cached(), sp.Output()
	r.reasoning = sp.Reasoning()
	r.unsplit = r.reasoning.Or(0) > 0 // spans tell neither whether it came nor what the first chunk held
	r.asked = sp.Count("gen_ai.request.max_tokens")
	r.finish = sp.Finish()
	if n := sp.Count("http.response.status_code").Or(0); n < 1000 {
		r.status = int(n)
	}
	r.kind = failure(sp.Text("error.type"))
	r.failure = r.kind
	if s.Status.Code == float64(2) || s.Status.Code == "STATUS_CODE_ERROR" {
		r.failure = words(s.Status.Message, r.failure)
	}
	return r
}

// nanos reads nanoseconds since 1970; what is none is no time.
func nanos(text otelInteger) time.Time {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// unix is a time in seconds since 1970, exact to the microsecond; -1 for no time.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return -1
	}
	return float64(t.UnixMicro()) / 1e6
}
