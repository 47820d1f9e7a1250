package objective

import (
	"math"
	"strconv"
	"strings"
)

// dimension says which units a limit may have; limits are kept in the first.
type dimension uint8

const (
	duration  dimension = iota // ms
	ratio                      // 0–1
	tokenRate                  // tokens/s
	perSecond                  // 1/s
	tokens
	number
	dollars
)

// factor turns a unit into the one that limits are kept in. Powers of ten move
// the decimal point in the text: 99.9 % is 0.999, but 99.9 / 100 is not.
type factor struct {
	times float64
	shift int
}

var plain = factor{times: 1}

var factors = map[dimension]map[string]factor{
	duration: {"": plain, "ms": plain, "msec": plain, "millisecond": plain, "milliseconds": plain,
		"s": {1, 3}, "sec": {1, 3}, "secs": {1, 3}, "second": {1, 3}, "seconds": {1, 3},
		"us": {1, -3}, "µs": {1, -3}, "μs": {1, -3},
		"min": {60, 3}, "minute": {60, 3}, "minutes": {60, 3}, "m": {60, 3}, "h": {3600, 3}},
	ratio: {"": plain, "%": {1, -2}, "percent": {1, -2}},
	tokenRate: {"": plain, "tps": plain, "tok/s": plain, "tokens/s": plain, "token/s": plain, "t/s": plain,
		"tokens/sec": plain, "tok/sec": plain, "/s": plain, "tokenspersecond": plain, "tokpersecond": plain},
	perSecond: {"": plain, "/s": plain, "rps": plain, "qps": plain, "req/s": plain, "requests/s": plain,
		"request/s": plain, "tasks/s": plain, "texts/s": plain, "inputs/s": plain, "chars/s": plain, "images/s": plain, "pictures/s": plain, "characters/s": plain, "audio s/s": plain, "s/s": plain, "req/sec": plain, "requestspersecond": plain},
	tokens:  {"": plain, "tokens": plain, "token": plain, "tok": plain},
	number:  {"": plain},
	dollars: {"": plain, "$": plain, "usd": plain, "dollars": plain},
}

// decimal reads digits with the decimal point moved by shift places.
func decimal(digits string, shift int) (float64, error) {
	mantissa, exponent := digits, 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		e, err := strconv.Atoi(digits[i+1:])
		if err != nil {
			return 0, err
		}
		mantissa, exponent = digits[:i], e
	}
	return strconv.ParseFloat(mantissa+"e"+strconv.Itoa(exponent+shift), 64)
}

// unitNames are the units to write a limit in, and to propose.
var unitNames = map[dimension]string{
	duration: "ms, s or us", ratio: "%", tokenRate: "tok/s", perSecond: "/s", tokens: "tokens",
	number: "a plain number", dollars: "usd",
}

// written formats a limit so that it parses to the same value.
func written(limit float64, d dimension) string {
	switch d {
	case duration:
		if text := plainNumber(limit / 1000); limit >= 1000 && len(text) <= 5 {
			if back, err := decimal(text, 3); err == nil && back == limit {
				return text + "s"
			}
		}
		return plainNumber(limit) + "ms"
	case ratio:
		// Keep the form that parses to the same value.
		for _, p := range []float64{math.Round(limit*1e8) / 1e6, limit * 100} {
			if back, err := decimal(plainNumber(p), -2); err == nil && back == limit {
				return plainNumber(p) + "%"
			}
		}
		return plainNumber(limit)
	case tokenRate:
		return plainNumber(limit) + " tok/s"
	case perSecond:
		return plainNumber(limit) + "/s"
	case dollars:
		return plainNumber(limit) + " usd"
	}
	return plainNumber(limit)
}

func plainNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// share writes a share for people: 99 %, 99.9 %.
func share(p float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(p*100, 'g', 10, 64), ".0") + " %"
}

// percentileName is "p99" for 0.99, "p99.9" for 0.999.
func percentileName(p float64) string {
	return "p" + strconv.FormatFloat(math.Round(p*1e10)/1e8, 'f', -1, 64)
}
