package bench

import (
	"errors"
	"fmt"

	"tokenmeter/base/secret"
	"tokenmeter/record/timeline"
)

// UsageError is a plan that can't be carried out as it is written (exit code 2).
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// TargetError is a server that can't be measured (exit code 3), or, with Own, one
// that this machine can't measure (exit code 2), or, with Limit, one of which more
// failed than the user allows (exit code 1).
type TargetError struct {
	URL   string
	Class timeline.Outcome
	What  string // what failed, one clear sentence
	Hint  string // what to do next; may be empty
	Own   bool   // every failure was a want of this machine: nothing is known of the server
	Limit bool   // it answered others: the run was ended by Load.MaxFailures
}

func (e *TargetError) Error() string {
	if e.Hint == "" {
		return e.What
	}
	return fmt.Sprintf("%s; %s", e.What, e.Hint)
}

// shown returns the error as it may be shown: a server may repeat the key it was
// sent, in its words or as the name of a model.
func shown(err error, red *secret.Redactor) error {
	var target *TargetError
	var usage *UsageError
	switch {
	case errors.As(err, &target):
		e := *target
		e.URL, e.What, e.Hint = red.URL(e.URL), red.String(e.What), red.String(e.Hint)
		return &e
	case errors.As(err, &usage):
		return &UsageError{errors.New(red.Error(usage.Err))}
	}
	return err
}

// ErrInterrupted is returned, beside the run, when the caller's context was
// cancelled: what was measured is saved and marked partial (exit code 130).
var ErrInterrupted = errors.New("interrupted")

// Causes of the end of a phase, internal.
var (
	errWriting = errors.New("records could not be written")
	errSilent  = errors.New("nothing answers")
)
