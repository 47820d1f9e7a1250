package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a JSON string as it stands between its quotes.
type Text struct {
	Raw     []byte
	Escaped bool // it has backslashes
	Wide    bool // it has bytes beyond ASCII
}

// Empty reports whether there is nothing between the quotes.
func (t Text) Empty() bool { return len(t.Raw) == 0 }

// Is reports whether the string's value is s, a plain ASCII word.
func (t Text) Is(s string) bool {
	if t.Escaped {
		return string(t.Append(nil)) == s
	}
	return string(t.Raw) == s
}

// String returns the value. It allocates.
func (t Text) String() string { return string(t.Append(nil)) }

// Size is the number of UTF-8 bytes of the value, as encoding/json reads it.
func (t Text) Size() int64 {
	if !t.Escaped && (!t.Wide || utf8.Valid(t.Raw)) {
		return int64(len(t.Raw))
	}
	n := 0
	for i := 0; i < len(t.Raw); {
		r, width := t.next(i)
		n += utf8.RuneLen(r)
		i += width
	}
	return int64(n)
}

// Append adds the value to b. Bytes that are no UTF-8 and lone surrogates
// become U+FFFD, as in encoding/json.
func (t Text) Append(b []byte) []byte {
	if !t.Escaped && (!t.Wide || utf8.Valid(t.Raw)) {
		return append(b, t.Raw...)
	}
	for i := 0; i < len(t.Raw); {
		r, width := t.next(i)
		b = utf8.AppendRune(b, r)
		i += width
	}
	return b
}

// next decodes the character at i and returns the bytes it takes in the source.
func (t Text) next(i int) (rune, int) {
	c := t.Raw[i]
	if c != '\\' {
		if c < utf8.RuneSelf {
			return rune(c), 1
		}
		return utf8.DecodeRune(t.Raw[i:])
	}
	switch c := t.Raw[i+1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return t.unicode(i)
	default:
		return rune(c), 2
	}
}

// unicode decodes the \u escape at i, with the second half of a surrogate pair.
func (t Text) unicode(i int) (rune, int) {
	r, _ := hex4(t.Raw[i+2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if rest := t.Raw[i+6:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		low, _ := hex4(rest[2:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (rune, bool) {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' < 10:
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
