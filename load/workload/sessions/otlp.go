package sessions

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/record/genai"
)

// otlp reads spans of OpenTelemetry's GenAI conventions: OTLP in JSON, as a
// collector's file exporter writes it, and the flat list of spans that
// inference-perf replays.
//
// A session is a gen_ai.conversation.id or, without one, a trace. An invoke_agent
// within another is a sub-agent.
func otlp(files []*os.File) ([]*Session, error) {
	t := traces{conversations: map[string]string{}}
	for _, in := range files {
		if err := lines(in, t.line); err != nil {
			return nil, err
		}
	}
	var calls []said
	for _, sp := range t.spans.All {
		if c, ok := t.call(sp); ok {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return nil, errors.New("no span is a request to a model: want gen_ai.operation.name chat, text_completion or generate_content, and gen_ai.usage.input_tokens")
	}
	return logged(calls)
}

// isOTLP tells spans by the names in the first objects: those of OTLP, of Tempo's
// /api/traces, or of its /api/v2/traces (tempopb.TraceByIDResponse), all under "trace".
func isOTLP(names []string) bool {
	for _, name := range []string{"resourceSpans", "spans", "batches"} {
		if slices.Contains(names, name) {
			return true
		}
	}
	return slices.Contains(names, "trace") && !slices.ContainsFunc(names, func(name string) bool {
		return !slices.Contains([]string{"trace", "metrics", "status", "message"}, name)
	})
}

type traces struct {
	spans         genai.Spans
	conversations map[string]string // of traces
}

func (t *traces) line(s *scanner) {
	spans := func() { s.array(func() { t.add(s, readSpan(s)) }) }
	scopes := func() { s.array(func() { s.fill(fields{"spans": spans}) }) }
	resources := func() {
		s.array(func() { s.fill(fields{"scopeSpans": scopes, "instrumentationLibrarySpans": scopes}) })
	}
	s.fill(fields{"spans": spans, "resourceSpans": resources, "batches": resources, "trace": func() {
		s.fill(fields{"resourceSpans": resources, "batches": resources})
	}})
}

func (t *traces) add(s *scanner, sp *genai.Span) {
	if s.err != nil {
		return
	}
	if len(t.spans.All) >= maxSpans {
		s.fail("more than %d spans", maxSpans)
		return
	}
	t.spans.Add(sp)
	if id := sp.Conversation(); id != "" && t.conversations[sp.Trace] == "" {
		t.conversations[sp.Trace] = id
	}
}

// maxSpans bounds what is held of one recording.
const maxSpans = 5_000_000

func readSpan(s *scanner) *genai.Span {
	sp := &genai.Span{Attrs: map[string]any{}}
	trace, id, parent := (*loose)(&sp.Trace), (*loose)(&sp.ID), (*loose)(&sp.Parent)
	begin, end := func() { sp.Begin = s.moment() }, func() { sp.End = s.moment() }
	s.fill(fields{"traceId": trace, "trace_id": trace, "spanId": id, "span_id": id, "parentSpanId": parent, "parent_span_id": parent,
		"startTimeUnixNano": begin, "start_time": begin, "endTimeUnixNano": end, "end_time": end, "attributes": func() { attributes(s, sp) }})
	return sp
}

// moment reads nanoseconds since 1970, or a date.
func (s *scanner) moment() time.Time {
	var text string
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
	s.fail("%q is no time of a span", printable.Short(text, longestQuote))
	return time.Time{}
}

// attributes reads OTLP's list of keys and values, or a plain object. Only those
// of GenAI are kept.
func attributes(s *scanner, sp *genai.Span) {
	keep := func(name string, value any) {
		if strings.HasPrefix(name, "gen_ai.") {
			sp.Attrs[name] = value
		}
	}
	if s.peek() == '{' {
		s.object(func(name string) { keep(name, s.value(0)) })
		return
	}
	s.array(func() {
		var name string
		var value any
		s.fill(fields{"key": &name, "value": func() { value = genai.Plain(s.value(0)) }})
		keep(name, value)
	})
}

// call is what a span says of a request to a model; false where it is none, or a
// part of another one.
func (t *traces) call(sp *genai.Span) (out said, ok bool) {
	if !sp.AsksModel() || sp.Begin.IsZero() || t.spans.Nested(sp) {
		return out, false
	}
	out.session = cmp.Or(sp.Conversation(), t.conversations[sp.Trace], sp.Trace)
	var agents []*genai.Span
	for _, a := range t.spans.Above(sp) {
		if a.IsAgent() {
			agents = append(agents, a)
		}
	}
	if n := len(agents); n > 1 { // the outermost is the session's own
		out.agent = agents[0].ID
		out.name = agents[0].Text("gen_ai.agent.name", "gen_ai.agent.id")
		if n > 2 {
			out.parent = agents[1].ID
		}
	}
	out.begin, out.end = sp.Begin, sp.End
	if out.end.Before(out.begin) {
		out.end = out.begin
	}
	c := &out.call
	c.Model = sp.Text("gen_ai.request.model", "gen_ai.response.model")
	c.Cached, c.TTFT = sp.Cached(), sp.FirstChunkS()
	if c.Messages = spanMessages(sp); c.Messages != nil {
		c.Unsent = unsentOf(sp)
	}
	c.Input = sp.Input().Or(int64(len(flat(c.Messages))) / bytesPerToken)
	c.Output = max(sp.Output().Or(1), 1)
	return out, c.fits()
}

// bytesPerToken stands in where a span has texts but no counts: about what OpenAI
// gives for English (help.openai.com, "What are tokens").
const bytesPerToken = 4
