package pattern

import "fmt"

// Budget bounds the steps that expressions and the search for tokens take on one
// text, and what becomes of the text. Expressions that go back may need a number that doubles with every
// letter, as (?:a|a)*b does on "aaaa…"; forty replacements of a by aa make a
// thousand billion letters of one.
// Not safe for concurrent use.
type Budget struct {
	text, left int
	err        error
}

const (
	// leastBudget is how often Oniguruma goes back in one match before it gives
	// up, so that what its users can count is counted here too.
	leastBudget = 10_000_000
	// stepsPerByte is more than ten times what the costliest pattern of known
	// tokenizers takes (TestBudgetIsWide).
	stepsPerByte = 500
	// bytesPerStep is how many bytes are compared or hashed in the time of a step.
	bytesPerStep = 16
	// leastRoom is what any text may grow to: files put words in front of it.
	leastRoom = 1 << 20
	// roomPerByte is more than the characters take that grow most, ligatures such
	// as U+FDFA: eleven times in Unicode's compatibility forms, and twice that with
	// bytes written as letters.
	roomPerByte = 32
)

// NewBudget is the budget of a text of so many bytes.
func NewBudget(bytes int) *Budget {
	b := new(Budget)
	b.Reset(bytes)
	return b
}

// Reset makes it the budget of a text of so many bytes.
func (b *Budget) Reset(bytes int) {
	*b = Budget{text: bytes, left: max(leastBudget, stepsPerByte*bytes)}
}

// Look spends what comparing so many bytes of the text takes, and reports whether
// there was enough.
func (b *Budget) Look(bytes int) bool {
	if b.left -= 1 + bytes/bytesPerStep; b.left <= 0 && b.err == nil {
		b.err = &ExhaustedError{Bytes: b.text}
	}
	return b.err == nil
}

// Holds reports whether what became of the text may have so many bytes, and spends
// the budget if it may not.
func (b *Budget) Holds(bytes int) bool {
	if most := leastRoom + roomPerByte*b.text; b.err == nil && bytes > most {
		b.err = &GrownError{b.text, most}
	}
	return b.err == nil
}

// Err is an *ExhaustedError or a *GrownError once the budget is spent. What was
// found until then is not all there is.
func (b *Budget) Err() error { return b.err }

// ExhaustedError names an expression that took too many steps.
type ExhaustedError struct {
	Expr  string // empty: it was the search for tokens
	Bytes int    // of the text
}

func (e *ExhaustedError) Error() string {
	if e.Expr == "" {
		return fmt.Sprintf("the tokens of the tokenizer's file are too long and too much alike to be looked for in a text of %d bytes; name another tokenizer", e.Bytes)
	}
	return fmt.Sprintf("the pattern %q takes more than %d steps on a text of %d bytes, since it can match the same characters in many ways and tries them all; "+
		"write it in the tokenizer's file so that there is one way, or name another tokenizer", e.Expr, max(leastBudget, stepsPerByte*e.Bytes), e.Bytes)
}

// GrownError is of a file whose replacements make too much of a text.
type GrownError struct {
	Bytes int // of the text
	Most  int // what it may grow to
}

func (e *GrownError) Error() string {
	return fmt.Sprintf("the replacements in the tokenizer's file make more than %d bytes of a text of %d; name another tokenizer", e.Most, e.Bytes)
}
