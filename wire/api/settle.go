package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// End tells how and when the body ended and settles the outcome. cause adds
// words for ends other than EOF; it may be nil.
func (s *Stream) End(atUS int64, end timeline.End, trailer http.Header, cause error) {
	s.tl.CloseUS = timeline.Some(atUS)
	garbage := s.closeBody(end)
	s.results(end)
	s.settle(end, trailer, cause, garbage)
}

// closeBody ends decoder and framer; what they still hold belongs to the last
// read. It returns the bytes that made up no event.
func (s *Stream) closeBody(end timeline.End) int {
	s.read = max(s.read-1, 0)
	if err := s.Close(); err != nil && s.fault == nil && end == timeline.EOF && !s.progress.complete() {
		s.fault = fmt.Errorf("the compressed body stops short: %w", err)
	}
	if s.form == bare && s.decoder == nil && len(s.opening) > 0 && s.fault == nil {
		if data := s.raw(nil, true); len(data) > 0 {
			s.fault = s.framed(data)
		}
	}
	if s.framer == nil || s.fault != nil {
		return 0
	}
	garbage, err := s.framer.Close(s.lastEvent(end))
	if err != nil {
		s.fault = err
	}
	s.judgeStray()
	return garbage
}

// lastEvent keeps the decoder from judging a whole body that was cut off.
func (s *Stream) lastEvent(end timeline.End) func(framing.Event) error {
	if s.form != whole || end == timeline.EOF {
		return s.yield
	}
	return func(e framing.Event) error {
		var c scan
		c.Reset(e.Data)
		if c.Skip(); c.End() {
			return s.yield(e)
		}
		return nil
	}
}

// results writes what was collected over the whole reply.
func (s *Stream) results(end timeline.End) {
	tl := s.tl
	s.onlyIDs()
	between := "\n" // the choices' texts
	if s.numbered() {
		s.oneChoice()
		between = ""
	}
	s.dropRepeated()
	tl.Usage = s.usage.final(s.progress.seen, s.tokens, &s.server)
	n := tl.Usage.Reasoning.Or(0)
	summary := s.summed && !s.thought || s.reasoned > 0 && s.modelIs(showsSummaries)
	if summary && !s.inFull(n) || s.clipped(n) {
		tl.Flags |= timeline.ReasoningSummary
	}
	told := tl.Usage.Reasoning.Or(0) > 0 && s.api.Summarises        // a gateway may have counted the summary
	counted := n > 0 || s.api.Summarises && tl.Usage.Reasoning.OK() // LiteLLM counts the words that came: none
	if s.sealed && !counted || (s.abridged || s.signed && s.claudeSummarises()) && !told || s.thoughtsUncounted() {
		tl.Flags |= timeline.HiddenReasoning
	}
	tl.Counted = s.count.counted()
	s.tellUnread(s.progress.complete() || end == timeline.EOF || end == timeline.Cut)
	if s.form != whole {
		s.server.queueByHead(tl)
	}
	tl.Server = s.server.result()
	if s.opts.KeepText {
		tl.Text, tl.Thought, tl.Calls = joined(s.kept.answer, between), joined(s.kept.thought, between), joined(s.kept.calls, between)
	}
	if s.malformed > 0 {
		tl.Flags |= timeline.MalformedEvent
	}
	if s.form == whole && (!s.api.Product().Wordless() || tl.Asked) {
		tl.Flags |= timeline.NonStreaming
		if tl.Asked {
			tl.Flags |= timeline.StreamIgnored
		}
	}
}

// inFull reports whether as many events came as n tokens of reasoning, or there are none: what
// is called a summary is the reasoning itself then. A summary may well have more events than a
// short reasoning has tokens, of which OpenAI counts 64 at the least.
func (s *Stream) inFull(n int64) bool {
	return n <= s.reasoned && s.reasoned <= n+n/16+1 || n == 0
}

// clipped reports whether no more than the head of n tokens of reasoning was streamed.
func (s *Stream) clipped(n int64) bool {
	return tooLittleFor(n, s.reasoned, s.reasonedBytes, s.reasonedWide) && s.tl.Streamed && !s.tl.Flags.Has(timeline.InlineReasoning)
}

