package api

import (
	"bytes"
	"cmp"
	"encoding/json"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// OpenAIResponses is POST /v1/responses: named events, response.completed (or
// incomplete, or failed) at the end.
var OpenAIResponses = &API{
	Name:    "openai-responses",
	Path:    "/v1/responses",
	Build:   buildResponses,
	Create:  createResponse,
	Decoder: func() Decoder { return new(responsesDecoder) },
	Events:  "response. error keepalive ping",
	Signs:   []Sign{{"type=response.*"}, {"object=response"}},
}

func buildResponses(r *Request) (Call, error) {
	body := r.responsesBody()
	body["stream"] = r.Stream
	return r.call("/v1/responses", body)
}

// createResponse writes response.create, whose members are those of the HTTP request
// without stream (https://developers.openai.com/api/docs/guides/websocket-mode).
func createResponse(r *Request, previous string) (Call, error) {
	body := r.responsesBody()
	body["type"] = "response.create"
	if previous != "" {
		body["previous_response_id"] = previous
	}
	return r.call("/v1/responses", body)
}

func (r *Request) responsesBody() map[string]any {
	body := map[string]any{"model": r.Model}
	if len(r.Messages) == 1 && r.Messages[0].Role == "user" && !r.hasImages() {
		body["input"] = r.Messages[0].Content
	} else {
		body["input"] = r.parts(r.Messages, "input_text", responsesImage)
	}
	r.limits(body, cmp.Or(r.MaxTokensField, "max_output_tokens"))
	return body
}

// responsesDecoder reads events of the Responses API. Generated text comes in
// the events whose type ends in .delta; the last event repeats all of it, and
// only its usage is read.
type responsesDecoder struct {
	r         reading
	delta     jsonscan.Text
	status    jsonscan.Text
	why       jsonscan.Text // incomplete_details.reason
	itemType  jsonscan.Text
	id        jsonscan.Text // of the response
	item      jsonscan.Text // name of a function call that starts
	compacted bool          // an item is a compaction
	alone     bool          // nothing came in deltas: what a structural event holds is new
	realtime  bool          // the events are of the Realtime API
	sound     sounding
	format    string // of the sound, as a content type; empty: not told
	hz        int64  // of it; 0: not told
	repeats   repeats
}

// deltas are the event types that carry generated text, by what they carry.
var deltas = map[string]timeline.Kind{
	"response.output_text.delta":                     timeline.Text,
	"response.text.delta":                            timeline.Text,
	"response.output_audio_transcript.delta":         timeline.Text,
	"response.audio_transcript.delta":                timeline.Text,
	"response.refusal.delta":                         timeline.Refusal,
	"response.function_call_arguments.delta":         timeline.Tool,
	"response.custom_tool_call_input.delta":          timeline.Tool,
	"response.mcp_call_arguments.delta":              timeline.Tool,
	"response.mcp_call.arguments.delta":              timeline.Tool,
	"response.code_interpreter_call_code.delta":      timeline.Tool,
	"response.code_interpreter_call.code.delta":      timeline.Tool,
	"response.shell_call_command.delta":              timeline.Tool,
	"response.apply_patch_call_operation_diff.delta": timeline.Tool,
	"response.reasoning_text.delta":                  timeline.Reasoning,
	"response.reasoning.delta":                       timeline.Reasoning,
	"response.reasoning_summary_text.delta":          timeline.Reasoning,
	"response.reasoning_summary.delta":               timeline.Reasoning,
	"response.audio.delta":                           timeline.Media,
	"response.audio.transcript.delta":                timeline.Text,
	"response.output_audio.delta":                    timeline.Media,
	"response.image_generation_call.partial_image":   timeline.Media,
}

func (d *responsesDecoder) apply(e framing.Event, s *Stream) {
	if d.r.whole {
		if d.gaveUp() {
			d.failed()
		}
		d.finish()
		d.r.apply(s, timeline.Empty)
		s.compacted = s.compacted || d.compacted
		return
	}
	if d.realtime && !ofRealtimeReply(d.r.kind) {
		s.add(timeline.Progress, 0, 0, none)
		return
	}
	if n := d.id.Size(); n > 0 && n <= maxWords {
		s.replyID = d.id.String()
	}
	if !d.generated(s) {
		s.bad(e)
		return
	}
	d.wholes()
	otherwise, last := d.structure()
	if e.Name == "error" && d.r.errors == nil || d.r.kind.Is("error") {
		d.r.errors = e.Data
	}
	d.r.apply(s, otherwise)
	s.signed, s.sealed = s.signed || d.r.c.signed, s.sealed || d.r.c.sealed
	if d.realtime && ofTranscriber(s.failure) {
		s.failure += "; vLLM's /v1/realtime only transcribes: the API transcription measures that"
	}
	s.compacted = s.compacted || d.compacted
	s.progress.done = s.progress.done || last
}

// generated counts what a delta event carries; false where that should be base64 and is
// not.
func (d *responsesDecoder) generated(s *Stream) bool {
	kind, ok := deltaKind(d.r.kind.Raw)
	if !ok {
		if !d.delta.Empty() && !bytes.HasSuffix(d.r.kind.Raw, []byte(".delta")) {
			s.unread.leave(leftover{timeline.TextName, d.r.kind.Raw, inDelta, d.delta})
		}
		return true
	}
	if kind == timeline.Reasoning {
		summary := bytes.Contains(d.r.kind.Raw, []byte("summary"))
		s.summed, s.thought = s.summed || summary, s.thought || !summary
	}
	if d.delta.Empty() {
		s.unread.strange = true // it may have another name
		return true
	}
	n := int64(0)
	if kind == timeline.Media && bytes.HasSuffix(d.r.kind.Raw, []byte("audio.delta")) {
		if n, ok = d.sound.takeText(d.delta, d.soundType(), s); !ok {
			return false
		}
	}
	if kind == timeline.Media {
		d.repeats.heard(kind, 0)
		d.r.said.add(kind, n)
	} else {
		d.repeats.heard(kind, d.delta.Size())
		d.r.add(kind, d.delta)
	}
	return true
}

// deltaKind tells what the delta of an event of this type holds. Types that are not in
// the table, of vendors and of times to come, say it by their name; what a tool gave
// was not generated, nor is the signature of reasoning a part of it.
func deltaKind(event []byte) (timeline.Kind, bool) {
	if kind, ok := deltas[string(event)]; ok {
		return kind, true
	}
	name, ours := bytes.CutPrefix(event, []byte("response."))
	name, ends := bytes.CutSuffix(name, []byte(".delta"))
	has := func(word string) bool { return bytes.Contains(name, []byte(word)) }
	switch {
	case !ours || !ends || has("call_output") || has("annotation") || has("signature"):
		return 0, false
	case isReasoning(name):
		return timeline.Reasoning, true
	case has("call") || has("arguments") || has("input"):
		return timeline.Tool, true
	case has("audio") && !has("transcript"):
		return timeline.Media, true
	}
	return timeline.Text, true
}

// structure says what an event without text is, and whether it is the last one.
func (d *responsesDecoder) structure() (otherwise timeline.Kind, last bool) {
	switch string(d.r.kind.Raw) {
	case "response.created":
		return timeline.Role, false
	case "response.queued", "response.in_progress":
		return timeline.Progress, false
	case "response.output_item.added":
		if !d.item.Empty() && bytes.HasSuffix(d.itemType.Raw, []byte("_call")) {
			d.r.add(timeline.Tool, d.item)
		}
	case "response.completed", "response.incomplete":
		d.finish()
		return timeline.Finish, true
	case "response.done": // of the Realtime API
		if d.gaveUp() {
			return d.failed(), true
		}
		d.finish()
		return timeline.Finish, true
	case "response.failed", "response.cancelled":
		return d.failed(), true
	case "keepalive":
		return timeline.Ping, false
	}
	return timeline.Empty, false
}

// gaveUp reports whether the status says that the reply did not come to its end.
func (d *responsesDecoder) gaveUp() bool { return d.status.Is("failed") || d.status.Is("cancelled") }

// failed takes it that the server gave the reply up. Its error says why, if there is one.
func (d *responsesDecoder) failed() timeline.Kind {
	if d.r.errors == nil {
		words := "the response failed"
		if d.status.Is("cancelled") {
			words = "the response was cancelled"
		}
		if !d.why.Empty() {
			words += ": " + d.why.String()
		}
		d.r.errors, _ = json.Marshal(words)
	}
	return timeline.ErrorEvent
}

// finish takes the status, or why the response is incomplete, as finish reason.
func (d *responsesDecoder) finish() {
	if d.r.finish = d.status; !d.why.Empty() {
		d.r.finish = d.why
	}
	if d.r.finish.Empty() {
		d.r.stops = "completed"
	}
}
