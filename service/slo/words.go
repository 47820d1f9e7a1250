package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// percent writes a share: 99.9 %.
func percent(x float64) string {
	return number(x*100) + " %"
}

// number writes at most five significant digits, and no exponent.
func number(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	digits := 4 - int(math.Floor(math.Log10(math.Abs(x))))
	text := strconv.FormatFloat(x, 'f', min(max(digits, 0), 12), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

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

// windowName names a window in files and rules: 3d, 1d, 6h.
func windowName(d time.Duration) string { return span(d) }

// WindowName is how a window of time is called in results and in rules: 5m, 1h,
// 3d.
func WindowName(d time.Duration) string { return windowName(d) }

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
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
