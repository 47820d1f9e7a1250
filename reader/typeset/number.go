package typeset

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tokenmeter/record/timeline"
)

// Missing stands for what was not measured.
const Missing = "–"

// Digits says how exactly a value is shown: three significant digits, no finer
// than the digit that a tenth of its interval's width reaches, and as many
// more as it takes to stand on the true side of its limit.
type Digits struct {
	Width float64               // of the 95 % interval; 0 where there is none
	Limit timeline.Opt[float64] // the objective's, in the value's unit
	Round bool                  // for a sentence: two significant digits, whole numbers in full
}

// Significant is how many digits a value has that has neither interval nor limit.
const Significant = 3

// maxDecimals bounds the search for the true side; beyond it floats are equal.
const maxDecimals = 9

// Decimals returns how many decimals v is shown with; negative ones round to
// tens, hundreds and so on.
func (d Digits) Decimals(v float64) int {
	if v == 0 {
		return 0
	}
	dec := DecimalsFor(v, Significant)
	if d.Round {
		dec = max(DecimalsFor(v, 2), 0)
	} else if d.Width > 0 {
		dec = min(dec, max(-Magnitude(d.Width/10), DecimalsFor(v, 1)))
	}
	return d.sure(v, dec)
}

// DecimalsFor returns the decimals that show v with n significant digits.
func DecimalsFor(v float64, n int) int {
	dec := n - 1 - Magnitude(v)
	if Magnitude(Round(v, dec)) > Magnitude(v) {
		dec-- // 9.996 is 10.0, not 10.00
	}
	return min(dec, maxDecimals+6)
}

// Magnitude is the power of ten of the first digit.
func Magnitude(v float64) int {
	if v == 0 {
		return 0
	}
	e := strconv.FormatFloat(math.Abs(v), 'e', -1, 64)
	m, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	return m
}

// sure adds decimals until v, rounded, stands where v stands: on the same side
// of the limit, and not at 0 unless it is 0.
func (d Digits) sure(v float64, dec int) int {
	for ; dec < maxDecimals; dec++ {
		r := Round(v, dec)
		limit, ok := d.Limit.Get()
		if Side(r, 0) == Side(v, 0) && (!ok || Side(r, limit) == Side(v, limit)) {
			break
		}
	}
	return dec
}

// allSure adds decimals until every value stands on its side. One that does so
// with fewer decimals need not do so with more, so all are asked again.
func (d Digits) allSure(dec int, values ...float64) int {
	for {
		more := dec
		for _, v := range values {
			more = max(more, d.sure(v, dec))
		}
		if more == dec {
			return dec
		}
		dec = more
	}
}

// Side says on which side of its limit a value is: -1 below, 1 above, 0 on it.
func Side(v, limit float64) int {
	switch {
	case v < limit:
		return -1
	case v > limit:
		return 1
	}
	return 0
}

// Round rounds to dec decimals, negative ones to tens and hundreds.
func Round(v float64, dec int) float64 {
	if dec >= 0 {
		r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', dec, 64), 64)
		return r
	}
	p := math.Pow10(-dec)
	return math.Round(v/p) * p
}

