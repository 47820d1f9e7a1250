package workload

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"tokenmeter/base/random"
)

// distribution is a family with its parameters, in whatever unit.
type distribution struct {
	name   string
	args   []float64
	cut    bool // min or max was given
	clip   bool // what lies outside becomes the limit, instead of being drawn again
	lo, hi float64
	draw   func(*random.Source) float64
}

// families is the table of distributions: their parameters, and how to draw.
var families = []struct {
	name   string
	params string
	n      int
	zero   int // this parameter may be 0; −1: none
	limits bool
	draw   func(a []float64) func(*random.Source) float64
}{
	{"fixed", "N", 1, -1, false, func(a []float64) func(*random.Source) float64 {
		return func(*random.Source) float64 { return a[0] }
	}},
	{"uniform", "LOW,HIGH", 2, -1, false, func(a []float64) func(*random.Source) float64 {
		return func(s *random.Source) float64 { return a[0] + float64((a[1]-a[0])*s.Float64()) }
	}},
	{"normal", "MEAN,SD", 2, 1, true, func(a []float64) func(*random.Source) float64 {
		return func(s *random.Source) float64 { return a[0] + float64(a[1]*s.Normal()) }
	}},
	{"lognormal", "MEAN,SD", 2, 1, true, func(a []float64) func(*random.Source) float64 {
		v := random.Ln(1 + float64(a[1]/a[0])*(a[1]/a[0]))
		mu, sigma := random.Ln(a[0])-float64(v/2), math.Sqrt(v)
		return func(s *random.Source) float64 { return random.Exp(mu + float64(sigma*s.Normal())) }
	}},
	{"exponential", "MEAN", 1, -1, true, func(a []float64) func(*random.Source) float64 {
		return func(s *random.Source) float64 { return float64(a[0] * s.Exp()) }
	}},
}

// parseDistribution reads NAME:ARGS; value reads one number with its unit.
func parseDistribution(text string, value func(string) (float64, error)) (distribution, error) {
	d := distribution{lo: 0, hi: math.Inf(1)}
	var args string
	var named bool
	if d.name, args, named = strings.Cut(text, ":"); !named {
		d.name, args = "fixed", text
	}
	for _, f := range families {
		if f.name != d.name {
			continue
		}
		if err := d.fields(args, f.limits, f.zero, value); err != nil {
			return d, err
		}
		switch {
		case len(d.args) != f.n:
			return d, fmt.Errorf("want %s", usage(f.name, f.params))
		case d.name == "uniform" && d.args[1] < d.args[0]:
			return d, fmt.Errorf("want uniform:LOW,HIGH with LOW ≤ HIGH")
		case d.lo > d.hi:
			return d, fmt.Errorf("min is above max")
		}
		d.draw = f.draw(d.args)
		return d, nil
	}
	var known []string
	for _, f := range families {
		known = append(known, usage(f.name, f.params))
	}
	return d, fmt.Errorf("unknown distribution %q; want %s", d.name, strings.Join(known, ", "))
}

func usage(name, params string) string {
	if name == "fixed" {
		return params
	}
	return name + ":" + params
}

// fields reads the parameters, and min=, max= and clip where they may stand.
func (d *distribution) fields(args string, limits bool, zero int, value func(string) (float64, error)) error {
	for field := range strings.SplitSeq(args, ",") {
		if limits && strings.TrimSpace(field) == "clip" {
			d.clip = true
			continue
		}
		key, number, isLimit := strings.Cut(strings.TrimSpace(field), "=")
		if !isLimit {
			key, number = "", key
		}
		x, err := value(number)
		if err != nil {
			return err
		}
		if x == 0 && !(key == "" && len(d.args) == zero) {
			return errors.New("a length is at least 1, a time is above 0")
		}
		switch {
		case key == "":
			d.args = append(d.args, x)
		case key == "min" && limits:
			d.lo, d.cut = x, true
		case key == "max" && limits:
			d.hi, d.cut = x, true
		default:
			return fmt.Errorf("unknown field %q", key)
		}
	}
	return nil
}

// Times is a distribution of durations. The zero value is always 0.
type Times struct {
	text string
	d    distribution
}

// ParseTimes reads a duration or a distribution of them: 2s, uniform:1s,5s,
// exponential:3s, normal:2s,500ms, lognormal:3s,2s,max=30s.
func ParseTimes(text string) (Times, error) {
	text = strings.TrimSpace(text)
	if text == "0" || text == "0s" {
		return Times{text: text}, nil
	}
	d, err := parseDistribution(text, timeValue)
	if err != nil {
		return Times{}, fmt.Errorf("time %q: %w", text, err)
	}
	return Times{text, d}, nil
}

const maxTime = 24 * time.Hour

func timeValue(text string) (float64, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no time, like 2s", text)
	case d < 0 || d > maxTime:
		return 0, fmt.Errorf("%s; want a time from 0 to %v", text, maxTime)
	}
	return d.Seconds(), nil
}

// String returns the distribution as it was written.
func (t Times) String() string { return t.text }

// IsZero reports whether there is no distribution.
func (t Times) IsZero() bool { return t.text == "" }

// Draw returns one duration, never negative, in whole microseconds.
func (t Times) Draw(s *random.Source) time.Duration {
	if t.d.draw == nil {
		return 0
	}
	x := 0.0
	for range 100 {
		if x = t.d.draw(s); t.d.clip || x >= t.d.lo && x <= t.d.hi && x >= 0 {
			break
		}
	}
	x = min(max(x, t.d.lo, 0), t.d.hi, maxTime.Seconds())
	return time.Duration(math.Round(x*1e6)) * time.Microsecond
}
