package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tokenmeter/random"
)

// MaxTokens bounds a length, so that a typing error does not fill the memory.
const MaxTokens = 10_000_000

// Lengths is a distribution of token counts. The zero value is not usable; see
// ParseLengths.
type Lengths struct {
	text   string
	lo, hi int64
	draw   func(*random.Source) float64 // nil: always lo
}

// ParseLengths reads a distribution:
//
//	256                      always 256
//	uniform:128,512          any whole number from 128 to 512
//	normal:256,32            mean and standard deviation
//	lognormal:256,128        mean and standard deviation of the lengths themselves
//
// Further fields min=… and max=… cut normal and lognormal off. A length is
// never below 1.
func ParseLengths(text string) (Lengths, error) {
	fail := func(why string) (Lengths, error) {
		return Lengths{}, fmt.Errorf("length %q: %s", text, why)
	}
	l := Lengths{text: strings.TrimSpace(text), lo: 1, hi: MaxTokens}
	name, args, named := strings.Cut(l.text, ":")
	if !named {
		name, args = "fixed", l.text
	}
	nums, err := l.fields(args, name == "normal" || name == "lognormal")
	if err != nil {
		return fail(err.Error())
	}
	switch {
	case name == "fixed" && len(nums) == 1:
		if nums[0] != math.Trunc(nums[0]) {
			return fail("want a whole number of tokens")
		}
		l.lo, l.hi = int64(nums[0]), int64(nums[0])
	case name == "uniform" && len(nums) == 2:
		if nums[1] < nums[0] || nums[0] != math.Trunc(nums[0]) || nums[1] != math.Trunc(nums[1]) {
			return fail("want uniform:LOW,HIGH in whole tokens with LOW ≤ HIGH")
		}
		l.lo, l.hi = int64(nums[0]), int64(nums[1])
		l.draw = func(s *random.Source) float64 { return float64(s.Between(l.lo, l.hi)) }
	case name == "normal" && len(nums) == 2:
		mean, sd := nums[0], nums[1]
		l.draw = func(s *random.Source) float64 { return mean + float64(sd*s.Normal()) }
	case name == "lognormal" && len(nums) == 2:
		v := random.Ln(1 + float64(nums[1]/nums[0])*(nums[1]/nums[0]))
		mu, sigma := random.Ln(nums[0])-float64(v/2), math.Sqrt(v)
		l.draw = func(s *random.Source) float64 { return random.Exp(mu + float64(sigma*s.Normal())) }
	case name == "fixed" || name == "uniform" || name == "normal" || name == "lognormal":
		return fail("want N, uniform:LOW,HIGH, normal:MEAN,SD or lognormal:MEAN,SD")
	default:
		return fail(fmt.Sprintf("unknown distribution %q; want fixed, uniform, normal or lognormal", name))
	}
	return l, nil
}

// fields reads the numbers, and min= and max= where they may stand.
func (l *Lengths) fields(args string, limits bool) ([]float64, error) {
	var nums []float64
	for _, field := range strings.Split(args, ",") {
		key, value, isLimit := strings.Cut(strings.TrimSpace(field), "=")
		if !isLimit {
			key, value = "", key
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%q is not a number", value)
		}
		if x > MaxTokens {
			return nil, fmt.Errorf("%s tokens are more than the limit of %d", value, MaxTokens)
		}
		spread := key == "" && limits && len(nums) == 1 // a standard deviation may be 0
		if x < 1 && !(spread && x >= 0) {
			return nil, fmt.Errorf("%s tokens; a length is at least 1", value)
		}
		switch {
		case key == "":
			nums = append(nums, x)
		case key == "min" && limits:
			l.lo = int64(math.Ceil(x))
		case key == "max" && limits:
			l.hi = int64(x)
		default:
			return nil, fmt.Errorf("unknown field %q", key)
		}
	}
	if l.lo > l.hi {
		return nil, fmt.Errorf("min %d is above max %d", l.lo, l.hi)
	}
	return nums, nil
}

// String returns the distribution as it was written.
func (l Lengths) String() string { return l.text }

// Fixed returns the length when it is always the same.
func (l Lengths) Fixed() (int64, bool) { return l.lo, l.draw == nil && l.text != "" }

// Draw returns one length. What falls outside the limits is drawn again, so
// that no heap of equal lengths builds up at a limit.
func (l Lengths) Draw(s *random.Source) int64 {
	if l.draw == nil {
		return l.lo
	}
	for range 100 {
		if x := math.Round(l.draw(s)); x >= float64(l.lo) && x <= float64(l.hi) {
			return int64(x)
		}
	}
	return min(max(int64(l.draw(s)), l.lo), l.hi)
}
