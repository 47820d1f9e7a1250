package objective

import (
	"fmt"
	"strings"

	"tokenmeter/base/printable"
)

// Error is one thing that is wrong with an objective's text.
type Error struct {
	Text   string // the whole objective
	Column int    // from 1, in characters
	What   string
	Hint   string // what to write instead; may be empty
}

// Error names the place and what to do.
func (e *Error) Error() string {
	text := fmt.Sprintf("objective %q, column %d: %s", printable.Short(e.Text, longestQuote), e.Column, e.What)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// longestQuote is how many bytes an error quotes of an objective.
const longestQuote = 200

// Errors are all that is wrong with a list of objectives.
type Errors []error

// Error lists them, a line each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As look inside.
func (e Errors) Unwrap() []error { return e }
