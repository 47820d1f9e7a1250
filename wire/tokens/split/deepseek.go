package split

import (
	"unicode/utf8"

	"tokenmeter/wire/tokens/char"
)

type deepSeek3 struct{ text }

// DeepSeek3 splits as DeepSeek V3 and R1 do, by three patterns one after the
// other, each of which isolates its matches in the pieces of the one before:
//
//	\p{N}{1,3}
//	[一-龥぀-ゟ゠-ヿ]+
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// What none of them matches (control characters, numbers) stays together.
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
	end     class = iota // of what the first two patterns leave together
	nothing              // no pattern matches it alone
	letter               // letters and marks
	sign                 // punctuation and symbols
	white
	line // \r and \n
)

func (p deepSeek3) Next(s string) int {
	c, n := p.at(s, 0)
	if char.Number.Has(c) {
		return p.atMost(s, n, 2, char.Number)
	}
	part := third{p.text, s, ideographic(s, 0)}
	first, n := part.class(0)
	if stop := part.match(0, first, n); stop > 0 {
		return stop
	}
	for i := n; ; { // nothing matches here: up to where something does
		c, n := part.class(i)
		if c == end || part.match(i, c, n) > 0 {
			return i
		}
		i += n
	}
}

// third matches the third pattern in what the first two leave together: the
// characters up to the next number, all of them of the second pattern or none.
type third struct {
	text
	s           string
	ideographic bool
}

// ideographic says whether the second pattern matches the character at s[i].
func ideographic(s string, i int) bool {
	if s[i] < 0xe3 || s[i] > 0xe9 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return 0x4e00 <= r && r <= 0x9fa5 || 0x3040 <= r && r <= 0x30ff
}

func (t *third) class(i int) (class, int) {
	if i == len(t.s) || ideographic(t.s, i) != t.ideographic {
		return end, 0
	}
	c, n := t.at(t.s, i)
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
		return end, 0
	}
	return nothing, n
}

// match is the end of the match at s[i], whose first character is of class c
// and n bytes long; 0 if there is none.
func (t *third) match(i int, c class, n int) int {
	next, w := t.class(i + n)
	switch {
	case c == sign && n == 1 && i+1 < len(t.s) && isASCIILetter(t.s[i+1]):
		for i += 2; i < len(t.s) && isASCIILetter(t.s[i]); {
			i++
		}
		return i
	case c == letter:
		return t.runOf(i+n, letter)
	case (c == white || c == nothing) && next == letter:
		return t.runOf(i+n+w, letter)
	case c == sign:
		return t.breaks(t.runOf(i+n, sign))
	case t.s[i] == ' ' && next == sign:
		return t.breaks(t.runOf(i+n+w, sign))
	case c == white || c == line:
		stop, last, line := t.spaceRun(t.s[i:])
		after, _ := t.class(i + stop)
		switch {
		case line > 0:
			return i + line
		case after == end || last == 0:
			return i + stop
		}
		return i + last
	}
	return 0
}

func (t *third) runOf(i int, want class) int {
	for {
		c, n := t.class(i)
		if c != want {
			return i
		}
		i += n
	}
}

// breaks is the end of the line breaks at s[i]; none is ideographic.
func (t *third) breaks(i int) int {
	if t.ideographic {
		return i
	}
	return breaks(t.s, i, false)
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
