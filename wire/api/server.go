package api

import (
	"net/http"
	"strconv"

	"tokenmeter/record/timeline"
)

// serverTimings are the durations and counts that a server reports of its own
// work. The last value of each wins.
type serverTimings struct {
	known  uint32
	values [nTimings]float64
	// headAtStart: the server begins its answer when it begins to work on the
	// request, so that the head's lateness is the queue.
	headAtStart bool
}

type timing uint8

const (
	queueMS timing = iota
	prefillMS
	decodeMS
	decodePerTokenMS
	totalMS
	loadMS
	validationMS
	prefillTokens
	decodeTokens
	cachedTokens
	draftTokens
	draftAccepted
	audioInput
	audioOutput
	imageOutput
	nTimings
)

// timingNames are the keys of a record's `server` object.
var timingNames = [nTimings]string{
	"queue_ms", "prefill_ms", "decode_ms", "decode_per_token_ms", "total_ms", "load_ms",
	"validation_ms", "prefill_tokens", "decode_tokens", "cached_tokens",
	"draft_tokens", "draft_accepted_tokens",
	"input_audio_tokens", "output_audio_tokens", "output_image_tokens",
}

// mostTold bounds what a server can have measured, thirty years in ms: beyond it sums
// would leave what numbers can hold, and with them a whole run what can be written.
const mostTold = 1e12

func (t *serverTimings) set(key timing, v float64) {
	if v >= 0 && v <= mostTold {
		t.values[key] = v
		t.known |= 1 << key
	}
}

// number reads a value in the key's own unit.
func (t *serverTimings) number(key timing, c *scan) {
	if v, ok := c.Float(); ok {
		t.set(key, v)
	}
}

// seconds reads a duration in seconds.
func (t *serverTimings) seconds(key timing, c *scan) {
	if v, ok := c.Float(); ok {
		t.set(key, v*1000)
	}
}

// nanos reads a duration in nanoseconds.
func (t *serverTimings) nanos(key timing, c *scan) {
	if v, ok := c.Float(); ok {
		t.set(key, v/1e6)
	}
}

// merge takes over what o knows.
func (t *serverTimings) merge(o *serverTimings) {
	if o.known == 0 {
		return
	}
	t.headAtStart = t.headAtStart || o.headAtStart
	for key := range nTimings {
		if o.known&(1<<key) != 0 {
			t.set(key, o.values[key])
		}
	}
}

func (t *serverTimings) llamacpp(c *scan) {
	t.headAtStart = true
	t.named(c, []namedTiming{
		{"prompt_ms", prefillMS}, {"predicted_ms", decodeMS}, {"predicted_per_token_ms", decodePerTokenMS},
		{"prompt_n", prefillTokens}, {"predicted_n", decodeTokens}, {"cache_n", cachedTokens},
		{"draft_n", draftTokens}, {"draft_n_accepted", draftAccepted},
	})
}

// namedTiming is what a server calls one of its timings.
type namedTiming struct {
	name string
	key  timing
}

// named reads an object that has timings in their own units, some of them an object deeper.
func (t *serverTimings) named(c *scan, names []namedTiming) {
	for name := range c.Members {
		if c.Peek() == '{' {
			t.named(c, names)
			continue
		}
		for _, n := range names {
			if n.name == string(name) {
				t.number(n.key, c)
			}
		}
	}
}

// fill completes a usage that was not sent by what llama.cpp tells in its
// timings: it counts the part of the prompt that was cached beside the part that
// was computed.
func (t *serverTimings) fill(u *timeline.Usage) {
	told := func(key timing) (int64, bool) { return int64(t.values[key]), t.known&(1<<key) != 0 }
	computed, ok := told(prefillTokens)
	cached, hit := told(cachedTokens)
	if ok && !u.Input.OK() && computed+cached > 0 {
		u.Input = timeline.Some(computed + cached)
		if hit {
			rise(&u.Cached, timeline.Some(cached))
		}
	}
	if n, ok := told(decodeTokens); ok && !u.Output.OK() && n > 0 {
		u.Output = timeline.Some(n)
	}
}

// vllm reads the object `metrics` that vLLM sends when asked. Its time to the first token
// counts from when the request was scheduled: it is the prefill, without the queue.
func (t *serverTimings) vllm(c *scan) {
	t.named(c, []namedTiming{
		{"queue_time_ms", queueMS}, {"time_to_first_token_ms", prefillMS}, {"generation_time_ms", decodeMS}, {"mean_itl_ms", decodePerTokenMS},
		{"num_draft_tokens", draftTokens}, {"num_accepted_draft_tokens", draftAccepted}, // of speculative_decoding
	})
}

// timingHeaders are those of text-generation-inference and of OpenAI, in ms.
var timingHeaders = []namedTiming{
	{"X-Queue-Time", queueMS}, {"X-Validation-Time", validationMS},
	{"X-Inference-Time", decodeMS}, {"X-Time-Per-Token", decodePerTokenMS},
	{"X-Total-Time", totalMS}, {"Openai-Processing-Ms", totalMS},
}

func (t *serverTimings) headers(h http.Header) {
	for _, th := range timingHeaders {
		if v, err := strconv.ParseFloat(h.Get(th.name), 64); err == nil {
			t.set(th.key, v)
		}
	}
}

// What a server with headAtStart may leave unexplained of the time to its first
// token: a part of it, and the way there and back. More says that this one sends
// its head at once, as llama.cpp did until the end of 2025.
const (
	unexplainedShare = 0.1
	unexplainedUS    = 5000
)

// queueByHead completes the timings of a server with headAtStart, which does not
// tell its queue: the time from the request written to the head, less the way,
// which a new connection's handshake took once.
func (t *serverTimings) queueByHead(tl *timeline.Timeline) {
	const told, queue = 1 << prefillMS, 1 << queueMS
	sent, ok := tl.SentUS.Get()
	head, ok2 := tl.HeadUS.Get()
	if !t.headAtStart || !ok || !ok2 || t.known&(told|queue) != told {
		return
	}
	for e := range tl.Events.Generation() {
		way := tl.ConnectUS.Or(0)
		waited := float64(max(head-sent-way, 0))
		first := float64(e.AtUS - sent)
		if rest := first - float64(way) - waited - 1e3*t.values[prefillMS]; max(rest, -rest) <= unexplainedShare*first+unexplainedUS {
			t.set(queueMS, waited/1e3)
		}
		return
	}
}

// result is the record's `server` object; nil when nothing was reported.
func (t *serverTimings) result() map[string]float64 {
	if t.known == 0 {
		return nil
	}
	m := make(map[string]float64)
	for key, name := range timingNames {
		if t.known&(1<<key) != 0 {
			m[name] = t.values[key]
		}
	}
	return m
}
