// Package pyjson makes JSON of what Python's json module writes, which has numbers that
// JSON has not.
package pyjson

import "bytes"

// Finite is a text of JSON with null in place of NaN, Infinity and -Infinity: an infinite
// rate, the mean of nothing, an empty cell of a table. Places stay as they are where a
// space stands in front of NaN. What begins with neither { nor [ is returned as it is.
func Finite(data []byte) []byte {
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 || first[0] != '{' && first[0] != '[' ||
		!bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	out := make([]byte, 0, len(data))
	quoted := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch rest := data[i:]; {
		case quoted && c == '\\' && len(rest) > 1:
			out = append(out, c)
			i++
			c = rest[1]
		case c == '"':
			quoted = !quoted
		case quoted:
		case bytes.HasPrefix(rest, []byte("NaN")):
			out = append(bytes.TrimSuffix(out, []byte(" ")), "null"...)
			i += len("NaN") - 1
			continue
		case bytes.HasPrefix(rest, []byte("Infinity")):
			out = append(bytes.TrimSuffix(out, []byte("-")), "null    "...)
			i += len("Infinity") - 1
			continue
		}
		out = append(out, c)
	}
	return out
}
