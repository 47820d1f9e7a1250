package lens

import (
	"iter"
	"net/http"
	"strings"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// What tools take for a chunk with a token.

// hasChoice: chunks with a `choices` entry, also those without text.
func hasChoice(k timeline.Kind) bool {
	return k.Bears() || k == timeline.Role || k == timeline.Empty || k == timeline.Finish
}

// hasToken: chunks with content, reasoning, refusal or a tool call.
func hasToken(k timeline.Kind) bool { return k.Bears() }

// hasContent: chunks with content; reasoning and tool calls go unseen.
func hasContent(k timeline.Kind) bool { return k == timeline.Text }

// hasContentOrReasoning: tool calls go unseen.
func hasContentOrReasoning(k timeline.Kind) bool {
	return k == timeline.Text || k == timeline.Reasoning
}

// hasSpoken: chunks with content, reasoning or a tool call; refusals, pictures and sound go
// unseen.
func hasSpoken(k timeline.Kind) bool { return hasContentOrReasoning(k) || k == timeline.Tool }

// isSpokenAnswer: the same without reasoning.
func isSpokenAnswer(k timeline.Kind) bool { return k == timeline.Text || k == timeline.Tool }

// withoutRole: hasSpoken, and chunks with an empty content and no role.
func withoutRole(k timeline.Kind) bool { return hasSpoken(k) || k == timeline.Empty }

// isAnswer: chunks with a token that is not reasoning.
func isAnswer(k timeline.Kind) bool { return k.Bears() && k != timeline.Reasoning }

// chunks are the chunks of one reply that a tool counts.
type chunks struct {
	n       int64
	firstUS int64 // since due
	lastUS  int64
}

// read finds the chunks; gap, which may be nil, gets each pause between them
// and the event that ended it.
func read(tl *timeline.Timeline, counts func(timeline.Kind) bool, gap func(us int64, ev timeline.Event)) chunks {
	var c chunks
	if !tl.Streamed {
		return c
	}
	for ev := range counted(tl, counts) {
		switch {
		case c.n == 0:
			c.firstUS = ev.AtUS
		case gap != nil:
			gap(ev.AtUS-c.lastUS, ev)
		}
		c.n++
		c.lastUS = ev.AtUS
	}
	return c
}

// counted yields the events of the chunks that a tool counts, one a chunk: an empty
// content and the finish reason beside it are two events.
func counted(tl *timeline.Timeline, counts func(timeline.Kind) bool) iter.Seq[timeline.Event] {
	return func(yield func(timeline.Event) bool) {
		var before timeline.Event
		for ev := range tl.Events.All() {
			if ev.Kind == timeline.Reasoning && tl.Flags.Has(timeline.InlineReasoning) {
				ev.Kind = timeline.Text // to other tools it is content
			}
			again := ev.Kind == timeline.Finish && before.Kind == timeline.Empty && before.AtUS == ev.AtUS && before.Read == ev.Read &&
				counts(timeline.Empty)
			if before = ev; counts(ev.Kind) && !again && !yield(ev) {
				return
			}
		}
	}
}

// startUS is when the client began, since due: after any wait for a slot,
// before connecting. Most tools' clocks start here.
func startUS(tl *timeline.Timeline) int64 { return max(tl.StartUS-tl.DueUS, 0) }

// closeUS is when the body ended, since due; the last event where unknown.
func closeUS(tl *timeline.Timeline) int64 {
	return max(tl.CloseUS.Or(0), tl.Events.LastUS())
}

// lastLineUS is when the last line of the stream came, [DONE] included.
func lastLineUS(tl *timeline.Timeline) int64 { return tl.Events.LastUS() }

// doneUS is when [DONE] came, where OpenAI's own client ends; without one, the body's end.
func doneUS(tl *timeline.Timeline) int64 {
	if at, ok := lastOf(tl, func(k timeline.Kind) bool { return k == timeline.Done }); ok {
		return at
	}
	return closeUS(tl)
}

// lastOf is when the last event of some kinds came.
func lastOf(tl *timeline.Timeline, kinds func(timeline.Kind) bool) (us int64, found bool) {
	for ev := range tl.Events.All() {
		if kinds(ev.Kind) {
			us, found = ev.AtUS, true
		}
	}
	return us, found
}

// onRun turns a time since due into one of the run.
func onRun(tl *timeline.Timeline, us int64) int64 { return tl.DueUS + us }

// readToTheEnd reports a 2xx answer whose bytes ended without an exception in
// the client: most tools call it a success, errors inside the stream included.
func readToTheEnd(tl *timeline.Timeline) bool {
	switch tl.Outcome {
	case timeline.OK: // of an imported one no status is known
		return true
	case timeline.StreamError, timeline.EmptyOutput:
		return begun(tl)
	case timeline.StreamTruncated: // a body that ended, not a connection that broke in it
		return begun(tl) && (tl.Error == nil || !strings.HasPrefix(tl.Error.Message, timeline.CutWords))
	}
	return false
}

// begun reports whether the server began an answer: 2xx, or a message of a WebSocket.
func begun(tl *timeline.Timeline) bool {
	return tl.HTTPStatus/100 == 2 || tl.HTTPStatus == http.StatusSwitchingProtocols
}

// withoutError is readToTheEnd for tools that see an error inside the stream.
func withoutError(tl *timeline.Timeline) bool {
	return readToTheEnd(tl) && tl.Outcome != timeline.StreamError
}

// Where tools take the number of output tokens from.

func usage(tl *timeline.Timeline) (int64, bool) { return tl.Usage.Output.Get() }

// usageOrTokenizer: tools that tokenise the text where usage is missing.
func usageOrTokenizer(tl *timeline.Timeline) (int64, bool) {
	if n, ok := usage(tl); ok && n > 0 {
		return n, true
	}
	return tl.Tokenized.Get()
}

// tokenizer: tools that always tokenise the text. The server's count stands in
// for it, and the table says so.
func tokenizer(tl *timeline.Timeline) (n int64, exact, ok bool) {
	if n, ok := tl.Tokenized.Get(); ok {
		return n, true, true
	}
	n, ok = usage(tl)
	return n, false, ok
}

// answers counts the tokens of a tool's answers.
type answers struct {
	in, out   int64
	noInput   int64 // answers without a count of the prompt's tokens
	uncounted int64 // answers that nobody counted
	standIn   int64 // answers counted by the server in the tool's place
	// prompts is how the tool counts them where it doesn't take the server's count, which
	// stands in for it; empty where it does.
	prompts string
	// own says that the tool's file has its count, where it was imported.
	own bool
}

// input is the prompt's tokens: by the tool's own count where there is one and it goes by it.
func (a *answers) input(tl *timeline.Timeline) (int64, bool) {
	if n, ok := tl.TokenizedInput.Get(); ok && a.own {
		return n, true
	}
	return tl.Usage.Input.Get()
}

// ownPrompts is of a tool that counts prompts itself; of an imported run nobody knows whose
// count there is.
func ownPrompts(f Facts, how string) answers {
	if f.Imported {
		how = ""
	}
	return answers{prompts: how}
}

// tokenized adds an answer of a tool that tokenises every one again, and returns its
// tokens; known is false where nobody counted them.
func (a *answers) tokenized(tl *timeline.Timeline) (n int64, known bool) {
	n, exact, known := tokenizer(tl)
	a.count(tl, n, exact, known)
	return n, known
}

// count adds an answer of so many tokens, if they are known; exact are the tool's own.
func (a *answers) count(tl *timeline.Timeline, n int64, exact, known bool) {
	switch {
	case !known:
		a.uncounted++
	case !exact:
		a.standIn++
	}
	a.out += n
	in, told := a.input(tl)
	if a.in += in; !told {
		a.noInput++
	}
}

// rate is the tokens of all answers over a time in seconds, and why it differs from
// ours: nothing, for want of a count, where one was not counted.
func (a *answers) rate(seconds float64, differs string) (rate opt, why string) {
	if a.uncounted > 0 {
		return opt{}, noCount
	}
	return ratio(float64(a.out), seconds), differs
}

// perPrompt is what a sample of the prompts' tokens has to say, and why it differs
// from ours: nothing, where an answer came without their count. A tool that counts
// prompts itself has all of them, and the rest alone would be another figure.
func (a *answers) perPrompt(s *stat.Sample, differs string) (known sample, why string) {
	if a.noInput > 0 {
		return &stat.Sample{}, noPrompt
	}
	return s, a.ofPrompts(differs)
}

// ofPrompts adds to why a figure differs that its prompts are counted otherwise.
func (a *answers) ofPrompts(differs string) string {
	if a.prompts == "" {
		return differs
	}
	return differs + "; prompts counted by the server here, " + a.prompts
}

const (
	overTTFT   = "ISL / TTFT: network and queue are inside, cached tokens too"
	noPrompt   = "needs the prompt's tokens: no usage came"
	noCount    = "needs the answer's tokens: no usage came, and the record has no text to tokenise again (--tokenizer)"
	needsFirst = "needs the tokens of the first chunk: several came in one"
	noLimit    = "no objective on TTFT, TPOT or E2E was set"
)

func ms(us int64) float64 { return float64(us) / 1000 }

// since is the time in ms from a moment to another that cannot be before it.
func since(from, to int64) float64 { return ms(max(to-from, 0)) }

// afterFirst is how many of an answer's n tokens came after its first chunk; ok is
// false where nobody knows how many the first one held.
func afterFirst(tl *timeline.Timeline, n, chunks int64) (after int64, ok bool) {
	if chunks == n {
		return n - 1, true
	}
	for ev := range tl.Events.All() {
		if hasToken(ev.Kind) {
			k, known := ev.Tokens.Get()
			return max(n-k, 0), known && n > 0
		}
	}
	return 0, false
}
