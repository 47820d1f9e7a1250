package split

import "tokenmeter/wire/tokens/char"

// o200k is the family of o200k_base: words are cut where lower case turns to
// upper case. It differs in contractions and in how many digits stay together.
type o200k struct {
	text
	contractions bool
	digits       int
}

// O200k splits as o200k_base, gpt-oss and Llama 4 do:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func O200k() Splitter { return &o200k{text{char.Low()}, true, 3} }

// Tekken splits as Mistral's Tekken does: as o200k_base, but without
// contractions and with each digit alone.
func Tekken() Splitter { return &o200k{text{char.Low()}, false, 1} }

const (
	both     = char.Other | char.Mark // what stands on either side of a word
	upperSet = char.Upper | both
	lowerSet = char.Lower | both
	wordSet  = char.Letter | char.Mark
	// otherSet is [^\s\p{L}\p{N}].
	otherSet = ^(char.Space | char.Letter | char.Number)
)

func (p *o200k) Next(s string) int {
	c, n := p.at(s, 0)
	if char.Letter.Has(c) {
		return p.suffix(s, p.word(s, 0))
	}
	if char.Number.Has(c) {
		return p.atMost(s, n, p.digits-1, char.Number)
	}
	next, w := char.Newline, 0 // at the end of the text: neither letter nor other
	if n < len(s) {
		next, w = p.at(s, n)
	}
	// A mark is the character before a word, or a part of it.
	if char.Mark.Has(c) {
		if wordSet.Has(next) {
			if end, low := p.half(s, n); low {
				return p.suffix(s, end)
			}
		}
		return p.suffix(s, p.word(s, 0))
	}
	switch {
	case wordSet.Has(next) && c != char.Newline:
		return p.suffix(s, p.word(s, n))
	case otherSet.Has(c):
		return breaks(s, p.run(s, n, otherSet), true)
	case s[0] == ' ' && otherSet.Has(next):
		return breaks(s, p.run(s, n+w, otherSet), true)
	}
	return p.space(s)
}

func (p *o200k) suffix(s string, end int) int {
	if p.contractions {
		return contracted(s, end)
	}
	return end
}

// word is the end of the word that starts at s[i].
func (p *o200k) word(s string, i int) int {
	end, _ := p.half(s, i)
	return end
}

// half is the end of the word that starts at s[i], and whether it is one of
// the first kind: upper* lower+ . Characters that stand on both sides count as
// lower case when no lower case follows them: the first pattern then ends at
// the last of them. Without any it's upper+, which is the second pattern.
func (p *o200k) half(s string, i int) (end int, low bool) {
	last := 0
	for i < len(s) {
		c, n := p.at(s, i)
		if !upperSet.Has(c) {
			if char.Lower.Has(c) {
				return p.run(s, i+n, lowerSet), true
			}
			break
		}
		i += n
		if both.Has(c) {
			last = i
		}
	}
	if last > 0 {
		return last, true
	}
	return i, false
}
