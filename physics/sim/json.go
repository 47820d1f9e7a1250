package sim

import (
	"encoding/json"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendJSONString adds a quoted JSON string. Bytes that are no UTF-8 become U+FFFD.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}

// rawText is a text as JSON; nil for none.
func rawText(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return appendJSONString(nil, s)
}

// appendQuoted adds a piece of JSON, as in `,"model":`, and a JSON string behind it.
func appendQuoted(b []byte, before, s string) []byte {
	return appendJSONString(append(b, before...), s)
}
