package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"tokenmeter/base/cmdline"
	"tokenmeter/base/printable"
	"tokenmeter/load/method"
	"tokenmeter/load/workload"
	"tokenmeter/record/export"
	"tokenmeter/record/imports"
	"tokenmeter/record/metric/lens"
	"tokenmeter/wire/tokens"
)

// version is set when a release is built: -ldflags "-X main.version=v1.2.3".
var version = "dev"

// app is what a command sees of the outside.
type app struct {
	stdout, stderr io.Writer
	env            func(string) (string, bool)
	args           []string    // as typed, without the program's name
	flags          sharedFlags // of the command that runs
}

// commands is the command line: one field a command, one file a command.
// Those of the service are apart, because what they need takes long to build.
type commands struct {
	Bench      benchTurnsCmd `cmd:"" help:"Load a server, record every token's arrival, summarise."`
	Sweep      sweepCmd      `cmd:"" help:"Load a server at a range of loads or lengths; finds the best load that meets the objectives."`
	Compare    compareCmd    `cmd:"" help:"Say what differs between runs and whether it is real; gates for CI."`
	Report     reportCmd     `cmd:"" help:"Show a run on the terminal, as Markdown, JSON, CSV or one HTML file."`
	Import     importCmd     `cmd:"" help:"Make a run of another tool's result file."`
	Export     exportCmd     `cmd:"" help:"Write the records of a run in another form."`
	Analyze    analyzeCmd    `cmd:"" help:"Measure recorded raw streams anew, without a server."`
	rare       `embed:""`
	Doctor     doctorCmd  `cmd:"" help:"Look at this machine, and at a server, for what would spoil a measurement."`
	Explain    explainCmd `cmd:"" help:"Say what a metric, outcome, flag, check or warning means."`
	service    `embed:""`
	Sim        simCmd        `cmd:"" help:"Run a simulated inference server that knows the truth."`
	Tokens     tokensCmd     `cmd:"" help:"Count the tokens of texts with a named tokenizer."`
	Workload   workloadCmd   `cmd:"" help:"Show or check what a workload will send, and when."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Licenses   licensesCmd   `cmd:"" help:"Print the licences of what others wrote and the binary holds."`
	Completion completionCmd `cmd:"" help:"Print a completion script for bash, zsh or fish."`
}

const about = `Measures LLM inference servers: TTFT, TPOT, ITL, throughput and goodput, from the arrival of every token.

    tokenmeter bench http://localhost:8000    measure a server
    tokenmeter bench --demo                   measure a simulated one`

// Main runs one command line and returns the exit code.
func Main(args []string, stdout, stderr io.Writer, env func(string) (string, bool)) (code int) {
	a := &app{stdout: output{stdout}, stderr: stderr, env: env, args: args}
	args, all := wholeHelp(customary(args))
	line, err := newParser().Parse(args)
	if err != nil {
		return a.fail("tokenmeter", cmp.Or(lacking(args), withHelp(err)))
	}
	if line.Help {
		_, err := io.WriteString(a.stdout, helpOf(line.Command, all, a.columns()))
		return a.fail("tokenmeter", err)
	}
	name := "tokenmeter " + line.Command.Path()
	if err := emptyFlags(line); err != nil {
		return a.fail(name, err)
	}
	chosen := line.Command.Target.(command)
	if err := a.takeShared(chosen); err != nil {
		return a.fail(name, err)
	}
	a.strictInCI(line)
	a.calmStdout(chosen)
	return a.fail(name, chosen.Run(a))
}

// command is a command that has none below it.
type command interface {
	Run(*app) error
	shared() *sharedFlags
}

// instead runs another command line in the place of this one, whose exit code is ours.
func (a *app) instead(args []string) error {
	if code := Main(args, a.stdout, a.stderr, a.env); code != exitOK {
		return &codedError{code: code, said: true}
	}
	return nil
}

// calmStdout keeps what servers and names say in a form without colours of its
// own from acting on a terminal. Records have writers of their own, and may be
// binary.
func (a *app) calmStdout(chosen command) {
	if _, records := chosen.(*exportCmd); records {
		return
	}
	switch a.flags.Format {
	case "json":
		a.stdout = output{printable.JSONWriter(a.stdout)}
	case "csv", "markdown":
		a.stdout = output{printable.LinesWriter(a.stdout)}
	}
}

// emptyFlags refuses flags without a value: --requests "$N" must not measure
// something else because a script's variable is not set.
func emptyFlags(line *cmdline.Line) error {
	var check checker
	for _, f := range line.Flags {
		if f.Empty() {
			check.addf("--%s: the value is empty; leave the flag out for its default", f.Name)
		}
	}
	return check.err()
}

func newParser() *cmdline.Program {
	return cmdline.New(cmdline.Program{
		Program: "tokenmeter",
		Command: cmdline.Command{Help: about},
		Groups:  slices.Concat(benchGroups, compareGroups, simGroups),
		Vars: map[string]func() string{"export_forms": export.Names, "import_tools": imports.Names, "apis": apiNames, "lenses": listed(lens.Names),
			"tokenizer": func() string { return tokens.Default }, "tokenizers": listed(tokens.Names),
			"scenarios": listed(workload.ScenarioNames), "methods": listed(method.Names)},
	}, &commands{})
}

func listed(names func() []string) func() string {
	return func() string { return strings.Join(names(), ", ") }
}

// customary lets people ask for help and the version as they do elsewhere.
func customary(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// withHelp adds where to look to an error of the parser.
func withHelp(err error) error {
	var parse *cmdline.Error
	path := ""
	if errors.As(err, &parse) && parse.Command.Path() != "" {
		path = parse.Command.Path() + " "
	}
	return fmt.Errorf("%w; see tokenmeter %s--help", err, path)
}

// fail reports an error, one line a cause, and returns the exit code.
func (a *app) fail(command string, err error) int {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return exitCode(err)
	}
	if exitCode(err) == exitOK && !a.flags.warnings() {
		return exitOK
	}
	for _, line := range causes(err) {
		fmt.Fprintf(a.stderr, "%s: %s\n", command, printable.Text(line))
	}
	return exitCode(err)
}

// causes are the lines of an error: several wrong flags are several lines.
func causes(err error) []string {
	var code *codedError
	if errors.As(err, &code) && code.said {
		return nil
	}
	return strings.Split(strings.TrimSpace(err.Error()), "\n")
}

// say prints a line that is no result, whatever the flags say.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.stderr, printable.Lines(fmt.Sprintf(format, args...)))
}

// warn prints what the user should know.
func (a *app) warn(format string, args ...any) {
	if a.flags.warnings() {
		a.say(format, args...)
	}
}

// note prints what is good to know: where a file went, where a server listens.
func (a *app) note(format string, args ...any) {
	if a.flags.notes() {
		a.say(format, args...)
	}
}
