package pattern

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"tokenmeter/wire/tokens/char"
)

// set is a class of characters: what lies in any of its parts and in all of
// the sets it is cut with, or the contrary.
type set struct {
	negated    bool
	categories char.Set
	ranges     []char.Range
	scripts    []char.Ranges
	sets       []*set
	cut        []*set    // [a&&b]
	ascii      [2]uint64 // the answers below 0x80, filled by finish
}

func (s *set) has(r rune) bool {
	if uint32(r) < 0x80 {
		return s.ascii[r>>6]>>(r&63)&1 != 0
	}
	return s.slow(r)
}

func (s *set) slow(r rune) bool {
	in := s.any(r)
	for _, c := range s.cut {
		in = in && c.slow(r)
	}
	return in != s.negated
}

func (s *set) any(r rune) bool {
	if s.categories.Has(char.Of(r)) {
		return true
	}
	for _, x := range s.ranges {
		if x.Lo <= r && r <= x.Hi {
			return true
		}
	}
	for _, x := range s.scripts {
		if x.Has(r) {
			return true
		}
	}
	for _, x := range s.sets {
		if x.slow(r) {
			return true
		}
	}
	return false
}

func (s *set) finish() *set {
	for r := range rune(0x80) {
		if s.slow(r) {
			s.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return s
}

func (s *set) add(lo, hi rune) { s.ranges = append(s.ranges, char.Range{Lo: lo, Hi: hi}) }

// fold adds what (?i) takes for the letters in the set. Only ASCII is known.
func (s *set) fold() error {
	if s.categories != 0 { // \s, \d, \w: the same in either case
		return nil
	}
	for _, x := range s.ranges {
		if x.Hi >= 0x80 {
			return fmt.Errorf("(?i) with letters beyond ASCII is not supported")
		}
		for r := x.Lo; r <= x.Hi; r++ {
			lower := r | 0x20
			if lower < 'a' || lower > 'z' {
				continue
			}
			s.add(r^0x20, r^0x20)
			switch lower {
			case 's':
				s.add('ſ', 'ſ')
			case 'k':
				s.add('\u212a', '\u212a')
			}
		}
	}
	return nil
}

// The classes of one letter. \w of Oniguruma lacks the joiners; outside of
// square brackets it has the superscript digits and fractions of Latin-1.
func classSet(letter byte, bracketed bool) (*set, bool) {
	s := new(set)
	switch letter {
	case 's', 'S':
		s.categories = char.Space
	case 'd', 'D':
		s.categories = 1 << char.Nd
	case 'w', 'W':
		s.categories = char.Word &^ (1 << char.CfJoin)
		if !bracketed {
			s.ranges = []char.Range{{Lo: 0xb2, Hi: 0xb3}, {Lo: 0xb9, Hi: 0xb9}, {Lo: 0xbc, Hi: 0xbe}}
		}
	default:
		return nil, false
	}
	s.negated = letter < 'a'
	return s, true
}

const (
	control = 1<<char.Cc | 1<<char.Newline | 1<<char.CcSpace
	format  = 1<<char.Cf | 1<<char.CfJoin
)

var properties = map[string]char.Set{
	"l": char.Letter, "lu": 1 << char.Lu, "ll": 1 << char.Ll, "lt": 1 << char.Lt, "lm": 1 << char.Lm, "lo": 1 << char.Lo,
	"m": char.Mark, "mn": 1 << char.Mn, "mc": 1 << char.Mc, "me": 1 << char.Me,
	"n": char.Number, "nd": 1 << char.Nd, "nl": 1 << char.Nl, "no": 1 << char.No,
	"p": char.Punct, "pc": 1 << char.Pc, "pd": 1 << char.Pd, "ps": 1 << char.Ps, "pe": 1 << char.Pe,
	"pi": 1 << char.Pi, "pf": 1 << char.Pf, "po": 1 << char.Po,
	"s": char.Symbol, "sm": 1 << char.Sm, "sc": 1 << char.Sc, "sk": 1 << char.Sk, "so": 1<<char.So | 1<<char.SoWord,
	"z": 1<<char.Zs | 1<<char.Zl | 1<<char.Zp, "zs": 1 << char.Zs, "zl": 1 << char.Zl, "zp": 1 << char.Zp,
	"c": control | format | 1<<char.Co | 1<<char.Cn, "cc": control, "cf": format, "co": 1 << char.Co, "cn": 1 << char.Cn,
	"letter": char.Letter, "mark": char.Mark, "number": char.Number, "punctuation": char.Punct, "symbol": char.Symbol,
}

//go:embed scripts.txt
var scriptLines string

var scripts = sync.OnceValue(func() map[string]char.Ranges {
	sets, err := char.ParseRanges(scriptLines)
	if err != nil {
		panic(err) // the build is broken
	}
	named := map[string]char.Ranges{}
	for name, r := range sets {
		named[strings.ToLower(name)] = r
	}
	return named
})

// property is the set of \p{name}.
func property(name string, negated bool) (*set, error) {
	if inner, ok := strings.CutPrefix(name, "^"); ok {
		name, negated = inner, !negated
	}
	if c, ok := properties[strings.ToLower(name)]; ok {
		return &set{categories: c, negated: negated}, nil
	}
	if r, ok := scripts()[strings.ToLower(name)]; ok {
		return &set{scripts: []char.Ranges{r}, negated: negated}, nil
	}
	return nil, fmt.Errorf("the property %q is not supported", name)
}