// tooLittleFor reports whether what came is far too little for n tokens: half as many events
// at most, and fewer bytes than tokens, or, of ASCII words (more than 3.5 bytes an event),
// fewer than two bytes a token; wide is text beyond ASCII. Of few tokens nobody knows.
// Recordings of grok-code-fast-1, which streams the head of its reasoning, have 0.2 to 1.8
// bytes a token and 3.4 to 5 an event; those of models that stream all of it 2.7 to 5.3 a
// token. In scripts that a vocabulary lacks it may be 1.1.
// Source: charm.land/fantasy v0.48.0, providertests/testdata.
func tooLittleFor(n, events, bytes int64, wide bool) bool {
	few := bytes < n || !wide && bytes < 2*n && 2*bytes > 7*events
	return few && events > 0 && n >= max(2*events, 32)
}

// settle decides the outcome; the first rule that applies wins.
func (s *Stream) settle(end timeline.End, trailer http.Header, cause error, garbage int) {
	tl := s.tl
	if (s.api.Ends == ByBody || s.form == bare || s.endless) && end == timeline.EOF && garbage == 0 && (s.tokens > 0 || s.form == bare && s.fault == nil) {
		s.progress.done = true
	}
	complete := s.progress.complete() && !s.failed
	switch status := tl.HTTPStatus; {
	case status != 0 && (status < 200 || status > 299) && s.form != socket:
		tl.Fail(statusClass(status), statusWords(status, s.header, s.plain))
	case s.failed:
		tl.Fail(timeline.StreamError, s.failureWords(trailer))
	case s.fault != nil && !complete:
		class := timeline.Parse
		if errors.As(s.fault, new(*noRoomError)) {
			class = timeline.ClientResource // our own want, whoever made it
		}
		tl.Fail(class, s.fault.Error())
	case complete && (s.tokens > 0 || s.opts.AllowEmpty || s.paused()):
		s.good(end)
	case complete:
		s.good(end)
		tl.Fail(timeline.EmptyOutput, s.emptyWords())
	case end == timeline.EndUser:
		tl.Fail(timeline.CancelledUser, because("cancelled by the client", cause))
	case end == timeline.EndRunEnd:
		tl.Fail(timeline.CancelledRunEnd, because("cancelled at the end of the run", cause))
	case timeoutClass[end].class != "":
		t := timeoutClass[end]
		tl.Fail(t.class, because(t.words, cause))
	case status == 0:
		tl.Fail(timeline.ConnReset, because("the connection ended before any response came", cause))
	case s.form == foreign && s.total > 0:
		tl.Fail(timeline.BadContentType, s.contentWords())
	case end == timeline.Reset:
		words := "the connection was reset in the middle of the reply"
		if cause != nil && strings.HasPrefix(cause.Error(), "stream error") { // HTTP/2's RST_STREAM, as net/http names it
			words = "the stream was reset in the middle of the reply"
		}
		tl.Fail(timeline.ConnReset, because(words, cause))
	default:
		tl.Fail(timeline.StreamTruncated, because(s.truncatedWords(end, trailer, garbage), cause))
	}
}

// paused reports whether the reply says that the answer is to follow in another request:
// Anthropic summarised the context first (compaction), or a turn of its own tools took
// long (pause_turn), or the context was compacted by OpenAI, which tells no text of it.
// Source: https://platform.claude.com/docs/en/build-with-claude/compaction-threshold,
// https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons and
// https://developers.openai.com/api/docs/guides/compaction
func (s *Stream) paused() bool {
	return s.compacted || s.tl.FinishReason == "compaction" || s.tl.FinishReason == "pause_turn"
}

// good settles a complete answer.
func (s *Stream) good(end timeline.End) {
	tl := s.tl
	tl.Outcome, tl.Error = timeline.OK, nil
	if s.form != whole && !s.progress.done && s.api.Ends == ByTerminator {
		tl.Flags |= timeline.NoDone
	}
	if s.form != whole && s.progress.done && tl.FinishReason == "" && s.api.Ends != ByBody && !s.endless && !s.api.Product().Lengthless() {
		tl.Flags |= timeline.NoFinish
	}
	switch end {
	case timeline.EOF, timeline.EndRunEnd, timeline.EndUser: // ours may come before the body's: OpenAI's clients leave at [DONE]
	case timeline.Cut, timeline.Reset:
		tl.Flags |= timeline.DirtyClose
	default:
		if s.progress.done { // the reply needed no more, and we hung up
			tl.Flags |= timeline.LeftOpen
		}
	}
}

