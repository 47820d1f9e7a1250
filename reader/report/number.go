package report

import (
	"math"
	"strconv"
	"strings"

	"tokenmeter/record/timeline"
)

// Missing stands for what was not measured.
const missing = "–"

// digits says how exactly a value is shown: three significant digits, no finer
// than the digit that a tenth of its interval's width reaches, and as many
// more as it takes to stand on the true side of its limit.
type digits struct {
	width float64               // of the 95 % interval; 0 where there is none
	limit timeline.Opt[float64] // the objective's, in the value's unit
	round bool                  // for a sentence: two significant digits, whole numbers in full
}

// significant digits of a value that has neither interval nor limit.
const significant = 3

// maxDecimals bounds the search for the true side; beyond it floats are equal.
const maxDecimals = 9

// decimals returns how many decimals v is shown with; negative ones round to
// tens, hundreds and so on.
func (d digits) decimals(v float64) int {
	if v == 0 {
		return 0
	}
	dec := decimalsFor(v, significant)
	if d.round {
		dec = max(decimalsFor(v, 2), 0)
	} else if d.width > 0 {
		dec = min(dec, max(-magnitude(d.width/10), decimalsFor(v, 1)))
	}
	return d.sure(v, dec)
}

// decimalsFor returns the decimals that show v with n significant digits.
func decimalsFor(v float64, n int) int {
	dec := n - 1 - magnitude(v)
	if magnitude(round(v, dec)) > magnitude(v) {
		dec-- // 9.996 is 10.0, not 10.00
	}
	return min(dec, maxDecimals+6)
}

// magnitude is the power of ten of the first digit.
func magnitude(v float64) int {
	if v == 0 {
		return 0
	}
	e := strconv.FormatFloat(math.Abs(v), 'e', -1, 64)
	m, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	return m
}

// sure adds decimals until v, rounded, stands where v stands: on the same side
// of the limit, and not at 0 unless it is 0.
func (d digits) sure(v float64, dec int) int {
	for ; dec < maxDecimals; dec++ {
		r := round(v, dec)
		limit, ok := d.limit.Get()
		if side(r, 0) == side(v, 0) && (!ok || side(r, limit) == side(v, limit)) {
			break
		}
	}
	return dec
}

// allSure adds decimals until every value stands on its side. One that does so
// with fewer decimals need not do so with more, so all are asked again.
func (d digits) allSure(dec int, values ...float64) int {
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

func side(v, limit float64) int {
	switch {
	case v < limit:
		return -1
	case v > limit:
		return 1
	}
	return 0
}

// round rounds to dec decimals, negative ones to tens and hundreds.
func round(v float64, dec int) float64 {
	if dec >= 0 {
		r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', dec, 64), 64)
		return r
	}
	p := math.Pow10(-dec)
	return math.Round(v/p) * p
}

// number writes v with dec decimals, a comma every three digits and U+2212 as
// minus.
func number(v float64, dec int) string {
	s := strconv.FormatFloat(math.Abs(round(v, dec)), 'f', max(dec, 0), 64)
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

// value writes v alone.
func (d digits) value(v float64) string { return number(v, d.decimals(v)) }

// interval writes a value and its interval with the same decimals, so that
// they can be compared.
func (d digits) interval(v, lo, hi float64) (value, low, high string) {
	d.width = hi - lo
	dec := d.decimals(v)
	if d.width < 100 {
		dec = max(dec, 0) // to tens only where the interval is that wide
	}
	if d.limit.OK() {
		dec = digits{limit: d.limit}.allSure(dec, v, lo, hi)
	}
	show := func(v float64) string { return number(v, digits{}.sure(v, dec)) }
	return show(v), show(lo), show(hi)
}

// count writes a count: exact to 9,999, then 171k and 1.20M.
func count(n int64) string {
	switch v := float64(n); {
	case n < 10_000:
		return number(v, 0)
	case v < 999_500:
		return number(v/1e3, decimalsFor(v/1e3, 3)) + "k"
	case v < 999_500_000:
		return number(v/1e6, decimalsFor(v/1e6, 3)) + "M"
	default:
		return number(v/1e9, max(0, decimalsFor(v/1e9, 3))) + "G"
	}
}

// exact writes a count in full.
func exact(n int64) string { return number(float64(n), 0) }

// rate writes so many a second: whole ones to 9,999, then 12.9k.
func rate(v float64) string {
	if v >= 100 || v == 0 {
		return count(int64(math.Round(v)))
	}
	return digits{}.value(v)
}

// percent writes a share of one with one decimal: "< 0.1 %" instead of a 0.0
// that would hide what happened, and never 100 % when it is less.
func percent(share float64) string { return percentNear(share, digits{}) }

// percentNear is percent with the limit (a share as well) in sight.
func percentNear(share float64, d digits) string {
	limit, limited := d.limit.Get()
	p := share * 100
	switch {
	case share == 0 || share == 1:
		return number(p, 0) + " %"
	case share > 0 && p < 0.05 && (!limited || limit*100 >= 0.1):
		return "< 0.1 %"
	case share < 1 && p >= 99.95 && (!limited || limit*100 <= 99.9):
		return "> 99.9 %"
	}
	return number(p, percentDecimals(p, limit*100, limited)) + " %"
}

func percentDecimals(p, limit float64, limited bool) int {
	d := digits{}
	if limited {
		d.limit = timeline.Some(limit)
	}
	dec := d.sure(p, 1)
	for ; dec < maxDecimals && p < 100 && round(p, dec) >= 100; dec++ {
	}
	return dec
}

// span writes a duration for a sentence: ms below 0.1 s, then seconds, minutes
// and hours.
func span(ms float64, d digits) string {
	if math.Abs(ms) < 100 {
		return d.trimmed(ms) + " ms"
	}
	if limit, ok := d.limit.Get(); ok {
		d.limit = timeline.Some(limit / 1e3)
	}
	d.width /= 1e3
	switch s := ms / 1e3; {
	case s < 600:
		return d.trimmed(s) + " s"
	case s < 6*3600:
		return number(s/60, 0) + " min"
	default:
		return number(s/3600, 1) + " h"
	}
}

// trimmed leaves zeros at the end out of a sentence.
func (d digits) trimmed(v float64) string {
	text := d.value(v)
	if d.round && strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// clock writes a moment of the run as minutes and seconds.
func clock(s float64) string {
	whole := int64(math.Max(0, math.Floor(s)))
	text := strconv.FormatInt(whole%60, 10)
	if len(text) < 2 {
		text = "0" + text
	}
	return exact(whole/60) + ":" + text
}
