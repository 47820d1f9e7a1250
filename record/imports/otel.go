package imports

import (
	"bytes"
	"errors"
	"strconv"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// otelTraces is an export of spans in OTLP's JSON. A stream of such texts, as the
// collector's file exporter writes, is read as well. Source:
// opentelemetry/proto/trace/v1 and the semantic conventions for generative AI.
type otelTraces struct {
	ResourceSpans []struct {
		ScopeSpans []struct {
			Spans []otelSpan `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type otelSpan struct {
	SpanID     string          `json:"spanId"`
	Name       string          `json:"name"`
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otelAttribute `json:"attributes"`
	Status     struct {
		Code    any    `json:"code"`
		Message string `json:"message"`
	} `json:"status"`
}

type otelAttribute struct {
	Key   string `json:"key"`
	Value struct {
		String *string    `json:"stringValue"`
		Int    any        `json:"intValue"` // a string in OTLP's JSON, a number in some exporters'
		Double *float64   `json:"doubleValue"`
		Array  *otelArray `json:"arrayValue"`
	} `json:"value"`
}

type otelArray struct {
	Values []struct {
		String *string `json:"stringValue"`
	} `json:"values"`
}

var errNoSpans = errors.New("no span of a model's client is in it: they have gen_ai.operation.name")

func isOTel(head []byte) bool {
	return bytes.Contains(head, []byte(`"resourceSpans"`)) && bytes.Contains(head, []byte(`"scopeSpans"`))
}

// otelOperations are those that ask a model for tokens.
var otelOperations = map[string]bool{"chat": true, "text_completion": true, "generate_content": true}

func readOTel(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	m.Load.Kind = "open"
	var all []*request
	err := eachLine(in, func(at int64, v *otelTraces) error {
		for _, resource := range v.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for i := range scope.Spans {
					if r := scope.Spans[i].request(at); r != nil {
						all = append(all, r)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	if len(all) == 0 {
		return m, in.at(0, errNoSpans)
	}
	return m, emit(in, all, add)
}

// request reads a span of a model's client; nil for any other.
func (s *otelSpan) request(at int64) *request {
	r := unknown(at)
	operation, known := "", false
	for i := range s.Attributes {
		a := &s.Attributes[i]
		switch a.Key {
		case "gen_ai.operation.name":
			operation = a.text()
			known = true
		case "gen_ai.request.model":
			if r.model == "" {
				r.model = a.text()
			}
		case "gen_ai.response.model":
			r.model = a.text()
		case "gen_ai.conversation.id", "session.id":
			r.session = a.text()
		case "gen_ai.response.id":
			r.id = a.text()
		case "gen_ai.request.max_tokens":
			r.asked = count(a.number())
		case "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens":
			r.input = count(a.number())
		case "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens":
			r.output = count(a.number())
		case "gen_ai.usage.cache_read.input_tokens":
			r.cached = count(a.number())
		case "gen_ai.response.time_to_first_chunk", "gen_ai.server.time_to_first_token":
			if v := a.number(); v != nil {
				r.first = *v
			}
		case "gen_ai.response.finish_reasons":
			if a.Value.Array != nil && len(a.Value.Array.Values) > 0 && a.Value.Array.Values[0].String != nil {
				r.finish = *a.Value.Array.Values[0].String
			}
		case "http.response.status_code":
			if n, ok := count(a.number()).Get(); ok && n < 1000 {
				r.status = int(n)
			}
		case "error.type":
			r.failure = a.text()
		}
	}
	if !known && !r.input.OK() || known && !otelOperations[operation] {
		return nil
	}
	r.start, r.end = nanos(s.Start), nanos(s.End)
	r.streamed = r.first == r.first
	if s.Status.Code == float64(2) || s.Status.Code == "STATUS_CODE_ERROR" {
		r.failure = words(s.Status.Message, r.failure)
	}
	return r
}

func (a *otelAttribute) text() string {
	if a.Value.String == nil {
		return ""
	}
	return *a.Value.String
}

func (a *otelAttribute) number() *float64 {
	switch v := a.Value.Int.(type) {
	case float64:
		return &v
	case string:
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			return &n
		}
	}
	return a.Value.Double
}

// nanos turns nanoseconds since 1970 to seconds, without losing the microseconds.
func nanos(text string) float64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return -1
	}
	return float64(n/1000) / 1e6
}
