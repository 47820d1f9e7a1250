package metric

import "tokenmeter/record/timeline"

// TokenSource says where a request's token count came from. A number has one
// source, and sources are never mixed inside one ratio.
type TokenSource string

// The sources, best first. The last two are estimates.
const (
	FromUsage     TokenSource = "usage"     // the server's own final count
	FromIDs       TokenSource = "ids"       // token ids or logprobs in the stream
	FromTokenizer TokenSource = "tokenizer" // a local tokenizer, special tokens off
	FromChunks    TokenSource = "chunks"    // the number of generation events
)

// perEvent says what is known of the tokens in each generation event.
type perEvent uint8

const (
	unknown perEvent = iota
	told             // the protocol said so, event by event
	oneEach          // as many tokens as events
)

// counted are a request's output tokens.
type counted struct {
	output    timeline.Opt[int64] // N: all that were spent
	streamed  timeline.Opt[int64] // S: those that appeared in the stream
	reasoning timeline.Opt[int64]
	beside    int64 // total − input − output, as reported; may be negative
	hidden    int64 // of N − S: what never came
	aside     int64 // of N − S: what came, and not as streamed text
	summary   bool  // of the reasoning a summary was streamed: S are the answer's
	pictured  bool  // pictures, or sound at once: S are the text's
	events    int64 // those that hold S
	short     bool  // fewer tokens than events
	untold    bool  // reasoning was hidden and nobody says how much: S is unknown
	source    TokenSource
}

// count finds N, S and their source, and settles what an event holds.
func count(tl *timeline.Timeline, s *seen) counted {
	c := outputTokens(tl, s)
	if !c.partly() {
		c.events = s.n
		if _, c.pictured = atOnce(tl, s); c.pictured {
			c.events -= s.media
		}
	}
	if n, ok := c.output.Get(); ok && !c.untold {
		streamed := max(n-c.hidden-c.aside, 0)
		c.streamed = timeline.Some(streamed)
		c.short = c.short || streamed < c.events
		if !c.short && !c.partly() {
			s.k = tokensPerEvent(s, streamed)
		}
	} else {
		c.aside = 0
	}
	return c
}

// partly reports whether S has no tokens of some of the generation events.
func (c *counted) partly() bool { return c.summary || c.pictured }

func outputTokens(tl *timeline.Timeline, s *seen) counted {
	if n, ok := tl.Usage.Output.Get(); ok && n >= 0 {
		return fromUsage(tl, s, n)
	}
	if n, ok := tl.Counted.Get(); ok && n >= 0 {
		return counted{output: timeline.Some(n), source: FromIDs, reasoning: tl.Usage.Reasoning, aside: min(s.tail, max(n-s.n, 0))}
	}
	if n, ok := tl.Tokenized.Get(); ok && n >= 0 {
		return counted{output: timeline.Some(n), source: FromTokenizer, reasoning: tl.Usage.Reasoning}
	}
	return fromChunks(tl, s)
}

// fromUsage splits the server's count into what was streamed and what was
// hidden. Some servers count hidden reasoning in the total only: a surplus is
// taken for that where the usage tells of no reasoning itself. A summary's own
// tokens are in no count: what was streamed and counted is the answer.
func fromUsage(tl *timeline.Timeline, s *seen, n int64) counted {
	c := counted{source: FromUsage, reasoning: tl.Usage.Reasoning}
	total, known := tl.Usage.Total.Get()
	if input, ok := tl.Usage.Input.Get(); ok && known {
		c.beside = total - input - n
	}
	if c.beside > 0 && c.reasoning.Or(0) == 0 {
		n += c.beside
		c.reasoning = timeline.Some(c.beside)
		c.hidden = c.beside
	}
	c.events = s.n
	if c.summary = s.thoughts > 0 && c.reasoning.Or(0) > 0 && tl.Flags.Has(timeline.ReasoningSummary); c.summary {
		c.events -= s.thoughts
	}
	if c.aside, c.pictured = atOnce(tl, s); c.pictured {
		c.events -= s.media
	}
	if tl.Streamed && (s.thoughts == 0 || c.summary) {
		c.hidden = c.reasoning.Or(0)
	}
	c.hidden += tl.Usage.Rejected.Or(0)
	c.aside += s.tail
	if c.aside+c.hidden+c.beside == 0 && endOfText(tl, s, &c, n) {
		c.aside = 1
	}
	c.short = n-c.hidden-c.aside < c.events
	// Each event holds a token at least: what is more was not hidden, but came
	// under the name of something else.
	c.hidden = min(c.hidden, max(n-c.events, 0))
	c.aside = min(c.aside, max(n-c.events-c.hidden, 0))
	c.output = timeline.Some(n)
	c.untold = tl.Flags.Has(timeline.HiddenReasoning) && n > c.events
	return c
}

