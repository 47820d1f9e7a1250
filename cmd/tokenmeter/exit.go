package main

import (
	"errors"
	"syscall"

	"tokenmeter/bench"
	"tokenmeter/run"
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

// exitCode turns an error into the exit code of the contract.
func exitCode(err error) int {
	var coded *codedError
	var usage *usageError
	var plan *bench.UsageError
	var exists *run.ExistsError
	var target *bench.TargetError
	var write *run.WriteError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK // whoever reads stdout has seen enough
	case errors.Is(err, bench.ErrInterrupted):
		return exitInterrupted
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &write):
		return exitWrite
	case errors.As(err, &usage), errors.As(err, &plan), errors.As(err, &exists), errors.Is(err, run.ErrNoRun):
		return exitUsage
	case errors.As(err, &target):
		return exitTarget
	}
	return exitUsage
}
