// Package pattern matches the regular expressions that tokenizer files hold, as
// Oniguruma (the engine of Hugging Face tokenizers) does, with the categories of
// Unicode 16. It knows what such files use: classes, groups, alternatives,
// quantifiers of every kind, looking ahead and behind, anchors, (?i). What it
// does not know is an error that names it; nothing is matched by guess.
package pattern

import (
	"fmt"
	"unicode/utf8"
)

// Pattern is a compiled expression. It may be used from many goroutines.
type Pattern struct {
	expr string
	prog program
}

// Compile reads an expression. One that may match nothing is refused, for
// tokenizers cut a text by what matches.
func Compile(expr string) (*Pattern, error) {
	p := parser{rest: expr}
	n, err := p.parse()
	if err == nil && n.nullable() {
		err = fmt.Errorf("it may match nothing")
	}
	var prog program
	if err == nil {
		prog, err = compile(n)
	}
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", expr, err)
	}
	return &Pattern{expr, prog}, nil
}

// String is the expression.
func (p *Pattern) String() string { return p.expr }

// Find is the leftmost match in s that starts at from or later. What lies
// before is seen by anchors and by looking behind.
func (p *Pattern) Find(s string, from int) (start, end int, ok bool) {
	m := machines.Get().(*machine)
	defer machines.Put(m)
	for i := from; i < len(s); {
		if end, ok := m.run(p.prog, s, i); ok {
			return i, end, true
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return 0, 0, false
}

// Split cuts s into its matches and what lies between them.
func (p *Pattern) Split(s string) []string {
	var pieces []string
	for at := 0; at < len(s); {
		start, end, ok := p.Find(s, at)
		if !ok {
			return append(pieces, s[at:])
		}
		if start > at {
			pieces = append(pieces, s[at:start])
		}
		pieces = append(pieces, s[start:end])
		at = end
	}
	return pieces
}
