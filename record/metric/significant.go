package metric

import (
	"math"
	"strconv"
	"strings"
)

// Significant writes a number for a sentence: rounded to so many significant
// digits, but never short of its whole part, with thousands separated and
// without an exponent.
func Significant(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	decimals := 0
	if v != 0 {
		decimals = digits - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	}
	text := strconv.FormatFloat(v, 'f', min(max(decimals, 0), 12), 64)
	whole, rest, found := strings.Cut(text, ".")
	if rest = strings.TrimRight(rest, "0"); found && rest != "" {
		rest = "." + rest
	}
	sign := ""
	if whole, found = strings.CutPrefix(whole, "-"); found {
		sign = "−"
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + rest
}
