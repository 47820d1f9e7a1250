package workload

import "math"

// Observed is one answer to a made prompt: its words, and the input tokens that
// the server counted.
type Observed struct {
	Words  int
	Tokens int64
}

const (
	// templateTokens is the most that a chat template is believed to add.
	templateTokens = 64
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
	if !(c.PerWord >= leastPerWord && c.PerWord <= mostPerWord) || math.Abs(c.PerWord-1) <= drift {
		return Calibration{}, false
	}
	return c, true
}

// Off is by which share a server's mean count misses the asked mean, after the
// template's part is granted; 0 when it does not.
func Off(asked, counted float64) float64 {
	excess := counted - asked
	if asked <= 0 || excess >= 0 && excess <= templateTokens {
		return 0
	}
	return excess / asked
}

// Template is how many tokens a chat template adds to each request, when a unit
// has perWord tokens: what the server counts beyond our text. False when that
// can't be a template.
func Template(seen []Observed, perWord float64) (overhead float64, ok bool) {
	if !(perWord > 0) {
		perWord = 1
	}
	n, sum := 0, 0.0
	for _, o := range seen {
		if o.Words > 0 && o.Tokens > 0 {
			n++
			sum += float64(o.Tokens) - float64(perWord*float64(o.Words))
		}
	}
	if n == 0 {
		return 0, false
	}
	overhead = sum / float64(n)
	if overhead < 0 && overhead > -1 {
		overhead = 0 // rounding
	}
	return overhead, overhead >= 0 && overhead <= templateTokens
}

// Ambiguous reports whether answers to prompts of one length leave open what
// made the server count more: a template, or another tokenizer.
func Ambiguous(seen []Observed) bool {
	var n, words, tokens, least, most float64
	for _, o := range seen {
		if o.Words > 0 && o.Tokens > 0 {
			w := float64(o.Words)
			if n == 0 {
				least, most = w, w
			}
			n++
			words += w
			tokens += float64(o.Tokens)
			least, most = min(least, w), max(most, w)
		}
	}
	excess := tokens - words
	return n > 0 && most < 1.3*least && excess > 0.02*words && excess <= n*templateTokens
}
