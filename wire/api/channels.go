package api

import "bytes"

// This file tells the channels of a reply by the names that vendors give them.

// isReasoning reports whether a member of a delta, or a type, is one of
// reasoning: reasoning_content, reasoning, reasoning_details, reasoning_text,
// thinking, thinking_blocks, thoughts and so on. What only describes it
// (a signature, an effort, a sealed copy) is not.
func isReasoning(name []byte) bool {
	if !bytes.Contains(name, []byte("reasoning")) && !bytes.Contains(name, []byte("think")) && !bytes.Contains(name, []byte("thought")) {
		return false
	}
	for _, of := range describesReasoning {
		if bytes.HasSuffix(name, []byte(of)) {
			return false
		}
	}
	return true
}

var describesReasoning = []string{"signature", "effort", "_id", "format", "tokens", "opaque", "encrypted", "encrypted_content",
	"status", "enabled", "budget", "level", "type", "time", "duration", "seconds", "_ms", "redacted_thinking",
	"_items"} // LiteLLM's list of whole items, behind the words that came

// thoughts reads reasoning in any of the forms in which it comes: a string, an
// object that holds it, a list of either. take reads one string and reports
// whether there was text. A sealed part has none: nobody saw what it says. Of Claude's, which
// come as they are thought, it notes that they came.
func (s *scan) thoughts(take func() bool) (some bool) {
	switch s.Peek() {
	case '"':
		return take()
	case '[':
		for range s.Elements {
			some = s.thoughts(take) || some
		}
	case '{':
		thought, google := s.thought, false
		claude, data, whose := false, false, false
		for name := range s.Members {
			switch string(name) {
			case "summary":
				some = s.summary(take) || some
			case "format": // OpenRouter's: whose thoughts they are, before their text or behind it
				t, _ := s.Text()
				whose = true
				google = bytes.HasPrefix(t.Raw, []byte("google-gemini"))
				claude = claude || bytes.HasPrefix(t.Raw, []byte("anthropic-claude"))
			case "type":
				t, _ := s.Text()
				claude = claude || t.Is("redacted_thinking")
			case "data":
				if s.Peek() == '"' {
					t, _ := s.Text()
					data = !t.Empty()
				}
			case "redactedContent": // Bedrock's, through Envoy's gateway
				if s.worded() {
					claude, data = true, true
				}
			case "signature":
				s.signature()
			case "text", "content", "delta":
				some = s.thoughts(take) || some
				s.thought = s.thought || some
			default:
				if isReasoning(name) {
					some = s.thoughts(take) || some
				}
			}
		}
		if some && google {
			s.summed, s.thought = true, thought
		}
		s.sealed = s.sealed || claude && data
		s.withheld = s.withheld || data && !claude && !whose
	default:
		s.Skip()
	}
	return some
}

// signature notes one that is as long as Claude's.
func (s *scan) signature() {
	t, _ := s.Text()
	s.signed = s.signed || t.Size() >= leastSeal
}

// worded passes over a string and reports whether there is text in it.
func (s *scan) worded() bool {
	t, ok := s.Text()
	return ok && !t.Empty()
}

// summary reads reasoning that is a summary, whatever the names in it.
func (s *scan) summary(take func() bool) (some bool) {
	thought := s.thought
	some = s.thoughts(take)
	s.summed, s.thought = s.summed || some, thought
	return some
}

// isMedia reports whether a member holds pictures, sound or video.
func isMedia(name []byte) bool {
	switch string(name) {
	case "audio", "images", "image", "image_url", "video", "videos", "video_url", "audio_url", "output_audio", "output_image",
		"input_audio", "inline_data", "inlineData", "media", "b64_json", "partial_image_b64":
		return true
	}
	return false
}

// media passes over a value and reports whether it holds some of the medium
// itself: bytes, an address, or a transcript of sound.
func (s *scan) media() (some bool) {
	switch s.Peek() {
	case '"':
		t, ok := s.Text()
		return ok && !t.Empty()
	case '[':
		for range s.Elements {
			some = s.media() || some
		}
	case '{':
		for name := range s.Members {
			switch string(name) {
			case "data", "bytes", "s3Location", "url", "transcript", "b64_json", "source", "uri":
				some = s.media() || some
			default:
				if isMedia(name) {
					some = s.media() || some
				}
			}
		}
	default:
		s.Skip()
	}
	return some
}

// isDone reports whether the data of an event is the terminator, which some send
// with white space around it or as a string of JSON.
func isDone(data []byte) bool {
	if len(data) > len(`"[DONE]"`)+8 {
		return false
	}
	data = bytes.TrimSpace(data)
	return string(data) == "[DONE]" || string(data) == `"[DONE]"`
}
