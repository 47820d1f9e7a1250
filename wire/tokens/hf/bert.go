package hf

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tokenmeter/wire/tokens/char"
	"tokenmeter/wire/tokens/pattern"
)

// bert is what BERT does to a text before it is cut.
type bert struct {
	clean, chinese, accents, lower bool
	control, ideographs, marks     char.Ranges
}

func parseBert(raw json.RawMessage) (normalizer, error) {
	v, err := read[struct {
		typed
		Clean   bool  `json:"clean_text"`
		Chinese bool  `json:"handle_chinese_chars"`
		Accents *bool `json:"strip_accents"`
		Lower   bool  `json:"lowercase"`
	}]("normalizer", raw)
	if err != nil {
		return nil, err
	}
	b := bert{v.Clean, v.Chinese, v.Lower, v.Lower, sets()["bert_control"], sets()["bert_chinese"], sets()["bert_accent"]}
	if v.Accents != nil {
		b.accents = *v.Accents
	}
	return b, nil
}

func (b bert) normalize(s string, _ *pattern.Budget) (out string, cut bool) {
	if b.clean {
		s, cut = drop(s, func(r rune) bool { return r == 0 || r == utf8.RuneError || b.control.Has(r) })
		s = strings.Map(func(r rune) rune {
			if isSpace(r) {
				return ' '
			}
			return r
		}, s)
	}
	if b.chinese {
		s = b.spaced(s)
	}
	if b.accents {
		var c bool
		s, c = drop(normalized(norm.NFD, s), b.marks.Has)
		cut = cut || c
	}
	if b.lower {
		s = toLower(s)
	}
	return s, cut
}

// spaced puts a space on both sides of every ideograph.
func (b bert) spaced(s string) string {
	if strings.IndexFunc(s, b.ideographs.Has) < 0 {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if b.ideographs.Has(r) {
			out.WriteByte(' ')
			out.WriteRune(r)
			out.WriteByte(' ')
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// drop leaves out characters; cut says that the first was one of them.
func drop(s string, unwanted func(rune) bool) (out string, cut bool) {
	first := strings.IndexFunc(s, unwanted)
	if first < 0 {
		return s, false
	}
	return strings.Map(func(r rune) rune {
		if unwanted(r) {
			return -1
		}
		return r
	}, s), first == 0
}

// nmt is what neural machine translation does: controls go, and what looks
// like a space becomes one.
func nmt(s string) (string, bool) {
	s, cut := drop(s, func(r rune) bool {
		return 1 <= r && r <= 8 || r == 0xb || 0xe <= r && r <= 0x1f || r == 0x7f || r == 0x8f || r == 0x9f
	})
	return strings.Map(func(r rune) rune {
		switch r {
		case '\t', '\n', '\f', '\r', 0x1680, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x2581, 0xfeff, utf8.RuneError:
			return ' '
		}
		return r
	}, s), cut
}
