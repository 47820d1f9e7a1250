package api

import (
	"math/bits"

	"tokenmeter/record/timeline"
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

// usageState collects the usage counts of a reply. Later values replace
// earlier ones, field by field; counts of single sequences are added up.
type usageState struct {
	last      timeline.Usage
	sequences int // usage objects that covered one choice each
	sum       timeline.Usage
	sameInput bool // all of them had the same prompt
	exclusive bool // input leaves out what was read from the cache or written to it
}

// merge takes one usage object.
func (u *usageState) merge(v timeline.Usage) {
	keep(&u.last.Input, v.Input)
	keep(&u.last.Cached, v.Cached)
	keep(&u.last.CacheWrite, v.CacheWrite)
	keep(&u.last.Output, v.Output)
	keep(&u.last.Reasoning, v.Reasoning)
	keep(&u.last.Total, v.Total)
}

func keep(field *timeline.Opt[int64], v timeline.Opt[int64]) {
	if v.OK() {
		*field = v
	}
}

// sequence takes a usage object that covers one choice of several (llama.cpp).
func (u *usageState) sequence(v timeline.Usage) {
	u.sameInput = u.sequences == 0 || u.sameInput && v.Input == u.last.Input
	u.sequences++
	u.merge(v)
	plus(&u.sum.Input, v.Input)
	plus(&u.sum.Cached, v.Cached)
	plus(&u.sum.CacheWrite, v.CacheWrite)
	plus(&u.sum.Output, v.Output)
	plus(&u.sum.Reasoning, v.Reasoning)
	plus(&u.sum.Total, v.Total)
}

func plus(field *timeline.Opt[int64], v timeline.Opt[int64]) {
	if n, ok := v.Get(); ok {
		*field = timeline.Some(field.Or(0) + n)
	}
}

// final is the reply's usage. seen are its choices, tokens its generation events.
func (u *usageState) final(seen uint64, tokens int64) timeline.Usage {
	v := u.last
	if choices := bits.OnesCount64(seen); u.sequences > 1 && u.sequences <= choices {
		v = u.sum
		if total, ok := v.Total.Get(); ok && u.sameInput { // one prompt is counted once
			repeated := v.Input.Or(0) - u.last.Input.Or(0)
			v.Total = timeline.Some(total - repeated)
		}
		if u.sameInput {
			v.Input, v.Cached, v.CacheWrite = u.last.Input, u.last.Cached, u.last.CacheWrite
		}
	}
	if n, ok := v.Input.Get(); ok && u.exclusive {
		v.Input = timeline.Some(n + v.Cached.Or(0) + v.CacheWrite.Or(0))
	}
	if n, ok := v.Output.Get(); ok && n == 0 && tokens > 0 {
		v.Output, v.Total = none, none // a placeholder, and the real count never came
		if v.Input.Or(0) == 0 {
			v.Input = none
		}
	}
	return v
}
