package hf

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The four forms of Unicode, as tokenizers makes them: by a table that is older
// than ours, so that newer characters stay as they are.
func form(f norm.Form) func(json.RawMessage) (normalizer, error) {
	return plain(func(s string) (string, bool) { return normalized(f, s), false })
}

func normalized(f norm.Form, s string) string {
	first := strings.IndexFunc(s, newer)
	if first < 0 {
		return normalizedKnown(f, s)
	}
	var b strings.Builder
	for first >= 0 {
		_, n := utf8.DecodeRuneInString(s[first:])
		b.WriteString(normalizedKnown(f, s[:first]))
		b.WriteString(s[first : first+n])
		s = s[first+n:]
		first = strings.IndexFunc(s, newer)
	}
	b.WriteString(normalizedKnown(f, s))
	return b.String()
}

// newer says that a character stays as it is: tokenizers does not know it, or
// it takes no part in normalisation and lies beyond the first plane, where
// package norm composes by the low 16 bits alone.
func newer(r rune) bool {
	if r < 0x500 {
		return false
	}
	if r >= 0x10000 && !strings.ContainsRune(beyondComposed, r) {
		if p := norm.NFKD.PropertiesString(string(r)); p.CCC() == 0 && p.Decomposition() == nil {
			return true
		}
	}
	return sets()["unnormalized"].Has(r)
}

// beyondComposed are the letters beyond the first plane that a mark joins.
const beyondComposed = "\U00011099\U0001109B\U000110A5\U00011131\U00011132\U00011347\U000114B9\U000115B8\U000115B9\U00011935"

// streamSafe is the number of marks in a row after which package norm puts a
// joiner between them, which tokenizers does not.
const streamSafe = 30

func normalizedKnown(f norm.Form, s string) string {
	marks := 0
	for i, r := range s {
		if r < 0x300 || norm.NFD.PropertiesString(s[i:]).CCC() == 0 {
			marks = 0
		} else if marks++; marks >= streamSafe/3 { // one may become three
			return normalizedLong(f, s)
		}
	}
	return f.String(s)
}

// normalizedLong is normalizedKnown without a limit of marks in a row: every
// character decomposed, the marks in order, then composed where wanted.
func normalizedLong(f norm.Form, s string) string {
	decompose := norm.NFD
	if f == norm.NFKC || f == norm.NFKD {
		decompose = norm.NFKD
	}
	type mark struct {
		r     rune
		class uint8
	}
	var all []mark
	for _, r := range s {
		for _, r := range decompose.String(string(r)) {
			all = append(all, mark{r, norm.NFD.PropertiesString(string(r)).CCC()})
		}
	}
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].class != 0 {
			j++
		}
		slices.SortStableFunc(all[i:j], func(a, b mark) int { return int(a.class) - int(b.class) })
		i = j + 1
	}
	out := make([]rune, 0, len(all))
	starter, last := -1, uint8(0)
	for _, m := range all {
		if starter >= 0 && (f == norm.NFC || f == norm.NFKC) && (last < m.class || last == 0 && starter == len(out)-1) {
			if r, ok := composed(out[starter], m.r); ok {
				out[starter] = r
				continue
			}
		}
		if last = m.class; last == 0 {
			starter = len(out)
		}
		out = append(out, m.r)
	}
	return string(out)
}

// composed is the one character that two make.
func composed(a, b rune) (rune, bool) {
	s := norm.NFC.String(string(a) + string(b))
	r, n := utf8.DecodeRuneInString(s)
	return r, n == len(s)
}

// toLower is lower case, character by character, of Unicode 17.
func toLower(s string) string {
	first := strings.IndexFunc(s, func(r rune) bool { return r == 'İ' || lower(r) != r })
	if first < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:first])
	for _, r := range s[first:] {
		if r == 'İ' {
			b.WriteString("i\u0307")
			continue
		}
		b.WriteRune(lower(r))
	}
	return b.String()
}

func lower(r rune) rune {
	switch {
	case r < 0x1c00 || r > 0x1ffff:
	case r == 0x1c89, r == 0xa7cc, r == 0xa7ce, r == 0xa7d2, r == 0xa7d4, r == 0xa7da:
		return r + 1
	case r == 0xa7cb:
		return 0x264
	case r == 0xa7dc:
		return 0x19b
	case 0x10d50 <= r && r <= 0x10d65:
		return r + 0x20
	case 0x16ea0 <= r && r <= 0x16eb8:
		return r + 0x1b
	}
	return unicode.ToLower(r)
}
