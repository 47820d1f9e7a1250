package cmdline

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bash itself completes commands, those below them, their flags, and the words of an argument.
func TestCompletionOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	var g grammar
	p := New(Program{Program: "prog", Vars: map[string]func() string{"kinds": func() string { return "" }}}, &g)
	file := filepath.Join(t.TempDir(), "prog.bash")
	if err := os.WriteFile(file, []byte(p.Complete("bash", Arguments{"pass": {"one", "two"}})), 0o600); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"r": "run", "more ": "need list", "more n": "need", "run --max": "--max-time", "more need --conf": "--config", "pass t": "two", "run x": "",
	} {
		words := strings.Split(typed, " ")
		script := `source "$0"; COMP_WORDS=(prog "$@"); COMP_CWORD=$#; _prog; echo "${COMPREPLY[*]}"`
		out, err := exec.Command(bash, append([]string{"--norc", "-c", script, file}, words...)...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", typed, got, err, want)
		}
	}
}

// The other shells' scripts name the same, and an unknown shell has none.
func TestCompletionOfOthers(t *testing.T) {
	var g grammar
	p := New(Program{Program: "prog", Vars: map[string]func() string{"kinds": func() string { return "" }}}, &g)
	for shell, want := range map[string][]string{
		"zsh":  {"#compdef prog", `more\ need)`, "'*--config[A file]:value:_files'", "'*:path:_files'"},
		"fish": {"__fish_seen_subcommand_from more; and __fish_seen_subcommand_from need' -l config -r -F -d 'A file'", "need list' -a need"},
	} {
		script := p.Complete(shell, Arguments{"more need": nil})
		for _, w := range want {
			if !strings.Contains(script, w) {
				t.Errorf("%s has no %q:\n%s", shell, w, script)
			}
		}
	}
	if script := p.Complete("cmd", nil); script != "" {
		t.Error(script)
	}
}
