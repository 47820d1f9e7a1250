package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"tokenmeter/load/bench"
	"tokenmeter/record/run"
)

// The exit codes, all of them. Never a count of failures.
const (
	exitOK          = 0
	exitMissed      = 1 // an objective or a gate failed
	exitUsage       = 2 // wrong usage or configuration
	exitTarget      = 3 // the target failed
	exitInvalid     = 4 // the measurement is invalid and --strict was given
	exitWrite       = 5 // results could not be written
	exitInterrupted = 130
)

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// codedError carries the exit code of a result that is no failure of the
// program. said means that the words have been printed already.
type codedError struct {
	code int
	text string
	said bool
}

func (e *codedError) Error() string { return e.text }

// output is stdout. It tells its own failures from those of the work.
type output struct{ io.Writer }

func (o output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		err = &outputError{err}
	}
	return n, err
}

// outputError says that stdout took no more.
type outputError struct{ err error }

func (e *outputError) Error() string {
	err := e.err
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Sprintf("cannot write to stdout: %v", err)
}

func (e *outputError) Unwrap() error { return e.err }

// exitCode turns an error into one of them; docs/bench.md says what each means.
func exitCode(err error) int {
	var coded *codedError
	var usage *usageError
	var plan *bench.UsageError
	var exists *run.ExistsError
	var target *bench.TargetError
	var write *run.WriteError
	var out *outputError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK // whoever reads stdout has seen enough
	case errors.Is(err, bench.ErrInterrupted):
		return exitInterrupted
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &write), errors.As(err, &out):
		return exitWrite
	case errors.As(err, &usage), errors.As(err, &plan), errors.As(err, &exists), errors.Is(err, run.ErrNoRun):
		return exitUsage
	case errors.As(err, &target):
		return exitTarget
	}
	return exitUsage
}
