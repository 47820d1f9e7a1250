package api

import (
	"cmp"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
	"tokenmeter/wire/jsonscan"
)

// This file is how decoders tell the stream what an event was.

// none is a token count that is not known.
var none timeline.Opt[int64]

// add records one event of the stream.
func (s *Stream) add(kind timeline.Kind, choice int, bytes int64, tokens timeline.Opt[int64]) {
	s.tl.Events.Append(timeline.Event{
		AtUS: s.at, LagUS: s.lag, Kind: kind, Tokens: tokens,
		Choice: choice, Bytes: bytes, Read: s.read,
	})
	if kind == timeline.Reasoning {
		s.summed = s.summed || s.api.Summarises
		s.reasoned++
		s.reasonedBytes += bytes
	}
	if kind.Bears() {
		s.lastToken = s.at
		s.came(choice)
	} else if kind == timeline.Finish {
		s.progress.see(choice)
	}
}

// came counts a generation event.
func (s *Stream) came(choice int) {
	if s.bare.waiting > 0 {
		s.settleIDs(timeline.Empty)
	}
	s.scattered = s.scattered || s.tokens > 0 && choice <= s.lastChoice
	s.lastChoice = choice
	s.tokens++
	s.progress.see(choice)
}

// progress is how far a reply has come.
type progress struct {
	seen     uint64 // choices that have shown up
	finished uint64 // choices with a finish reason
	reason   bool   // some finish reason came
	done     bool   // the terminator came
}

func (p *progress) see(choice int) {
	if choice >= 0 && choice < maxChoices {
		p.seen |= 1 << choice
	}
}

// only reports whether no other choice has shown up so far.
func (p progress) only(choice int) bool {
	return choice >= 0 && choice < maxChoices && p.seen&^(1<<choice) == 0
}

// maxChoices is how many choices of a reply are told apart.
const maxChoices = 64

// complete reports whether nothing is missing from the answer.
func (p progress) complete() bool {
	return p.done || p.reason && p.seen&^p.finished == 0
}

// finish records why a choice ended.
func (s *Stream) finish(choice int, reason jsonscan.Text) {
	s.finishWord(choice, word(reason))
}

func (s *Stream) finishWord(choice int, reason string) {
	s.progress.reason = true
	s.finishes++
	if choice >= 0 && choice < maxChoices {
		s.progress.finished |= 1 << choice
	}
	if s.tl.FinishReason == "" || choice == 0 {
		s.tl.FinishReason = cut(reason, maxWords)
	}
	if brokeOff(reason) {
		s.failQuietly("the server ended the reply with finish reason " + cut(reason, maxWords))
	} else {
		s.unknownFinish(reason)
	}
}

// brokeOff reports whether an answer ended by a failure of the server, by the words of
// OpenRouter, Mistral, vLLM, Zhipu (its inference failed), DeepSeek (it was
// interrupted), Cohere, TensorRT-LLM (timeout, cancelled) and watsonx (cancelled, time_limit).
// Portkey has the type of an error in Anthropic's stream there (overloaded_error, api_error).
// Source: tensorrt_llm/executor/result.py, CompletionOutput; https://cloud.ibm.com/apidocs/watsonx-ai#text-chat
func brokeOff(reason string) bool {
	switch reason {
	case "error", "abort", "insufficient_system_resource", "ERROR", "TIMEOUT", "timeout", "cancelled", "time_limit", "request_too_large":
		return true
	}
	return strings.HasSuffix(reason, "_error")
}

// numbered reports whether the index of a choice counted the chunks of one answer
// instead, from whatever number, those without text perhaps among them: each event has a
// larger one, and one finish reason came for all.
func (s *Stream) numbered() bool { return !s.scattered && s.tokens >= 3 && s.finishes <= 1 }

// oneChoice makes such an answer what it is.
func (s *Stream) oneChoice() {
	s.tl.Events.OneChoice()
	s.progress.seen, s.progress.finished = 1, 0
	if s.progress.reason {
		s.progress.finished = 1
	}
}

// word returns the value, without allocating for the usual reasons.
func word(t jsonscan.Text) string {
	switch string(t.Raw) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	case "end_turn":
		return "end_turn"
	}
	return t.String()
}

// done records the reply's terminator.
func (s *Stream) done() {
	s.progress.done = true
	s.add(timeline.Done, 0, 0, none)
}

// fail records an error that the server reported within its reply.
func (s *Stream) fail(message string) {
	s.add(timeline.ErrorEvent, 0, 0, none)
	s.failQuietly(message)
}

// failQuietly is fail for an event that has been recorded already. The first
// words win, unless there were none.
func (s *Stream) failQuietly(message string) {
	s.failed = true
	s.failure = cmp.Or(s.failure, message)
}

// bad records an event whose data is no JSON. One that the end of the body cut
// off is no fault of its own.
func (s *Stream) bad(e framing.Event) {
	s.stray = framing.KeepStray(s.stray, e.Data)
	if !e.Partial {
		s.malformed++
		s.add(timeline.Empty, 0, 0, none)
	}
}

// served records the class of service. The last word counts: an answer begins
// with the class that was asked for. "auto" leaves it open, so it tells none.
func (s *Stream) served(t jsonscan.Text) {
	if !t.Empty() && !t.Is("auto") && string(t.Raw) != s.tl.ServiceTier {
		s.tl.ServiceTier = cut(t.String(), maxWords)
	}
}

// identified records what the server calls itself, behind its header. The first
// word counts: the chunks of an answer are of one server.
func (s *Stream) identified(t jsonscan.Text) {
	if t.Empty() || s.identity {
		return
	}
	s.identity = true
	s.tl.AnsweredBy = strings.TrimSpace(s.tl.AnsweredBy + " " + cut(t.String(), maxWords))
}

// named notes the first model that the reply names, as the one that answered; it is the
// request's, too, when that did not name one.
func (s *Stream) named(t jsonscan.Text) {
	switch {
	case t.Empty() || s.tl.ServedModel != "":
	case string(t.Raw) == s.tl.Model:
		s.tl.ServedModel = s.tl.Model
	default:
		s.tl.ServedModel = cut(t.String(), maxWords)
		s.tl.Model = cmp.Or(s.tl.Model, s.tl.ServedModel)
	}
}
