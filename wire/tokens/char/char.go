// Package char knows the category of every code point in Unicode 16.
//
// Tokenizers cut text by category, and a code point that is a letter to the
// server but not to us would change a count. Go 1.26 has the tables of Unicode
// 15, so the package brings its own: they are what the regular expressions of
// tiktoken (Rust) and of Hugging Face tokenizers (Oniguruma) say, which agree
// on every code point. tools/oracle/tokens_unicode.py makes the table.
package char

import (
	_ "embed"
	"sync"
)

// Category is a general category of Unicode, split further where \s and \w
// need it.
type Category uint8

// The categories, in the order of the table's generator.
const (
	Cn Category = iota // unassigned, and surrogates
	Lu
	Ll
	Lt
	Lm
	Lo
	Mn
	Mc
	Me
	Nd
	Nl
	No
	Pc
	Pd
	Ps
	Pe
	Pi
	Pf
	Po
	Sm
	Sc
	Sk
	So
	Zs
	Zl
	Zp
	Cc
	Cf
	Co
	Newline // Cc: \r and \n
	CcSpace // Cc that is white space: tab, vertical tab, form feed, U+0085
	SoWord  // So that \w matches: circled letters
	CfJoin  // Cf that \w matches: the two joiners
	categories
)

// Set is a set of categories.
type Set uint64

// The sets that patterns use.
const (
	Upper  = Set(1<<Lu | 1<<Lt)
	Lower  = Set(1 << Ll)
	Other  = Set(1<<Lm | 1<<Lo)
	Letter = Upper | Lower | Other
	Mark   = Set(1<<Mn | 1<<Mc | 1<<Me)
	Number = Set(1<<Nd | 1<<Nl | 1<<No)
	Punct  = Set(1<<Pc | 1<<Pd | 1<<Ps | 1<<Pe | 1<<Pi | 1<<Pf | 1<<Po)
	Symbol = Set(1<<Sm | 1<<Sc | 1<<Sk | 1<<So | 1<<SoWord)
	Break  = Set(1 << Newline)
	// Space is \s: the property White_Space.
	Space = Set(1<<Zs | 1<<Zl | 1<<Zp | 1<<Newline | 1<<CcSpace)
	// Word is \w of Rust: alphabetic, marks, decimal digits, connectors, joiners.
	Word = Letter | Mark | Set(1<<Nd|1<<Nl|1<<Pc|1<<SoWord|1<<CfJoin)
)

// Has says whether a category is in the set.
func (s Set) Has(c Category) bool { return s>>c&1 != 0 }

// limit is above the last assigned code point of planes 0 to 3.
const limit = 0x323b0

// Table holds the categories of the code points below its length; Of knows the
// others. It is here for loops that cannot pay a call.
type Table [limit]Category

//go:embed categories.bin
var runs string

// Low is the table. It is made at the first call, in a fraction of a
// millisecond.
var Low = sync.OnceValue(func() *Table {
	t := new(Table)
	eachRun(func(from, to rune, c Category) {
		for r := from; r < min(to, limit); r++ {
			t[r] = c
		}
	})
	return t
})

// Of is the category of a code point; Cn for what is none.
func Of(r rune) Category {
	if uint32(r) < limit {
		return Low()[r]
	}
	return High(r)
}

// High is the category of a code point that is not in the table.
func High(r rune) Category {
	switch {
	case r == 0xe0001, 0xe0020 <= r && r <= 0xe007f:
		return Cf
	case 0xe0100 <= r && r <= 0xe01ef:
		return Mn
	case 0xf0000 <= r && r <= 0xffffd, 0x100000 <= r && r <= 0x10fffd:
		return Co
	}
	return Cn
}

// eachRun calls f for every run of code points of one category.
func eachRun(f func(from, to rune, c Category)) {
	at := rune(0)
	for i := 0; i < len(runs); {
		n, shift := rune(0), 0
		for ; runs[i] >= 0x80; i++ {
			n |= rune(runs[i]&0x7f) << shift
			shift += 7
		}
		n |= rune(runs[i]) << shift
		f(at, at+n, Category(runs[i+1]))
		at += n
		i += 2
	}
}
