package split

import "tokenmeter/wire/tokens/char"

type gpt2 struct{ text }

// GPT2 splits as GPT-2 does, and as the ByteLevel pre-tokenizer of Hugging Face:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func GPT2() Splitter { return gpt2{text{char.Low()}} }

func (p gpt2) Next(s string) int {
	if n := contractedLower(s); n > 0 {
		return n
	}
	c, n := p.at(s, 0)
	if s[0] == ' ' && len(s) > 1 {
		if next, w := p.at(s, 1); !char.Space.Has(next) {
			c, n = next, 1+w
		}
	}
	switch {
	case char.Letter.Has(c):
		return p.run(s, n, char.Letter)
	case char.Number.Has(c):
		return p.run(s, n, char.Number)
	case char.Space.Has(c):
		end, last, _ := p.spaceRun(s)
		if end == len(s) || last == 0 {
			return end
		}
		return last
	}
	return p.run(s, n, ^(char.Space | char.Letter | char.Number))
}

// contractedLower is the end of 's|'t|'re|'ve|'m|'ll|'d at the start, or 0.
func contractedLower(s string) int {
	if s[0] != '\'' || len(s) < 2 {
		return 0
	}
	switch s[1] {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(s) > 2 && s[2] == 'e' {
			return 3
		}
	case 'l':
		if len(s) > 2 && s[2] == 'l' {
			return 3
		}
	}
	return 0
}

// cl100k is the family of cl100k_base: it differs in what a letter is, in how
// many digits stay together and in what becomes of white space at the end.
type cl100k struct {
	text
	letter char.Set
	other  char.Set
	digits int
	// tail keeps white space at the end of the text in one piece, line breaks
	// or not.
	tail bool
}

func newCl100k(letter char.Set, digits int, tail bool) Splitter {
	return &cl100k{text{char.Low()}, letter, ^(char.Space | letter | char.Number), digits, tail}
}

// Cl100k splits as tiktoken does for cl100k_base:
//
//	'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s
func Cl100k() Splitter { return newCl100k(char.Letter, 3, true) }

// Llama3 splits as Llama 3 and GLM-4 do:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func Llama3() Splitter { return newCl100k(char.Letter, 3, false) }

// Qwen2 splits as Qwen 2 to 3 do: as Llama 3, but each digit alone.
func Qwen2() Splitter { return newCl100k(char.Letter, 1, false) }

// Qwen35 splits as Qwen 3.5 does: as Qwen 2, but marks count as letters.
func Qwen35() Splitter { return newCl100k(char.Letter|char.Mark, 1, false) }

func (p *cl100k) Next(s string) int {
	c, n := p.at(s, 0)
	if p.letter.Has(c) {
		return p.run(s, n, p.letter)
	}
	if end := contracted(s, 0); end > 0 {
		return end
	}
	if char.Number.Has(c) {
		return p.atMost(s, n, p.digits-1, char.Number)
	}
	next, w := char.Newline, 0 // at the end of the text: neither letter nor other
	if n < len(s) {
		next, w = p.at(s, n)
	}
	switch {
	case p.letter.Has(next) && c != char.Newline:
		return p.run(s, n+w, p.letter)
	case p.other.Has(c):
		return breaks(s, p.run(s, n, p.other), false)
	case s[0] == ' ' && p.other.Has(next):
		return breaks(s, p.run(s, n+w, p.other), false)
	}
	if p.tail {
		if end, _, _ := p.spaceRun(s); end == len(s) {
			return end
		}
	}
	return p.space(s)
}
