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
		return nil, fmt.Errorf("pattern %.200q: %w", expr, err)
	}
	return &Pattern{expr, prog}, nil
}

// String is the expression.
func (p *Pattern) String() string { return p.expr }

// Find is the leftmost match in s that starts at from or later. What lies
// before is seen by anchors and by looking behind. Nothing is found any more
// once the budget is spent.
func (p *Pattern) Find(s string, from int, b *Budget) (start, end int, ok bool) {
	if b.err != nil {
		return 0, 0, false
	}
	m := machines.Get().(*machine)
	m.left = b.left
	defer func() {
		if b.left = m.left; b.left <= 0 {
			b.err, ok = &ExhaustedError{p.expr, b.text}, false
		}
		machines.Put(m)
	}()
	for i := from; i < len(s) && m.left > 0; {
		if end, ok := m.run(p.prog, s, i); ok {
			return i, end, true
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return 0, 0, false
}

// Split cuts s into its matches and what lies between them.
func (p *Pattern) Split(s string) ([]string, error) {
	var pieces []string
	b := NewBudget(len(s))
	for at := 0; at < len(s); {
		start, end, ok := p.Find(s, at, b)
		if !ok {
			pieces = append(pieces, s[at:])
			break
		}
		if start > at {
			pieces = append(pieces, s[at:start])
		}
		pieces = append(pieces, s[start:end])
		at = end
	}
	return pieces, b.Err()
}
