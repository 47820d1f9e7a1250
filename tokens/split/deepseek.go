package split

import (
	"unicode/utf8"

	"tokenmeter/tokens/char"
)

type deepSeek3 struct{ text }

// DeepSeek3 splits as DeepSeek V3 and R1 do, by three patterns one after the
// other, each of which isolates what it matches and leaves the rest to the next:
//
//	\p{N}{1,3}
//	[一-龥぀-ゟ゠-ヿ]+
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// What none of them matches (control characters) stays together.
func DeepSeek3() Splitter { return deepSeek3{text{char.Low()}} }

// DeepSeek3Patterns are the three, as tokenizer files write them.
var DeepSeek3Patterns = [3]string{
	`\p{N}{1,3}`,
	`[一-龥぀-ゟ゠-ヿ]+`,
	"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
}

// class is the third pattern's view of a character.
type class uint8

const (
	nothing class = iota // no pattern matches it alone
	letter               // letters and marks
	sign                 // punctuation and symbols
	white
	line   // \r and \n
	number // the first pattern's
	cjk    // the second pattern's
	end    // of the text
)

func (p deepSeek3) class(s string, i int) (class, int) {
	if i == len(s) {
		return end, 0
	}
	c, n := p.at(s, i)
	if n == 3 {
		if r, _ := utf8.DecodeRuneInString(s[i:]); 0x4e00 <= r && r <= 0x9fa5 || 0x3040 <= r && r <= 0x30ff {
			return cjk, n
		}
	}
	switch {
	case wordSet.Has(c):
		return letter, n
	case (char.Punct | char.Symbol).Has(c):
		return sign, n
	case c == char.Newline:
		return line, n
	case char.Space.Has(c):
		return white, n
	case char.Number.Has(c):
		return number, n
	}
	return nothing, n
}

func (p deepSeek3) Next(s string) int {
	c, n := p.class(s, 0)
	switch c {
	case number:
		return p.atMost(s, n, 2, char.Number)
	case cjk:
		return p.runOf(s, n, cjk)
	}
	if end := p.third(s, c, n); end > 0 {
		return end
	}
	for i := n; ; { // nothing matches here: up to where something does
		c, n := p.class(s, i)
		if c == end || c == number || c == cjk || p.third(s[i:], c, n) > 0 {
			return i
		}
		i += n
	}
}

// third is the end of what the third pattern matches at the start of s, whose
// first character is of class c and n bytes long; 0 if nothing. The text ends
// for it where a number or an ideograph begins.
func (p deepSeek3) third(s string, c class, n int) int {
	next, w := p.class(s, n)
	switch {
	case c == sign && n == 1 && n < len(s) && isASCIILetter(s[1]):
		i := 2
		for i < len(s) && isASCIILetter(s[i]) {
			i++
		}
		return i
	case c == letter:
		return p.runOf(s, n, letter)
	case (c == white || c == nothing) && next == letter:
		return p.runOf(s, n+w, letter)
	case c == sign:
		return breaks(s, p.runOf(s, n, sign), false)
	case s[0] == ' ' && next == sign:
		return breaks(s, p.runOf(s, n+w, sign), false)
	case c == white || c == line:
		stop, last, line := p.spaceRun(s)
		after, _ := p.class(s, stop)
		switch {
		case line > 0:
			return line
		case after == end || after == number || after == cjk || last == 0:
			return stop
		}
		return last
	}
	return 0
}

func (p deepSeek3) runOf(s string, i int, want class) int {
	for {
		c, n := p.class(s, i)
		if c != want {
			return i
		}
		i += n
	}
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
