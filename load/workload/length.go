package workload

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"tokenmeter/base/pattern"
	"tokenmeter/base/random"
)

// MaxTokens bounds a length, so that a typing error does not fill the memory.
const MaxTokens = 10_000_000

// Lengths is a distribution of token counts. The zero value is not usable; see
// ParseLengths.
type Lengths struct {
	text   string
	lo, hi int64
	clip   bool                         // what is drawn outside of lo and hi becomes the nearer
	draw   func(*random.Source) float64 // nil: always lo
}

// ParseLengths reads a distribution:
//
//	256                      always 256
//	uniform:128,512          any whole number from 128 to 512
//	normal:256,32            mean and standard deviation
//	lognormal:256,128        mean and standard deviation of the lengths themselves
//	exponential:256          mean
//	40%:128,60%:uniform:1000,4000   one of several, by share
//
// Further fields min=… and max=… cut normal, lognormal and exponential off. A
// length is never below 1.
func ParseLengths(text string) (Lengths, error) {
	l, err := parseLengths(text)
	if err != nil {
		return Lengths{}, fmt.Errorf("length %q: %w", text, err)
	}
	return l, nil
}

func parseLengths(text string) (Lengths, error) {
	text = strings.TrimSpace(text)
	if parts, err := parseMix(text); err != nil || parts != nil {
		if err != nil {
			return Lengths{}, err
		}
		return mixed(text, parts)
	}
	d, err := parseDistribution(text, tokenValue)
	if err != nil {
		return Lengths{}, err
	}
	l := Lengths{text: text, lo: 1, hi: MaxTokens, clip: d.clip}
	whole := func(xs ...float64) error {
		for _, x := range xs {
			if x != math.Trunc(x) {
				return fmt.Errorf("want whole tokens, not %v", x)
			}
		}
		return nil
	}
	if d.cut {
		l.lo, l.hi = int64(math.Ceil(max(d.lo, 1))), int64(min(d.hi, MaxTokens))
		if l.lo > l.hi {
			return Lengths{}, fmt.Errorf("no whole number lies between min and max")
		}
	}
	switch d.name {
	case "fixed":
		l.lo, l.hi = int64(d.args[0]), int64(d.args[0])
		return l, whole(d.args...)
	case "uniform":
		l.lo, l.hi = int64(d.args[0]), int64(d.args[1])
		l.draw = func(s *random.Source) float64 { return float64(s.Between(l.lo, l.hi)) }
		return l, whole(d.args...)
	}
	l.draw = d.draw
	return l, nil
}

// tokenValue reads a number of tokens.
func tokenValue(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return 0, fmt.Errorf("%q is not a number", text)
	case x > MaxTokens:
		return 0, fmt.Errorf("%s tokens are more than the limit of %d", text, MaxTokens)
	case x < 0 || x > 0 && x < 1e-9:
		return 0, fmt.Errorf("%s tokens; a length is at least 1", text)
	}
	return x, nil
}

var mixPart = pattern.Lazy(`(?:^|,)\s*([0-9.eE+]+)%\s*:`)

// mixPiece is one line of a mixture: its share and the text behind it.
type mixPiece struct {
	share float64
	text  string
}

// parseMix splits "40%:A,60%:B"; nil when the text is no mixture.
func parseMix(text string) ([]mixPiece, error) {
	at := mixPart().FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 || at[0][0] != 0 {
		return nil, nil
	}
	var parts []mixPiece
	sum := 0.0
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		share, err := strconv.ParseFloat(text[m[2]:m[3]], 64)
		if err != nil || !(share > 0 && share <= 100) {
			return nil, fmt.Errorf("a share of %s %%; want above 0 and at most 100", text[m[2]:m[3]])
		}
		sum += share
		parts = append(parts, mixPiece{share, strings.TrimSpace(text[m[1]:end])})
	}
	if math.Abs(sum-100) > 0.01 {
		return nil, fmt.Errorf("the shares add up to %s %%, not to 100", strconv.FormatFloat(sum, 'g', 6, 64))
	}
	return parts, nil
}

func mixed(text string, pieces []mixPiece) (Lengths, error) {
	l := Lengths{text: text, lo: MaxTokens, hi: 1}
	parts, shares := make([]Lengths, len(pieces)), make([]float64, len(pieces))
	for i, p := range pieces {
		part, err := parseLengths(p.text)
		if err != nil {
			return Lengths{}, err
		}
		parts[i], shares[i] = part, p.share
		l.lo, l.hi = min(l.lo, part.lo), max(l.hi, part.hi)
	}
	choose := newChoice(shares)
	l.draw = func(s *random.Source) float64 {
		part := &parts[choose.draw(s)]
		return float64(part.Draw(s))
	}
	return l, nil
}

// String returns the distribution as it was written.
func (l Lengths) String() string { return l.text }

// IsZero reports whether there is no distribution.
func (l Lengths) IsZero() bool { return l.text == "" }

// Fixed returns the length in tokens when it is always the same; else false.
func (l Lengths) Fixed() (int64, bool) { return l.lo, l.draw == nil && l.text != "" }

// atMost bounds lengths by a limit, which some must keep.
func (l Lengths) atMost(most int64) (Lengths, error) {
	var err error
	if l.lo > most || l.draw == nil && l.hi > most {
		err = fmt.Errorf("%s; want at most %d", l.text, most)
	}
	l.hi = min(l.hi, most)
	return l, err
}

// Draw returns one length. What falls outside the limits is drawn again, so
// that no heap of equal lengths builds up at a limit, unless they clip.
func (l Lengths) Draw(s *random.Source) int64 {
	if l.draw == nil {
		return l.lo
	}
	for range 100 {
		x := math.Round(l.draw(s))
		if l.clip {
			x = min(max(x, float64(l.lo)), float64(l.hi))
		}
		if x >= float64(l.lo) && x <= float64(l.hi) {
			return int64(x)
		}
	}
	return min(max(int64(l.draw(s)), l.lo), l.hi)
}

// choice picks one of several by their shares.
type choice []float64 // running sums, the last is 1

func newChoice(shares []float64) choice {
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	c, run := make(choice, len(shares)), 0.0
	for i, s := range shares {
		run += s
		c[i] = run / sum
	}
	c[len(c)-1] = 1
	return c
}

func (c choice) draw(s *random.Source) int {
	u := s.Float64()
	return sort.Search(len(c)-1, func(i int) bool { return u < c[i] })
}
