package hf

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"tokenmeter/wire/tokens/char"
	"tokenmeter/wire/tokens/pattern"
)

// precompiled is a table of SentencePiece: what to write for some characters
// and short clusters of them. The trie is a double array (Darts).
type precompiled struct {
	trie []uint32
	text string // all that may be written, each up to a NUL
}

func parsePrecompiled(raw json.RawMessage) (normalizer, error) {
	v, err := read[struct {
		typed
		Map string `json:"precompiled_charsmap"`
	}]("normalizer", raw)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(v.Map)
	if err != nil {
		return nil, fmt.Errorf("normalizer Precompiled: %w", err)
	}
	if len(b) < 4 {
		return nil, errors.New("normalizer Precompiled: the table is cut short")
	}
	size := uint64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; size > uint64(len(b)) || size < 4 {
		return nil, errors.New("normalizer Precompiled: the table is cut short")
	}
	p := &precompiled{text: string(b[size:])}
	for at := uint64(0); at+4 <= size; at += 4 {
		p.trie = append(p.trie, binary.LittleEndian.Uint32(b[at:]))
	}
	return p, nil
}

// longestCluster is the longest cluster, in bytes, that is looked up as a whole.
const longestCluster = 5

func (p *precompiled) normalize(s string, budget *pattern.Budget) (out string, cut bool) {
	var b strings.Builder
	b.Grow(len(s))
	for s != "" && budget.Holds(b.Len()) {
		n := cluster(s)
		if n <= longestCluster {
			if text, ok := p.lookup(s[:n]); ok {
				b.WriteString(text)
				s = s[n:]
				continue
			}
		}
		for part := s[:n]; part != ""; {
			_, w := utf8.DecodeRuneInString(part)
			if text, ok := p.lookup(part[:w]); ok {
				b.WriteString(text)
			} else {
				b.WriteString(part[:w])
			}
			part = part[w:]
		}
		s = s[n:]
	}
	return b.String(), false
}

// lookup is what to write for the shortest start of s that the table has, in
// place of all of s: so it is in the original.
func (p *precompiled) lookup(s string) (text string, ok bool) {
	at := offset(p.trie[0])
	for _, c := range []byte(s) {
		if c == 0 {
			break
		}
		at ^= uint32(c)
		if int(at) >= len(p.trie) {
			break
		}
		unit := p.trie[at]
		if unit&(1<<31|0xff) != uint32(c) {
			break
		}
		at ^= offset(unit)
		if unit>>8&1 == 1 && int(at) < len(p.trie) {
			i := p.trie[at] & (1<<31 - 1)
			if int(i) > len(p.text) {
				break
			}
			text, _, _ = strings.Cut(p.text[i:], "\x00")
			return text, true
		}
	}
	return "", false
}

func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// cluster is the length of what a reader takes for one character, as far as it
// matters here: for clusters of more than one character and five bytes at most.
// Hangul, conjuncts, flags and joined emoji are longer.
func cluster(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r == '\r' && strings.HasPrefix(s[n:], "\n") {
		return n + 1
	}
	if breaks(r) {
		return n
	}
	for prepends(r) && n < len(s) {
		next, w := utf8.DecodeRuneInString(s[n:])
		if breaks(next) {
			return n
		}
		r, n = next, n+w
	}
	for n < len(s) {
		r, w := utf8.DecodeRuneInString(s[n:])
		if !extends(r) {
			return n
		}
		n += w
	}
	return n
}

// breaks is a control, which stands alone.
func breaks(r rune) bool {
	if r < 0x20 {
		return true
	}
	if r < 0x7f || extends(r) || prepends(r) {
		return false
	}
	return (char.Break | 1<<char.Cc | 1<<char.CcSpace | 1<<char.Cf | 1<<char.Zl | 1<<char.Zp).Has(char.Of(r))
}

// extends is a character that belongs to the one before.
func extends(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r == 0x200c, r == 0x200d, r == 0xe33, r == 0xeb3, r == 0xff9e, r == 0xff9f,
		0x1f3fb <= r && r <= 0x1f3ff, 0xe0020 <= r && r <= 0xe007f:
		return true
	}
	return char.Mark.Has(char.Of(r)) && !apart.Has(r)
}

// apart are the spacing marks that do not extend.
var apart = char.Ranges{{Lo: 0x102b, Hi: 0x102c}, {Lo: 0x1038, Hi: 0x1038}, {Lo: 0x1062, Hi: 0x1064}, {Lo: 0x1067, Hi: 0x106d},
	{Lo: 0x1083, Hi: 0x1083}, {Lo: 0x1087, Hi: 0x108c}, {Lo: 0x108f, Hi: 0x108f}, {Lo: 0x109a, Hi: 0x109c}, {Lo: 0x1a61, Hi: 0x1a61},
	{Lo: 0x1a63, Hi: 0x1a64}, {Lo: 0xaa7b, Hi: 0xaa7b}, {Lo: 0xaa7d, Hi: 0xaa7d}, {Lo: 0x11720, Hi: 0x11721}}

// prepends is a character that belongs to the one after.
func prepends(r rune) bool {
	return 0x600 <= r && r <= 0x605 || r == 0x6dd || r == 0x70f || 0x890 <= r && r <= 0x891 || r == 0x8e2 || r == 0xd4e || r == 0x110bd || r == 0x110cd
}