func statusClass(status int) timeline.Outcome {
	switch {
	case status == http.StatusTooManyRequests:
		return timeline.HTTP429
	case status >= 500:
		return timeline.HTTP5xx
	case status >= 400:
		return timeline.HTTP4xx
	case status >= 300:
		return timeline.RedirectRefused
	}
	return timeline.StreamTruncated // an interim answer, and no other came
}

var timeoutClass = map[timeline.End]struct {
	class timeline.Outcome
	words string
}{
	timeline.EndTimeoutTTFT:  {timeline.TimeoutTTFT, "no token came within the time limit for the first token"},
	timeline.EndTimeoutIdle:  {timeline.TimeoutIdle, "no further token came within the idle time limit"},
	timeline.EndTimeoutTotal: {timeline.TimeoutTotal, "the request took longer than its time limit"},
}

// because adds the cause, if there is one.
func because(words string, cause error) string {
	if cause == nil {
		return words
	}
	return words + ": " + oneLine(cause.Error())
}

func (s *Stream) failureWords(trailer http.Header) string {
	words := cmp.Or(s.failure, "the server reported an error without words")
	return words + trailerWords(trailer)
}

func (s *Stream) emptyWords() string {
	tl := s.tl
	switch product := s.api.Product(); {
	case product.Batched():
		return "the reply answers none of the texts"
	case product == timeline.Speech:
		return "the reply holds no sound"
	case product == timeline.Pictures:
		return "the reply holds no picture"
	}
	if tl.HTTPStatus == http.StatusAccepted {
		return "the server accepted the request, to answer it later (HTTP 202): no answer came, and none is fetched"
	}
	words := "the answer is complete and has no token"
	if n := tl.Usage.Output.Or(0); tl.Usage.OnlyReasoning() {
		words += fmt.Sprintf(": all %d that usage counts were reasoning, which is not streamed; ask for longer answers, or for less reasoning",
			max(n, tl.Usage.Total.Or(0)-tl.Usage.Input.Or(0)))
	} else if n > 0 {
		words += fmt.Sprintf(", although usage counts %d", n)
	}
	if tl.FinishReason != "" {
		words += " (finish reason " + tl.FinishReason + ")"
	}
	if tl.Flags.Has(timeline.UnreadText) {
		words += "; text that is not read may be it, and the server all right: " + string(tl.Unread)
	}
	return words
}

func (s *Stream) contentWords() string {
	kind := s.header.Get("Content-Type")
	return fmt.Sprintf("HTTP %d with content type %q is no reply of this API: %s",
		s.tl.HTTPStatus, oneLine(cut(kind, maxWords)), quote(s.plain))
}

func (s *Stream) truncatedWords(end timeline.End, trailer http.Header, garbage int) string {
	how := "the body ended"
	if end == timeline.Cut {
		how = timeline.CutWords
	}
	words := how + " without a finish reason"
	switch {
	case s.total == 0:
		words = how + " before any data came"
	case s.api.Product() == timeline.Pictures && s.form != whole:
		words = how + " before every picture had come"
	case s.progress.reason:
		words = how + " before every choice had finished"
	case s.form == bare:
		words = how
	case s.form == whole:
		words = how + " within the JSON text"
	}
	if s.joined {
		words += ", and no empty line parts its events"
	} else if said := s.strayWords(); said != "" {
		words += ", after words that are no event: " + said
	} else if garbage > 0 {
		words += fmt.Sprintf(", %d bytes into an event", garbage)
	}
	return words + trailerWords(trailer)
}

// trailerWords lists the trailers: some servers put their error there.
func trailerWords(trailer http.Header) string {
	var parts []string
	for name, values := range trailer {
		parts = append(parts, strings.ToLower(name)+": "+strings.Join(values, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	sort.Strings(parts)
	return "; trailers " + oneLine(cut(strings.Join(parts, "; "), maxMessage))
}
