package api

import (
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// Gemini is POST /v1beta/models/MODEL:streamGenerateContent and :generateContent,
// of the Gemini API and of Vertex AI. With alt=sse the reply is an event stream,
// without it one JSON array; either ends when the body does.
// Source: https://ai.google.dev/api/generate-content
var Gemini = &API{
	Name:             "gemini",
	Path:             "/v1beta/models/MODEL:streamGenerateContent",
	Aliases:          []string{":streamGenerateContent", ":generateContent"},
	StreamsByDefault: true, // the path tells
	Build:            buildGemini,
	Decoder:          func() Decoder { return new(geminiDecoder) },
	StreamsArray:     true,
	Summarises:       true, // https://ai.google.dev/gemini-api/docs/thinking
	Ends:             ByFinish,
	AuthHeader:       "x-goog-api-key",
	Signs: []Sign{{"candidates/content"}, {"candidates/finishReason"}, {"usageMetadata/promptTokenCount"},
		{"response/candidates/content"}, {"response/candidates/finishReason"}, {"response/usageMetadata/promptTokenCount"}},
}

func buildGemini(r *Request) (Call, error) {
	path := "/v1beta/models/" + strings.TrimPrefix(r.Model, "models/")
	if r.Stream {
		path += ":streamGenerateContent?alt=sse"
	} else {
		path += ":generateContent"
	}
	var contents []any
	names := map[string]string{} // of the tools, by the call's id
	system, others := r.system()
	for _, m := range others {
		contents = append(contents, map[string]any{"role": m.googleRole(), "parts": geminiParts(&m, names)})
	}
	r.pictured, r.filmed, r.tooled = true, true, true
	body := map[string]any{"contents": contents}
	if system != nil {
		body["systemInstruction"] = map[string]any{"parts": textParts(system)}
	}
	within(body, "generationConfig", r.length("maxOutputTokens"))
	return r.call(path, body)
}

// googleRole is the role of a message by Google's names.
func (m *Message) googleRole() string {
	if m.Role == "assistant" {
		return "model"
	}
	return "user"
}

// geminiParts writes a message. The result of a tool names the tool, not the call.
func geminiParts(m *Message, names map[string]string) []any {
	if m.ToolCallID != "" {
		return []any{map[string]any{"functionResponse": map[string]any{
			"name": names[m.ToolCallID], "response": map[string]any{"result": m.Content}}}}
	}
	var parts []any
	for _, picture := range m.Images {
		parts = append(parts, map[string]any{"inlineData": map[string]any{"mimeType": picture.MIME, "data": picture.base64()}})
	}
	if m.Content != "" || len(m.Images) == 0 && len(m.ToolCalls) == 0 {
		parts = append(parts, map[string]any{"text": m.Content})
	}
	for _, c := range m.ToolCalls {
		names[c.ID] = c.Function.Name
		parts = append(parts, map[string]any{"functionCall": map[string]any{
			"name": c.Function.Name, "args": argumentsOf(c.Function.Arguments)}})
	}
	return parts
}

// geminiDecoder reads whole GenerateContentResponses, of which a stream has one
// an event. Its usage counts all of the reply so far.
type geminiDecoder struct {
	r     reading
	cands []geminiCandidate
}

// geminiCandidate is what one of the candidates of an event said.
type geminiCandidate struct {
	choice int
	said   saying
	pieces int // of the event's pieces, where this candidate's end
	finish jsonscan.Text
}

// apply tells of each candidate by itself, and of what belongs to all of them
// with the last.
func (d *geminiDecoder) apply(_ framing.Event, s *Stream) {
	all, from := d.r.pieces, 0
	usage, has := d.r.usage, d.r.hasUsage
	blocked := d.r.finish
	for i, c := range d.cands {
		d.r.choice, d.r.said, d.r.finish = c.choice, c.said, c.finish
		d.r.pieces, from = all[from:c.pieces], c.pieces
		if last := i == len(d.cands)-1; last {
			d.r.usage, d.r.hasUsage = usage, has
		} else {
			d.r.hasUsage = false
		}
		d.r.apply(s, timeline.Empty)
		d.r.errors = nil
	}
	d.r.pieces = all
	if len(d.cands) > 0 {
		return
	}
	d.r.finish = blocked
	otherwise := timeline.Empty
	if has {
		otherwise = timeline.UsageEvent
	}
	d.r.apply(s, otherwise)
}

func (d *geminiDecoder) read(e framing.Event, s *Stream) bool {
	c := d.r.start(e, s)
	d.cands = d.cands[:0]
	d.members(true)
	return c.End()
}

// members reads what a response holds. Code Assist, which Gemini CLI asks where its user
// is signed in at Google, has the whole of it in response.
// Source: google-gemini/gemini-cli, packages/core/src/code_assist/converter.ts
func (d *geminiDecoder) members(outermost bool) {
	c := &d.r.c
	for name := range c.Members {
		switch string(name) {
		case "candidates":
			for range c.Elements {
				d.candidate(len(d.cands))
			}
		case "usageMetadata":
			d.usage()
		case "promptFeedback": // a prompt that is blocked gets no candidate
			c.under("blockReason", func() { d.r.finish = c.enum("", "SAFETY", "OTHER") })
		case "modelVersion":
			d.r.model, _ = c.Text()
		case "error":
			d.r.errors = c.problem()
		case "response":
			if outermost {
				d.members(false)
			}
		}
	}
}

func (d *geminiDecoder) candidate(choice int) {
	c := &d.r.c
	d.r.said = saying{}
	var finish jsonscan.Text
	for name := range c.Members {
		switch string(name) {
		case "index":
			if n, ok := c.Integer(); ok {
				choice = int(max(n, 0))
			}
		case "content":
			c.under("parts", func() {
				for range c.Elements {
					d.part()
				}
			})
		case "finishReason":
			finish = c.enum("", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
		}
	}
	d.cands = append(d.cands, geminiCandidate{choice, d.r.said, len(d.r.pieces), finish})
}

// part reads a part of a content. Whether its text is thought stands beside the
// text, before or after it. What code gave that the service ran was not generated.
func (d *geminiDecoder) part() {
	c := &d.r.c
	var says jsonscan.Text
	kind := timeline.Text
	for name := range c.Members {
		switch string(name) {
		case "text":
			says, _ = c.Text()
		case "thought":
			if is, _ := c.Boolean(); is {
				kind = timeline.Reasoning
			}
		case "functionCall":
			d.r.call("args")
		case "executableCode":
			c.under("code", func() { d.r.piece(timeline.Tool) })
		case "functionResponse", "codeExecutionResult", "toolCall", "toolResponse": // of tools that the service runs
		default:
			d.r.other(inParts, name)
		}
	}
	d.r.add(kind, says)
}

// enum reads a name, or the number of one: Google's clients by REST ask for numbers
// ($alt=json;enum-encoding=int). The names are those of all versions of the API; further
// ones differ from one to another, and stay numbers.
// Source: google/ai/generativelanguage/v1beta and google/cloud/aiplatform/v1, FinishReason,
// BlockedReason and Modality
func (s *scan) enum(names ...string) jsonscan.Text {
	if s.Peek() == '"' {
		t, _ := s.Text()
		return t
	}
	from := s.Place()
	switch n, ok := s.Integer(); {
	case !ok:
		return jsonscan.Text{}
	case n >= 0 && n < int64(len(names)):
		return jsonscan.Text{Raw: []byte(names[n])}
	}
	return jsonscan.Text{Raw: s.Since(from)}
}

func (d *geminiDecoder) usage() {
	d.r.counts()
	u := &d.r.usage
	answered, thought := u.Output, u.Reasoning
	prompt, all := u.Input.Or(0), u.Total.Or(0)
	switch {
	case thought.Or(0) > 0 && answered.Or(0) >= thought.Or(0) && prompt > 0 && prompt+u.parts[promptTool]+answered.Or(0) == all:
		// the total leaves no room for thoughts beside it
	case answered.OK() || thought.OK():
		u.Output = timeline.Some(answered.Or(0) + thought.Or(0))
	}
}
