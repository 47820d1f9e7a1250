package api

import (
	"math/bits"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// tokenCount follows how many tokens the events held, where the protocol tells:
// by token ids or logprobs, or by a running usage count.
type tokenCount struct {
	told    int64 // by ids or logprobs, in all
	anyTold bool
	untold  bool  // a generation event came without them
	pending int64 // told by events that had no text (a character's first bytes)

	running int64 // usage count at the last generation event
	unsure  bool  // its differences cannot be trusted
}

// notTold stands for "the event has no ids or logprobs".
const notTold = -1

// of returns the tokens of one event. bears says that it carries text, ids is
// their number by ids or logprobs or notTold, output is the running usage.
func (c *tokenCount) of(bears bool, ids int64, output timeline.Opt[int64]) timeline.Opt[int64] {
	running := c.difference(bears, output)
	if bears && (ids == notTold || ids+c.pending == 0) { // text of no tokens was not told either
		c.untold, c.pending = true, 0
		return running
	}
	if ids == notTold {
		return none
	}
	c.told += ids
	c.anyTold = true
	c.pending += ids
	if !bears {
		return none
	}
	n := c.pending
	c.pending = 0
	return timeline.Some(n)
}

// last is of for an event with a finish reason: of one that has no text it returns the
// tokens that came with it or since the last text, as the end-of-text token does, if an
// id or the running count tells. Where the length ended the answer nothing is told of it.
func (c *tokenCount) last(bears bool, why jsonscan.Text, ids int64, output timeline.Opt[int64]) timeline.Opt[int64] {
	tokens := c.of(bears, ids, output)
	if bears || why.Is("length") || why.Is("limit") {
		return tokens
	}
	n := c.pending
	if c.pending = 0; n == 0 && c.running > 0 && !c.unsure {
		n = output.Or(0) - c.running
	}
	return timeline.Maybe(n, n > 0)
}

// difference is how far the running usage count moved since the last
// generation event. It means nothing once an event came without a count, or the
// count stood still while text came.
func (c *tokenCount) difference(bears bool, output timeline.Opt[int64]) timeline.Opt[int64] {
	if !bears {
		return none
	}
	n, ok := output.Get()
	moved := n - c.running
	if !ok || moved <= 0 {
		c.unsure = true
	}
	if c.unsure {
		return none
	}
	c.running = n
	return timeline.Some(moved)
}

// counted is the count by ids and logprobs; empty unless every generation
// event had them.
func (c *tokenCount) counted() timeline.Opt[int64] {
	if !c.anyTold || c.untold {
		return none
	}
	return timeline.Some(c.told)
}

// usageState collects the usage counts of a reply. They are cumulative: each is
// the largest that was told; counts of single sequences are added up.
type usageState struct {
	last      usage
	sequences int  // usage objects that came with the end of one choice
	single    bool // they covered that choice alone
	sum       usage
	input     timeline.Opt[int64] // prompt of the last of them
	sameInput bool                // all of them had the same prompt
	estimated bool                // the prompt's count was told before anything was answered
	exclusive bool                // input leaves out what was read from the cache or written to it
}

// merge takes one usage object.
func (u *usageState) merge(v usage) {
	if u.exclusive {
		v.apart()
		if u.estimated && v.Input.Or(0) > 0 && v.Output.Or(0) > 0 {
			u.last.Input, u.estimated = none, false
		}
		u.last.split(&v)
		v.Input, v.Cached, v.CacheWrite = none, none, none
	} else {
		u.restate(&v)
	}
	u.last.each(&v, rise)
}

// apart puts the prompt's counts as Anthropic's API has them, with the cache beside the prompt,
// where OpenAI's names say that it is within: those of the prompt, or of the cache alone.
// Source: maximhq/bifrost core/providers/anthropic/passthroughusagecachesplit_test.go (#5510,
// Kimi), and the tests of Wei-Shaw/sub2api (Kimi, GLM, DeepSeek).
func (u *usage) apart() {
	cache := u.Cached.Or(0) + u.CacheWrite.Or(0)
	all := u.allPrompt
	if !all.OK() && !u.maybeBeside {
		all = u.Input
	}
	if u.uncached.OK() {
		u.Input = u.uncached
	} else if n, told := all.Get(); told && n >= cache {
		u.Input = timeline.Some(n - cache)
	}
}

// restate lets the prompt's count fall where a usage tells of no less output than those
// before and adds up: Google begins with an estimate of the prompt, which is its whole total
// then, and ends with what it counted, on OpenAI's path and through gateways too. What is
// of the prompt or the total comes from the last usage with it, but for a cached part of
// which that tells nothing.
// Source: recordings of langchaingo v0.1.14, llms/googleai/testdata: 78 of 78, then 33 + 12 = 45,
// and of magentic 0.41.1, tests/cassettes, on OpenAI's path: 4 of 4, then 3 + 11 = 14.
func (u *usageState) restate(v *usage) {
	n, told := v.Output.Get()
	if prompt := v.Input.Or(0); told && n > 0 && n >= u.last.Output.Or(0) && prompt > 0 && prompt < u.last.Input.Or(0) && prompt+v.parts[promptTool]+n == v.Total.Or(0) {
		u.last.Input, u.last.Total, u.last.media = v.Input, v.Total, v.media
		copy(u.last.parts[:firstOfAnswer], v.parts[:firstOfAnswer])
		if v.Cached.OK() {
			u.last.Cached = v.Cached
		}
	}
}

// split takes the prompt's counts of a usage that has the cache beside the prompt.
// They belong together: some gateways begin with the whole prompt and tell at the
// end how much of it was fresh and how much came from the cache.
func (u *usage) split(v *usage) {
	named := func(u *usage) bool { return u.Cached.OK() || u.CacheWrite.OK() }
	cache := func(u *usage) int64 { return u.Cached.Or(0) + u.CacheWrite.Or(0) }
	switch all := v.Input.Or(0) + cache(v); {
	case !named(v):
		rise(&u.Input, v.Input)
	case cache(u) == 0 && cache(v) > 0 || all > u.Input.Or(0)+cache(u):
		// What was told without a cache is the whole prompt, give or take an estimate;
		// with a cache of 0 it may be too small for that.
		whole := !named(u) || cache(u) == 0 && u.Input.Or(0) >= cache(v)/2
		if u.Cached, u.CacheWrite = v.Cached, v.CacheWrite; v.Input.Or(0) > 0 || !u.Input.OK() {
			u.Input = v.Input
		} else if whole {
			u.Input = timeline.Some(max(u.Input.Or(0)-cache(v), 0))
		}
	default: // no more than was told before: a placeholder
		for _, count := range [][2]*timeline.Opt[int64]{{&u.Input, &v.Input}, {&u.Cached, &v.Cached}, {&u.CacheWrite, &v.CacheWrite}} {
			if !count[0].OK() {
				*count[0] = *count[1]
			}
		}
	}
}

// each joins every count with that of another usage.
func (u *usage) each(v *usage, join func(field *timeline.Opt[int64], v timeline.Opt[int64])) {
	join(&u.Input, v.Input)
	join(&u.Cached, v.Cached)
	join(&u.CacheWrite, v.CacheWrite)
	join(&u.CacheWrite1h, v.CacheWrite1h)
	join(&u.Output, v.Output)
	join(&u.Reasoning, v.Reasoning)
	join(&u.Rejected, v.Rejected)
	join(&u.Total, v.Total)
	u.media = max(u.media, v.media)
	u.secondsOnly, u.billedOnly = u.secondsOnly || v.secondsOnly, u.billedOnly || v.billedOnly
	for i := range u.parts {
		u.parts[i] = max(u.parts[i], v.parts[i])
	}
}

// sequence takes a usage object that came with the end of one choice of several;
// alone says that it covers no other.
func (u *usageState) sequence(v usage, alone bool) {
	u.single = u.single || alone
	u.sameInput = u.sequences == 0 || u.sameInput && v.Input == u.input
	u.sequences++
	u.input = v.Input
	u.merge(v)
	u.sum.each(&v, plus)
}

func plus(field *timeline.Opt[int64], v timeline.Opt[int64]) {
	if n, ok := v.Get(); ok {
		*field = timeline.Some(field.Or(0) + n)
	}
}

// final is the reply's usage. seen are its choices, tokens its generation
// events, server what the server told of its own work.
func (u *usageState) final(seen uint64, tokens int64, server *serverTimings) timeline.Usage {
	v := u.last
	choices := bits.OnesCount64(seen)
	if u.single && u.sequences > 1 && u.sequences <= choices && u.sum.Output.Or(0) >= v.Output.Or(0) {
		v = u.sum
		if total, ok := v.Total.Get(); ok && u.sameInput { // one prompt is counted once
			repeated := v.Input.Or(0) - u.last.Input.Or(0)
			v.Total = timeline.Some(total - repeated)
		}
		if u.sameInput {
			v.Input, v.Cached, v.CacheWrite, v.CacheWrite1h = u.last.Input, u.last.Cached, u.last.CacheWrite, u.last.CacheWrite1h
		}
	}
	if n := v.parts[promptAudio]; n > 0 {
		server.set(audioInput, float64(n))
	}
	if n := v.parts[answerAudio]; n > 0 {
		server.set(audioOutput, float64(n))
	}
	if n := v.parts[answerImage] + v.parts[answerVideo]; n > 0 {
		server.set(imageOutput, float64(n))
	}
	v.reconcile(u.exclusive)
	v.Media = above0(max(v.media, v.parts[promptImage]+v.parts[promptVideo]))
	if n, ok := v.Output.Get(); ok && n == 0 && tokens > 0 {
		v.Output, v.Total = none, none // a placeholder, and the real count never came
	}
	if n, ok := v.Input.Get(); ok && n == 0 {
		v.Input = none // no prompt has no tokens
	}
	if choices <= 1 {
		server.fill(&v.Usage)
	}
	return v.Usage
}
