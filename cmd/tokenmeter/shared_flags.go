package main

// sharedFlags are the flags that every command takes, so that a script can give
// them to all. Where one changes nothing it is taken all the same.
type sharedFlags struct {
	Format   string `group:"output" placeholder:"FORM" help:"What goes to stdout: table, markdown, json or csv. Default: table. Every command takes it; where there is no choice it changes nothing (export and doctor refuse forms that they do not have)."`
	Quiet    bool   `short:"q" group:"output" help:"Nothing on stderr but errors: no progress, no notes."`
	NoColor  bool   `group:"output" help:"No colours, whatever the terminal can show. NO_COLOR does the same."`
	LogLevel string `group:"output" placeholder:"LEVEL" help:"What stderr tells: error (no warnings), warn or info (also which API was detected). Default: info."`
}

// shared makes the flags of any command known.
func (f *sharedFlags) shared() *sharedFlags { return f }

// collector is a command that tells what is wrong with the shared flags
// together with everything else that is wrong.
type collector interface{ collects() }

func (benchCmd) collects()   {}
func (compareCmd) collects() {}
func (doctorCmd) collects()  {}

// takeShared sets what the shared flags of the chosen command say.
func (a *app) takeShared(chosen command) error {
	a.flags = *chosen.shared()
	if _, ok := chosen.(collector); ok {
		return nil
	}
	var check checker
	a.flags.checkShared(&check, forms...)
	return check.err()
}

var logLevels = []string{"error", "warn", "info"}

// forms are those of most results.
var forms = []string{"table", "markdown", "json", "csv"}

// checkShared checks the words. The command has these forms.
func (f *sharedFlags) checkShared(check *checker, forms ...string) {
	check.choice("--log-level", f.LogLevel, logLevels...)
	check.choice("--format", f.Format, forms...)
}

// warnings reports whether stderr gets warnings.
func (f *sharedFlags) warnings() bool { return !f.Quiet && f.LogLevel != "error" }

// notes reports whether stderr gets what is no more than good to know.
func (f *sharedFlags) notes() bool { return f.warnings() && f.LogLevel != "warn" }
