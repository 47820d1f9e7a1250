package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"tokenmeter/record/metric"
)

// percent writes a share that somebody set, in full: 99.9 %, 99.9995 %.
func percent(x float64) string {
	return strconv.FormatFloat(decimal(x*100), 'f', -1, 64) + " %"
}

// AtMost writes a share that was held, or is left of a budget: rounded down, so
// that it never looks better than it was. Near 100 % there are enough digits to
// see what is missing: 99.9989 %.
func AtMost(x float64) string { return rounded(x, math.Floor) }

// atLeast writes a share of bad events, rounded up.
func atLeast(x float64) string { return rounded(x, math.Ceil) }

func rounded(x float64, to func(float64) float64) string {
	x = decimal(x * 100)
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return number(x) + " %"
	}
	digits := 4 - magnitude(x)
	if missing := 100 - x; missing > 0 {
		digits = max(digits, 1-magnitude(missing))
	}
	scale := math.Pow(10, float64(min(max(digits, 0), 12)))
	return strconv.FormatFloat(decimal(to(decimal(x*scale))/scale), 'f', -1, 64) + " %"
}

// magnitude is the power of ten of the first digit.
func magnitude(x float64) int { return int(math.Floor(math.Log10(math.Abs(x)))) }

// number writes at most five significant digits, and no exponent.
func number(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	digits := 4 - magnitude(x)
	text := strconv.FormatFloat(x, 'f', min(max(digits, 0), 12), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// hundredths is a number that is read beside others, like a limit.
func hundredths(x float64) string { return number(math.Round(x*100) / 100) }

// span writes a length of time as people do: 28d, 1h, 5m, 1h30m.
func span(d time.Duration) string {
	if d < time.Second {
		return d.String()
	}
	var b strings.Builder
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / u.of; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.of
		}
	}
	return b.String()
}

// WindowName is how a window of time is called in results, files and rules: 5m, 1h,
// 3d.
func WindowName(d time.Duration) string { return span(d) }

// about writes a time to come in one unit: 29 hours.
func about(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return number(math.Round(d.Hours()/2.4)/10) + " days"
	case d >= 2*time.Hour:
		return number(math.Round(d.Hours()*10)/10) + " hours"
	case d >= 2*time.Minute:
		return number(math.Round(d.Minutes())) + " minutes"
	}
	return number(math.Round(d.Seconds())) + " seconds"
}

// thousands groups digits: 12,345.
func thousands(n int64) string { return metric.Significant(float64(n), 1) }