// atOnce are the tokens of pictures, and of sound that came whole in one event, as the
// server told them; apart says that the events that brought them hold none of S. Sound
// that comes as it is made is streamed, unless none of its tokens are counted: those of
// vLLM-Omni are 0. OpenAI's Responses API counts the tokens of its pictures nowhere.
func atOnce(tl *timeline.Timeline, s *seen) (tokens int64, apart bool) {
	n, told := tl.Server["output_image_tokens"]
	if sound, heard := tl.Server["output_audio_tokens"]; s.media == 1 || sound == 0 {
		n, told = n+sound, told || heard
	}
	return int64(n), s.media > 0 && (told || tl.API == "openai-responses")
}

// endOfText reports whether one of n tokens is the one that ends the text, where nothing
// tells tokens by event: the answer is plain text and ended by itself, its last event has
// no text, and usage counts exactly one token more than came. vLLM, SGLang, llama.cpp, TGI
// and Ollama count that token. With any other surplus nobody knows.
// Source: SGLang's output_ids, numPredicted in Ollama's runner.go, n_decoded in llama.cpp's
// server, generated_tokens of TGI.
func endOfText(tl *timeline.Timeline, s *seen, c *counted, n int64) bool {
	switch tl.FinishReason {
	case "stop", "eos", "eos_token", "word":
	case "completed":
		if tl.API != "openai-responses" {
			return false
		}
	default:
		return false
	}
	came, media := s.n, s.media
	if c.pictured {
		came, media = came-media, 0
	}
	if s.allTold && s.told > 0 {
		came = s.told
	}
	thoughts := s.thoughts
	if tl.Flags.Has(timeline.InlineReasoning) {
		thoughts = 0 // they came with all their marks
	}
	return s.ended && !s.called && !s.severalChoices && thoughts+media == 0 && tl.Usage.Reasoning.Or(0) == 0 && n == came+1
}

// fromChunks is the count of a stream that nobody else counted: null where no
// event came. That a refused request was given nothing is known.
func fromChunks(tl *timeline.Timeline, s *seen) counted {
	c := counted{reasoning: tl.Usage.Reasoning}
	n, ok := chunks(tl, s).Get()
	if _, apart := atOnce(tl, s); apart {
		n -= s.media
	}
	if ok && n > 0 {
		c.output, c.source = timeline.Some(n), FromChunks
	} else if tl.HTTPStatus >= 300 && tl.Outcome.Failed() && tl.Evidence == timeline.Arrivals {
		c.output = timeline.Some(int64(0))
	}
	return c
}

// chunks is the number of generation events: null for an answer that is no
// stream, and where arrivals were not kept nor counted.
func chunks(tl *timeline.Timeline, s *seen) timeline.Opt[int64] {
	return timeline.Maybe(s.n, tl.Streamed && tl.Evidence == timeline.Arrivals && !(tl.Flags.Has(timeline.ArrivalsCapped) && restOf(tl) == nil))
}

// tokensPerEvent decides whether the tokens of each event are known. A told
// sum may lack the stop token, which usage counts and no event carries.
func tokensPerEvent(s *seen, streamed int64) perEvent {
	switch {
	case s.n == 0:
	case s.allTold && s.told > 0 && (s.told == streamed || s.told == streamed-1):
		return told
	case s.n == streamed:
		return oneEach
	}
	return unknown
}

// tokensOf is how many tokens an event holds, by what the protocol told of it;
// only where that is known.
func (k perEvent) tokensOf(tokens timeline.Opt[int64]) int64 {
	if k == told {
		return tokens.Or(0)
	}
	return 1
}
