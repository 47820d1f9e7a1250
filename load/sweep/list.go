package sweep

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxValues bounds a list, so that a typing error makes no endless sweep.
const maxValues = 1000

// ParseList reads the values of a sweep: numbers and ranges, separated by
// commas.
//
//	1,2,4,8      these
//	1..64        doubled from 1 to 64
//	1..64*4      times 4 each
//	10..50+10    10 more each
//	1..100/7     7 values, each the same factor above the last
//
// The end of a range belongs to it where a step meets it, as a last step
// otherwise. whole wants whole numbers, and rounds those between.
func ParseList(text string, whole bool) ([]float64, error) {
	var values []float64
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			return nil, fmt.Errorf("%q: a value is missing", text)
		}
		more, err := parsePart(part, whole)
		if err != nil {
			return nil, err
		}
		for _, v := range more {
			if whole {
				v = math.Round(v)
			}
			if len(values) == 0 || values[len(values)-1] != v {
				values = append(values, v)
			}
		}
		if len(values) > maxValues {
			return nil, fmt.Errorf("%q: more than %d values", text, maxValues)
		}
	}
	return values, nil
}

func parsePart(part string, whole bool) ([]float64, error) {
	from, rest, ranged := strings.Cut(part, "..")
	if !ranged {
		v, err := parseValue(part, whole)
		return []float64{v}, err
	}
	to, step, kind := rest, "2", byte('*')
	if i := strings.IndexAny(rest, "*+/"); i >= 0 {
		to, step, kind = rest[:i], rest[i+1:], rest[i]
	}
	a, err := parseValue(from, whole)
	if err != nil {
		return nil, err
	}
	b, err := parseValue(to, whole)
	if err != nil {
		return nil, err
	}
	by, err := strconv.ParseFloat(strings.TrimSpace(step), 64)
	switch {
	case err != nil || math.IsNaN(by) || math.IsInf(by, 0):
		return nil, fmt.Errorf("%q: the step is no number; write 1..64, 1..64*4, 10..50+10 or 1..100/7", part)
	case b < a:
		return nil, fmt.Errorf("%q: a range goes up", part)
	case kind == '*' && by <= 1:
		return nil, fmt.Errorf("%q: a factor is above 1", part)
	case kind == '+' && by <= 0:
		return nil, fmt.Errorf("%q: a step is above 0", part)
	case kind == '/' && (by < 2 || by != math.Trunc(by) || by > maxValues):
		return nil, fmt.Errorf("%q: a number of values is a whole one from 2 to %d", part, maxValues)
	}
	return series(a, b, kind, by, part)
}

func series(a, b float64, kind byte, by float64, part string) (values []float64, err error) {
	if kind == '/' {
		for i := range int(by) {
			values = append(values, a*math.Pow(b/a, float64(i)/(by-1)))
		}
		values[len(values)-1] = b
		return values, nil
	}
	for i := 0; ; i++ {
		v := a * math.Pow(by, float64(i))
		if kind == '+' {
			v = a + by*float64(i)
		}
		if v >= b*(1-1e-9) {
			return append(values, b), nil
		}
		if values = append(values, v); len(values) > maxValues {
			return nil, fmt.Errorf("%q: more than %d values", part, maxValues)
		}
	}
}

func parseValue(text string, whole bool) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%q: give a number, or a range like 1..64", text)
	case v <= 0:
		return 0, fmt.Errorf("%q: a value is above 0", text)
	case whole && v != math.Trunc(v):
		return 0, fmt.Errorf("%q: give a whole number", text)
	case v > 1e9:
		return 0, fmt.Errorf("%q: the number is too large", text)
	}
	return v, nil
}
