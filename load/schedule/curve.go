package schedule

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Stage is a stretch of a schedule over which the rate goes in a straight line
// from one value to another.
type Stage struct {
	For      time.Duration // 0 as the last one: without end, at From
	From, To float64       // requests a second; in a closed loop, streams
}

// Curve is a rate over time, stage after stage. It maps unit time, in which
// requests come once a second on average, to real time: a request is due when
// the integral of the rate reaches its unit time.
type Curve []Stage

// ParseStages reads stages: "1m@5" is a minute at 5, "2m@5..50" two minutes on
// the way from 5 to 50. Commas separate stages.
func ParseStages(text string) (Curve, error) {
	var c Curve
	for _, part := range strings.Split(text, ",") {
		s, err := parseStage(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		c = append(c, s)
	}
	return c, c.Check()
}

func parseStage(text string) (Stage, error) {
	length, levels, ok := strings.Cut(text, "@")
	if !ok {
		return Stage{}, fmt.Errorf("stage %q: write TIME@RATE or TIME@FROM..TO, like 2m@5..50", text)
	}
	d, err := time.ParseDuration(strings.TrimSpace(length))
	if err != nil {
		return Stage{}, fmt.Errorf("stage %q: %q is no time, like 90s", text, length)
	}
	from, to, ramp := strings.Cut(levels, "..")
	if !ramp {
		to = from
	}
	if d == 0 { // in a program it is a level without end
		return Stage{}, fmt.Errorf("stage %q lasts %v: give a time above 0, like 90s", text, d)
	}
	s := Stage{For: d}
	for _, x := range []struct {
		text string
		into *float64
	}{{from, &s.From}, {to, &s.To}} {
		if *x.into, err = strconv.ParseFloat(strings.TrimSpace(x.text), 64); err != nil {
			return Stage{}, fmt.Errorf("stage %q: %q is no number", text, x.text)
		}
	}
	return s, nil
}

// String writes the stages as ParseStages reads them.
func (c Curve) String() string {
	parts := make([]string, len(c))
	for i, s := range c {
		parts[i] = s.For.String() + "@" + number(s.From)
		if s.To != s.From {
			parts[i] += ".." + number(s.To)
		}
	}
	return strings.Join(parts, ",")
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Check returns what is wrong with the stages.
func (c Curve) Check() error {
	if len(c) == 0 {
		return fmt.Errorf("no stages")
	}
	any := false
	for i, s := range c {
		for _, x := range []float64{s.From, s.To} {
			if !(x >= 0) || x > maxRate {
				return fmt.Errorf("stage %d: a level of %v; want 0 to %d", i+1, x, int(maxRate))
			}
			any = any || x > 0
		}
		switch endless := s.For == 0 && i == len(c)-1; {
		case s.For < 0 || s.For == 0 && !endless:
			return fmt.Errorf("stage %d lasts %v; want a time above 0", i+1, s.For)
		case s.For > maxStage:
			return fmt.Errorf("stage %d lasts %v; want at most %v", i+1, s.For, maxStage)
		case endless && s.From != s.To:
			return fmt.Errorf("stage %d has no end and so can't go from %v to %v", i+1, s.From, s.To)
		}
	}
	if !any {
		return fmt.Errorf("no stage has a rate above 0")
	}
	return nil
}

const (
	maxRate  = 1e6
	maxStage = 1000 * time.Hour
)

// Length is how long the stages last; 0 when the last has no end.
func (c Curve) Length() time.Duration {
	var sum time.Duration
	for _, s := range c {
		if s.For == 0 {
			return 0
		}
		sum += s.For
	}
	return sum
}

// Flat is one rate without end.
func Flat(rate float64) Curve { return Curve{{From: rate, To: rate}} }

// area is the integral of a stage's rate over its length.
func (s Stage) area() float64 {
	if s.For == 0 {
		return math.Inf(1)
	}
	return float64(float64(s.From+s.To)/2) * s.For.Seconds()
}

// when is the moment in the stage at which the integral is unit: with the slope
// a of the rate, From·t + a·t²/2 = unit, solved so that nothing cancels out.
func (s Stage) when(unit float64) time.Duration {
	switch {
	case unit == 0:
		return 0
	case s.From == s.To:
		return nanoseconds(float64(unit*1e9) / s.From)
	}
	slope := float64(s.To-s.From) / s.For.Seconds()
	root := math.Sqrt(max(float64(s.From*s.From)+float64(2*float64(slope*unit)), 0))
	return min(nanoseconds(float64(2*unit*1e9)/float64(s.From+root)), s.For)
}

func nanoseconds(ns float64) time.Duration {
	ns = math.Round(ns)
	if !(ns < math.MaxInt64) {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// walk returns the function that gives the moment of each unit time; they must
// not decrease from call to call. It says false behind the last stage.
func (c Curve) walk() func(unit float64) (time.Duration, bool) {
	var begin time.Duration // of stage k
	k, before := 0, 0.0     // area of the stages before k
	return func(unit float64) (time.Duration, bool) {
		for k < len(c) {
			area := c[k].area()
			if rest := unit - before; rest < area {
				at := c[k].when(max(rest, 0))
				if at > math.MaxInt64-begin {
					return math.MaxInt64, true
				}
				return begin + at, true
			}
			before += area
			begin += c[k].For
			k++
		}
		return 0, false
	}
}

// expected is how many requests are due before a moment, on average.
func (c Curve) expected(until time.Duration) float64 {
	sum := 0.0
	for _, s := range c {
		if until <= 0 {
			break
		}
		t := until
		if s.For > 0 {
			t = min(t, s.For)
		}
		level := s.From
		if s.For > 0 {
			level += float64(float64(s.To-s.From) * t.Seconds() / s.For.Seconds() / 2)
		}
		sum += float64(level * t.Seconds())
		until -= t
	}
	return sum
}

// Reaches is the first moment from at on when the curve is at or above level;
// false when that never comes.
func (c Curve) Reaches(level float64, at time.Duration) (time.Duration, bool) {
	var begin time.Duration
	for _, s := range c {
		end := begin + s.For
		if s.For == 0 {
			return max(at, begin), s.From >= level
		}
		if at < end {
			from := max(at-begin, 0)
			now := s.From + float64(float64(s.To-s.From)*from.Seconds())/s.For.Seconds()
			if now >= level {
				return begin + from, true
			}
			if s.To >= level {
				t := nanoseconds(math.Ceil(float64(level-s.From) / float64(s.To-s.From) * float64(s.For)))
				return begin + min(max(t, from), s.For), true
			}
		}
		begin = end
	}
	return 0, false
}

// Max is the highest level.
func (c Curve) Max() float64 {
	most := 0.0
	for _, s := range c {
		most = max(most, s.From, s.To)
	}
	return most
}
