package sessions

import (
	"cmp"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/record/timeline"
)

// otlp reads spans of OpenTelemetry's GenAI conventions: OTLP in JSON, as a
// collector's file exporter writes it, and the flat list of spans that
// inference-perf replays. Names of attributes: open-telemetry/
// semantic-conventions-genai before v0.1.0, and those of core from 1.27 on.
//
// A session is a gen_ai.conversation.id or, without one, a trace. An invoke_agent
// within another is a sub-agent.
func otlp(files []*os.File) ([]*Session, error) {
	t := traces{spans: map[string]*span{}, conversations: map[string]string{}}
	for _, in := range files {
		if err := lines(in, t.line); err != nil {
			return nil, err
		}
	}
	var calls []said
	for _, sp := range t.order {
		if c, ok := t.call(sp); ok {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return nil, errors.New("no span is a request to a model: want gen_ai.operation.name chat, text_completion or generate_content, and gen_ai.usage.input_tokens")
	}
	return logged(newScanner(nil), calls)
}

type traces struct {
	spans         map[string]*span // by trace and id
	order         []*span
	conversations map[string]string // of traces
}

// span is one span, as far as it matters here.
type span struct {
	trace, id, parent string
	begin, end        time.Time
	attrs             map[string]any
}

func (t *traces) line(s *scanner) {
	s.object(func(name string) {
		switch name {
		case "resourceSpans":
			s.array(func() { s.object(t.resource(s)) })
		case "spans":
			s.array(func() { t.add(s, readSpan(s)) })
		default:
			s.skip()
		}
	})
}

func (t *traces) resource(s *scanner) func(string) {
	return func(name string) {
		if name != "scopeSpans" && name != "instrumentationLibrarySpans" {
			s.skip()
			return
		}
		s.array(func() {
			s.object(func(name string) {
				if name != "spans" {
					s.skip()
					return
				}
				s.array(func() { t.add(s, readSpan(s)) })
			})
		})
	}
}

func (t *traces) add(s *scanner, sp *span) {
	if s.err != nil {
		return
	}
	if len(t.order) >= maxSpans {
		s.fail("more than %d spans", maxSpans)
		return
	}
	t.spans[sp.trace+" "+sp.id] = sp
	t.order = append(t.order, sp)
	if id := sp.text("gen_ai.conversation.id"); id != "" && t.conversations[sp.trace] == "" {
		t.conversations[sp.trace] = id
	}
}

// maxSpans bounds what is held of one recording.
const maxSpans = 5_000_000

func readSpan(s *scanner) *span {
	sp := &span{attrs: map[string]any{}}
	s.object(func(name string) {
		switch name {
		case "traceId", "trace_id":
			sp.trace = s.texts()
		case "spanId", "span_id":
			sp.id = s.texts()
		case "parentSpanId", "parent_span_id":
			sp.parent = s.texts()
		case "startTimeUnixNano", "start_time":
			sp.begin = s.moment()
		case "endTimeUnixNano", "end_time":
			sp.end = s.moment()
		case "attributes":
			sp.attributes(s)
		default:
			s.skip()
		}
	})
	return sp
}

// moment reads nanoseconds since 1970, or a date.
func (s *scanner) moment() time.Time {
	text := ""
	if s.peek() == '"' {
		text = s.text()
	} else {
		text = string(s.word())
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return time.Unix(0, n).UTC()
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	s.fail("%q is no time of a span", shortened([]byte(text)))
	return time.Time{}
}

// attributes reads OTLP's list of keys and values, or a plain object. Only those
// of GenAI are kept.
func (sp *span) attributes(s *scanner) {
	keep := func(name string, value any) {
		if strings.HasPrefix(name, "gen_ai.") {
			sp.attrs[name] = value
		}
	}
	if s.peek() == '{' {
		s.object(func(name string) { keep(name, s.value(0)) })
		return
	}
	s.array(func() {
		var name string
		var value any
		s.object(func(field string) {
			switch field {
			case "key":
				name = s.text()
			case "value":
				value = plainValue(s.value(0))
			default:
				s.skip()
			}
		})
		keep(name, value)
	})
}

// plainValue takes an AnyValue of OTLP out of its wrapping.
func plainValue(v any) any {
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
					out = append(out, plainValue(x))
				}
				return out
			}
			out := map[string]any{}
			for _, x := range list {
				pair, _ := x.(map[string]any)
				if name, ok := pair["key"].(string); ok {
					out[name] = plainValue(pair["value"])
				}
			}
			return out
		}
	}
	return v
}

// text is the first of some attributes that is one.
func (sp *span) text(names ...string) string {
	for _, name := range names {
		if text, ok := sp.attrs[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// count is the first of some attributes that is a whole number from 0.
func (sp *span) count(names ...string) timeline.Opt[int64] {
	for _, name := range names {
		var x float64
		switch v := sp.attrs[name].(type) {
		case float64:
			x = v
		case string: // whole numbers are texts in OTLP
			var err error
			if x, err = strconv.ParseFloat(v, 64); err != nil {
				continue
			}
		default:
			continue
		}
		if x >= 0 && x <= MaxTokens && x == math.Trunc(x) {
			return timeline.Some(int64(x))
		}
	}
	return timeline.Opt[int64]{}
}

func (sp *span) asksModel() bool {
	switch sp.text("gen_ai.operation.name") {
	case "chat", "generate_content", "text_completion":
		return true
	case "":
		return sp.text("gen_ai.request.model") != "" && (sp.input().OK() || sp.attrs["gen_ai.input.messages"] != nil)
	}
	return false
}

func (sp *span) input() timeline.Opt[int64] {
	return sp.count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
}

// above lists a span's ancestors, the nearest first.
func (t *traces) above(sp *span) (out []*span) {
	for n := 0; n < maxDepth && sp.parent != ""; n++ {
		up := t.spans[sp.trace+" "+sp.parent]
		if up == nil || slices.Contains(out, up) {
			break
		}
		out = append(out, up)
		sp = up
	}
	return out
}

// call is what a span says of a request to a model; false where it is none, or a
// part of another one.
func (t *traces) call(sp *span) (out said, ok bool) {
	if !sp.asksModel() || sp.begin.IsZero() {
		return out, false
	}
	up := t.above(sp)
	if slices.ContainsFunc(up, (*span).asksModel) {
		return out, false
	}
	out.session = cmp.Or(sp.text("gen_ai.conversation.id"), t.conversations[sp.trace], sp.trace)
	var agents []*span
	for _, a := range up {
		if a.text("gen_ai.operation.name") == "invoke_agent" {
			agents = append(agents, a)
		}
	}
	if n := len(agents); n > 1 { // the outermost is the session's own
		out.agent = agents[0].id
		out.name = agents[0].text("gen_ai.agent.name", "gen_ai.agent.id")
		if n > 2 {
			out.parent = agents[1].id
		}
	}
	out.begin, out.end = sp.begin, sp.end
	if out.end.Before(out.begin) {
		out.end = out.begin
	}
	c := &out.call
	c.Model = sp.text("gen_ai.request.model", "gen_ai.response.model")
	c.Cached = sp.count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens")
	if x, known := sp.attrs["gen_ai.response.time_to_first_chunk"].(float64); known {
		c.TTFT = timeline.Some(x)
	}
	c.Messages = spanMessages(sp)
	c.Input = sp.input().Or(bytesOf(c.Messages) / bytesPerToken)
	c.Output = max(sp.count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens").Or(1), 1)
	return out, c.fits()
}

// bytesPerToken stands in where a span has texts but no counts: about what OpenAI
// gives for English (help.openai.com, "What are tokens").
const bytesPerToken = 4