// Number writes v with dec decimals, a comma every three digits and U+2212 as
// minus.
func Number(v float64, dec int) string {
	s := strconv.FormatFloat(math.Abs(Round(v, dec)), 'f', max(dec, 0), 64)
	whole, frac, _ := strings.Cut(s, ".")
	var b strings.Builder
	if v < 0 && strings.Trim(s, "0.") != "" {
		b.WriteString("−")
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if frac != "" {
		b.WriteByte('.')
		b.WriteString(frac)
	}
	return b.String()
}

// Value writes v alone.
func (d Digits) Value(v float64) string { return Number(v, d.Decimals(v)) }

// Interval writes a value and its interval with the same decimals, so that
// they can be compared.
func (d Digits) Interval(v, lo, hi float64) (value, low, high string) {
	d.Width = hi - lo
	dec := d.Decimals(v)
	if d.Width < 100 {
		dec = max(dec, 0) // to tens only where the interval is that wide
	}
	if d.Limit.OK() {
		dec = Digits{Limit: d.Limit}.allSure(dec, v, lo, hi)
	}
	show := func(v float64) string { return Number(v, Digits{}.sure(v, dec)) }
	return show(v), show(lo), show(hi)
}

// Count writes a count: exact to 9,999, then 171k and 1.20M.
func Count(n int64) string {
	switch v := float64(n); {
	case n < 10_000:
		return Number(v, 0)
	case v < 999_500:
		return Number(v/1e3, DecimalsFor(v/1e3, 3)) + "k"
	case v < 999_500_000:
		return Number(v/1e6, DecimalsFor(v/1e6, 3)) + "M"
	default:
		return Number(v/1e9, max(0, DecimalsFor(v/1e9, 3))) + "G"
	}
}

// Exact writes a count in full.
func Exact(n int64) string { return Number(float64(n), 0) }

// Rate writes so many a second: whole ones to 9,999, then 12.9k.
func Rate(v float64) string {
	if v >= 100 || v == 0 {
		return Count(int64(math.Round(v)))
	}
	return Digits{}.Value(v)
}

// Percent writes a share of one with one decimal: "< 0.1 %" instead of a 0.0
// that would hide what happened, and never 100 % when it is less.
func Percent(share float64) string { return PercentNear(share, Digits{}) }

// PercentNear is percent with the limit (a share as well) in sight.
func PercentNear(share float64, d Digits) string {
	limit, limited := d.Limit.Get()
	p := share * 100
	switch {
	case share == 0 || share == 1:
		return Number(p, 0) + " %"
	case share > 0 && p < 0.05 && (!limited || limit*100 >= 0.1):
		return "< 0.1 %"
	case share < 1 && p >= 99.95 && (!limited || limit*100 <= 99.9):
		return "> 99.9 %"
	}
	return Number(p, percentDecimals(p, limit*100, limited)) + " %"
}

func percentDecimals(p, limit float64, limited bool) int {
	d := Digits{Limit: timeline.Maybe(limit, limited)}
	dec := d.sure(p, 1)
	for ; dec < maxDecimals && p < 100 && Round(p, dec) >= 100; dec++ {
	}
	return dec
}

// Span writes a duration for a sentence: ms below 0.1 s, then seconds, minutes
// and hours.
func Span(ms float64, d Digits) string {
	if math.Abs(ms) < 100 {
		return d.trimmed(ms) + " ms"
	}
	d.Limit = timeline.Map(d.Limit, func(limit float64) float64 { return limit / 1e3 })
	d.Width /= 1e3
	switch s := ms / 1e3; {
	case s < 600:
		return d.trimmed(s) + " s"
	case s < 6*3600:
		return Number(s/60, 0) + " min"
	default:
		return Number(s/3600, 1) + " h"
	}
}

// trimmed leaves zeros at the end out of a sentence.
func (d Digits) trimmed(v float64) string {
	text := d.Value(v)
	if d.Round && strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Clock writes a moment of the run as minutes and seconds.
func Clock(s float64) string {
	whole := int64(math.Max(0, math.Floor(s)))
	text := strconv.FormatInt(whole%60, 10)
	if len(text) < 2 {
		text = "0" + text
	}
	return Exact(whole/60) + ":" + text
}

// AxisNumber labels a tick with the fewest digits that say it.
func AxisNumber(v float64) string {
	dec := 0
	for ; dec < 6 && math.Abs(Round(v, dec)-v) > 1e-6*math.Abs(v); dec++ {
	}
	return Number(v, dec)
}

// ShareInterval writes an interval of shares behind a blank, in percent without the
// sign; empty where there is none.
func ShareInterval(ci *[2]float64) string {
	if ci == nil {
		return ""
	}
	bare := func(share float64) string { return strings.TrimSuffix(Percent(share), " %") }
	return fmt.Sprintf(" [%s, %s]", bare(ci[0]), bare(ci[1]))
}

// Plural writes a count of things: "1 request", "1,200 requests".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Things is Plural with the count in full: "1 request", "120,000 requests".
func Things(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Exact(n) + " " + noun + "s"
}
