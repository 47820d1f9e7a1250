package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"tokenmeter/base/cmdline"
	"tokenmeter/load/bench"
	"tokenmeter/record/exit"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/validity"
)

// The exit codes, as a command's errors carry them.
const (
	exitOK          = int(exit.OK)
	exitMissed      = int(exit.Missed)
	exitUsage       = int(exit.Usage)
	exitTarget      = int(exit.Target)
	exitInvalid     = int(exit.Undecided)
	exitWrite       = int(exit.Unwritten)
	exitInterrupted = int(exit.Interrupted)
)

// decided turns what was found into the error that carries its exit code: nil
// for a success that needs no words.
func decided(f exit.Facts) error {
	v := exit.Of(f)
	if v == (exit.Verdict{}) {
		return nil
	}
	return &codedError{code: int(v.Code), text: v.Says, said: v.Says == ""}
}

// objectivesOf counts objectives by what became of them. One on a figure whose
// measurement is invalid is void.
func objectivesOf(g *objective.Goodput, v *validity.Validity) (gates exit.Gates) {
	if g == nil {
		return gates
	}
	for i := range g.Objectives {
		o := &g.Objectives[i]
		gates.Add(o.State, v.Voids(g.Metrics(o)...) || v.Verdict == validity.Unknown)
	}
	return gates
}

// asked is the verdict on the figures that objectives ask for, and the check behind it;
// on the whole run where there are none. Where nothing but failed requests spoils them,
// what they made the server miss was decided.
func asked(g *objective.Goodput, v *validity.Validity) (verdict, because string) {
	verdict = v.Verdict
	if g == nil || verdict != validity.Invalid {
		return verdict, ""
	}
	judged, missed, failures := false, false, ""
	for i := range g.Objectives {
		o := &g.Objectives[i]
		missed = missed || o.State == "missed"
		for _, metric := range g.Metrics(o) {
			judged = true
			if v.Of(metric) != validity.Invalid {
				continue
			}
			if c, ok := v.Why(metric); ok {
				because = fmt.Sprintf("the measurement is invalid for %s (%s), see the checks above", metric, c.Name)
			}
			if v.Voids(metric) {
				return validity.Invalid, because
			}
			failures = cmp.Or(failures, because)
		}
	}
	switch {
	case failures != "" && !missed:
		return validity.Invalid, failures
	case judged:
		return validity.Suspect, "" // invalid for figures that nobody asked for, or by the server's doing
	}
	return verdict, ""
}

// worse keeps the error that decides the exit code: the first one that is a
// failure, or else the first that has something to say.
func worse(first, next error) error {
	switch {
	case next == nil:
		return first
	case first == nil, exitCode(first) == exitOK && (exitCode(next) != exitOK || errors.Is(first, syscall.EPIPE)):
		return next
	}
	return first
}

// strictInCI makes --strict the default of a command that has it where CI is
// set: a gate that nobody looks at must not pass because nothing was decided.
func (a *app) strictInCI(line *cmdline.Line) {
	strict := cmdline.Field(line.Command.Target, "strict")
	if strict == nil || line.Given("strict") {
		return
	}
	if ci, set := a.env("CI"); set && ci != "" && ci != "0" && !strings.EqualFold(ci, "false") {
		_ = strict.Set("true")
	}
}

// codedError carries an exit code that no error stands for by its type. said means
// that the words have been printed already.
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
	return fmt.Sprintf("cannot write to stdout: %v", cause(e.err))
}

func (e *outputError) Unwrap() error { return e.err }

// exitCode turns an error into one of them; docs/bench.md says what each means.
func exitCode(err error) int {
	var coded *codedError
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
	case errors.As(err, &target) && target.Limit:
		return exitMissed
	case errors.As(err, &target) && !target.Own:
		return exitTarget
	}
	return exitUsage // a command line, a file or a machine that does not do
}
