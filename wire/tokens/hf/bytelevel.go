package hf

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"tokenmeter/wire/tokens/pattern"
	"tokenmeter/wire/tokens/split"
)

// parseByteLevel gives the steps of the ByteLevel pre-tokenizer: a space in
// front, GPT-2's pattern, bytes as letters.
func parseByteLevel(raw json.RawMessage) ([]preTokenizer, error) {
	v, err := read[struct {
		typed
		AddPrefixSpace bool  `json:"add_prefix_space"`
		TrimOffsets    bool  `json:"trim_offsets"`
		UseRegex       *bool `json:"use_regex"`
	}]("pre-tokenizer", raw)
	if err != nil {
		return nil, err
	}
	var steps []preTokenizer
	if v.AddPrefixSpace {
		steps = append(steps, prefixSpace{})
	}
	if v.UseRegex == nil || *v.UseRegex {
		steps = append(steps, byHand{split.GPT2()})
	}
	return append(steps, letters{}), nil
}

// prefixSpace puts a space before a piece that starts with none.
type prefixSpace struct{}

func (prefixSpace) split(pieces, into []piece, _ *pattern.Budget) []piece {
	for _, p := range pieces {
		if !strings.HasPrefix(p.text, " ") {
			p.text = " " + p.text
		}
		into = append(into, p)
	}
	return into
}

// letters writes the bytes of each piece as letters.
type letters struct{}

func (letters) split(pieces, into []piece, _ *pattern.Budget) []piece {
	for _, p := range pieces {
		p.text = toLetters(p.text)
		into = append(into, p)
	}
	return into
}

// The ByteLevel parts write every byte as a letter that can be seen: the bytes
// of printable Latin-1 as themselves, the others as the letters from U+0100 on.
var byteLetter, letterByte = func() (letters [256]rune, bytes map[rune]byte) {
	bytes = make(map[rune]byte, 256)
	next := rune(0x100)
	for b := range rune(256) {
		r := b
		if !('!' <= b && b <= '~' || 0xa1 <= b && b <= 0xac || 0xae <= b) {
			r = next
			next++
		}
		letters[b], bytes[r] = r, byte(b)
	}
	return letters, bytes
}()

// toLetters writes the bytes of a text as letters.
func toLetters(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	for i := range len(s) {
		b.WriteRune(byteLetter[s[i]])
	}
	return b.String()
}

// fromLetters is the contrary; ok is false if a letter stands for no byte.
func fromLetters(s string) (bytes string, ok bool) {
	b := make([]byte, 0, len(s))
	for i, r := range s {
		c, ok := letterByte[r]
		if !ok || r == utf8.RuneError && s[i] != 0xef {
			return "", false
		}
		b = append(b, c)
	}
	return string(b), true
}
