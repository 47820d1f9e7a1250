// Package split cuts a text into the pieces within which a byte-pair tokenizer
// merges, as the published patterns do, but by hand: no regular expression is
// run, nothing is allocated, and the categories are those of Unicode 16.
//
// Every pattern here covers every text: the pieces, joined, are the text. A
// byte that is not UTF-8 counts as one unassigned character.
package split

import (
	"strings"
	"unicode/utf8"

	"tokenmeter/wire/tokens/char"
)

// Splitter finds the end of the first piece of a text that is not empty. The
// text is looked at from there on only, so the rest is split by calling again.
type Splitter interface {
	Next(s string) int
}

// Patterns are the patterns that are known by heart, as tokenizer files write
// them, and the splitter of each.
var patterns = map[string]func() Splitter{
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: GPT2,
	llama3Head + `\p{N}{1,3}` + llama3Tail:                                       Llama3,
	llama3Head + `\p{N}` + llama3Tail:                                            Qwen2,
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: Qwen35,
	o200kUpper + contraction + o200kTitle + contraction + `|\p{N}{1,3}` + o200kTail:                                              O200k,
	o200kUpper + o200kTitle + `|\p{N}` + o200kTail:                                                                               Tekken,
}

const (
	llama3Head  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|`
	llama3Tail  = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	contraction = `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
	o200kUpper  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
	o200kTitle  = `|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
	o200kTail   = `| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// ByPattern is the splitter of a pattern, if it is one of the known ones,
// letter by letter. Line breaks may be escaped or stand for themselves.
func ByPattern(pattern string) (Splitter, bool) {
	make, ok := patterns[escapeBreaks(pattern)]
	if !ok {
		return nil, false
	}
	return make(), true
}

// BySequence is the splitter of several patterns, each of which isolates its
// matches in what the one before left over, if it is known.
func BySequence(patterns []string) (Splitter, bool) {
	if len(patterns) == 1 {
		return ByPattern(patterns[0])
	}
	if len(patterns) != len(DeepSeek3Patterns) {
		return nil, false
	}
	for i, p := range patterns {
		if escapeBreaks(p) != DeepSeek3Patterns[i] {
			return nil, false
		}
	}
	return DeepSeek3(), true
}

func escapeBreaks(pattern string) string {
	return strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(pattern)
}

// text is what the splitters share: the categories.
type text struct{ table *char.Table }

// at is the category and the width of the character at s[i].
func (t text) at(s string, i int) (char.Category, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return t.table[c], 1
	}
	return t.wide(s[i:])
}

func (t text) wide(s string) (char.Category, int) {
	r, n := utf8.DecodeRuneInString(s)
	if n == 1 { // no UTF-8
		return char.Cn, 1
	}
	if int(r) < len(t.table) {
		return t.table[r], n
	}
	return char.High(r), n
}

// run is the end of the run of characters of a set that starts at s[i].
func (t text) run(s string, i int, set char.Set) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if !set.Has(t.table[c]) {
				return i
			}
			i++
			continue
		}
		c, n := t.wide(s[i:])
		if !set.Has(c) {
			return i
		}
		i += n
	}
	return i
}

// atMost is run of no more than n characters.
func (t text) atMost(s string, i, n int, set char.Set) int {
	for ; n > 0 && i < len(s); n-- {
		c, w := t.at(s, i)
		if !set.Has(c) {
			break
		}
		i += w
	}
	return i
}

// space ends a piece that starts with white space and that nothing else takes:
// \s*[\r\n]+|\s+(?!\S)|\s+ . The run of white space goes up to its last line
// break; without one it leaves its last character to what follows.
func (t text) space(s string) int {
	end, last, line := t.spaceRun(s)
	switch {
	case line > 0:
		return line
	case end == len(s) || last == 0:
		return end
	}
	return last
}

// spaceRun is the end of the white space at the start of s, where its last
// character starts, and the end of its last line break (0 without one).
func (t text) spaceRun(s string) (end, last, line int) {
	for end < len(s) {
		c, n := t.at(s, end)
		if !char.Space.Has(c) {
			break
		}
		last, end = end, end+n
		if c == char.Newline {
			line = end
		}
	}
	return end, last, line
}

// breaks is the end of the line breaks (and slashes) that start at s[i].
func breaks(s string, i int, slash bool) int {
	for i < len(s) && (s[i] == '\n' || s[i] == '\r' || slash && s[i] == '/') {
		i++
	}
	return i
}

// contracted is the end of (?i:'s|'t|'re|'ve|'m|'ll|'d) at s[i], or i. The long
// s folds to s, as in every engine that knows Unicode.
func contracted(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(s) && s[i+2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(s) && s[i+2]|0x20 == 'l' {
			return i + 3
		}
	}
	if s[i+1] == 0xc5 && i+2 < len(s) && s[i+2] == 0xbf { // ſ
		return i + 3
	}
	return i
}
