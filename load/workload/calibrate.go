package workload

import (
	"math"
	"strings"

	"tokenmeter/record/timeline"
)

// Observed is one answer to a made prompt: its words, and the input tokens that
// the server counted.
type Observed struct {
	Words  int
	Tokens int64
}

const (
	// templateTokens is the most that a chat template is believed to add where
	// that was not measured.
	templateTokens = 64
	// wordTokens is by how many tokens a prompt may miss for being made of whole
	// words: a few of the longest.
	wordTokens = 16
	// drift is the share by which a length may miss before it is corrected.
	drift = 0.05
	// A word of ours is at least half a token, and at most one for each of its
	// bytes and the space; what a server says beyond that is no count of tokens.
	leastPerWord, mostPerWord = 0.5, 12
)

// Fit finds how the server counts words. What a template adds is left alone
// (asked tokens are the user's; the server's own count is in the record), so
// ok is false when a word is a token already, give or take 5 % and a template.
// A pace is only known from prompts of different lengths; from one length the
// whole excess beyond a template counts as the tokenizer's doing.
func Fit(seen []Observed) (c Calibration, ok bool) {
	var n, mw, mt float64
	for _, o := range seen {
		if o.Words > 0 && o.Tokens > 0 {
			n++
			mw += float64(o.Words)
			mt += float64(o.Tokens)
		}
	}
	if n == 0 {
		return Calibration{}, false
	}
	mw, mt = mw/n, mt/n
	var sww, swt float64
	for _, o := range seen {
		if o.Words > 0 && o.Tokens > 0 {
			dw := float64(o.Words) - mw
			sww += float64(dw * dw)
			swt += float64(dw * (float64(o.Tokens) - mt))
		}
	}
	c.PerWord = mt / mw
	if spread := math.Sqrt(sww / n); spread > 0.1*mw {
		c.PerWord = swt / sww
	} else if excess := mt - mw; excess >= 0 && excess <= templateTokens {
		c.PerWord = 1
	}
	return c.believed()
}

// Pace finds how the server counts words where what it adds to each request is
// known, which prompts of one length are enough for. ok is false when a word is a
// token already, give or take 5 %.
func Pace(seen []Observed, overhead float64) (c Calibration, ok bool) {
	var words, tokens float64
	for _, o := range seen {
		if o.Words > 0 && o.Tokens > 0 {
			words += float64(o.Words)
			tokens += float64(o.Tokens) - overhead
		}
	}
	c.PerWord = tokens / words
	return c.believed()
}

// believed refuses a pace that no tokenizer has, and one that needs no mending.
func (c Calibration) believed() (Calibration, bool) {
	if !(c.PerWord >= leastPerWord && c.PerWord <= mostPerWord) || math.Abs(c.PerWord-1) <= drift {
		return Calibration{}, false
	}
	return c, true
}

// Off is by which share a server's mean count misses the asked mean, after the
// template's part is granted: what it was measured to add, or else as much as
// templates are believed to. A few tokens are granted to either side, for a short
// prompt is made of whole words. 0 when the mean does not miss.
func Off(asked, counted float64, overhead timeline.Opt[float64]) float64 {
	least, most := 0.0, float64(templateTokens)
	added, known := overhead.Get()
	if known {
		least, most = added-wordTokens, added+wordTokens
	}
	excess := counted - asked
	if asked <= 0 || excess >= least && excess <= most {
		return 0
	}
	return (excess - added) / (asked + added)
}

// Letters is a prompt of n single letters, by which a template is measured.
func Letters(i int64, n int) Item {
	return Item{Index: i, Step: Step{Messages: user(strings.TrimSpace(strings.Repeat("a ", n))),
		MaxTokens: timeline.Some[int64](probeTokens)}}
}

// Template is how many tokens a server adds to each request, whatever is in it,
// told by its counts of prompts of one letter and of two. A letter that stands
// alone is one token of every vocabulary, and one after a space is two at most.
// Where the second letter takes more, the server counts something else, and the
// first took as many. False where that can't be a template.
func Template(one, two int64) (overhead float64, ok bool) {
	letter := int64(1)
	if step := two - one; step > 2 {
		letter = step
	}
	return float64(one - letter), one >= letter && two >= one
}
