package answer

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// mostExponent is the largest power of ten of a number in an answer. The
// library computes exactly, so 1e999999999 would fill the memory; what
// float64 cannot hold (above 308, below -324) is no number that a schema means.
const mostExponent = 324

// decodeAnswer reads one JSON text and nothing behind it.
func decodeAnswer(text string) (any, bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() || !small(v) {
		return nil, false
	}
	return v, true
}

// small reports whether no number in v has an exponent beyond mostExponent.
func small(v any) bool {
	switch v := v.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(v.String()), "e")
		if exponent == "" {
			return true
		}
		n, err := strconv.Atoi(exponent)
		return err == nil && n >= -mostExponent && n <= mostExponent
	case []any:
		for _, x := range v {
			if !small(x) {
				return false
			}
		}
	case map[string]any:
		for _, x := range v {
			if !small(x) {
				return false
			}
		}
	}
	return true
}
