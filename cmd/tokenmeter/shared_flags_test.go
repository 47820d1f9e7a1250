package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// Every command takes the shared flags, so that a script can give them to all.
func TestEveryCommandTakesTheSharedFlags(t *testing.T) {
	leaves := 0
	for _, node := range newParser().Leaves() {
		leaves++
		var have []string
		for _, f := range node.Visible() {
			have = append(have, f.Name)
		}
		for _, want := range []string{"format", "quiet", "no-color", "log-level"} {
			if !slices.Contains(have, want) {
				t.Errorf("%s has no --%s", node.Path(), want)
			}
		}
		if _, ok := node.Target.(command); !ok {
			t.Errorf("%s does not run, or does not embed the shared flags", node.Path())
		}
	}
	if leaves < 14 {
		t.Errorf("only %d commands", leaves)
	}
}

func TestLevelsOfStderr(t *testing.T) {
	for _, c := range []struct {
		flags sharedFlags
		want  string
	}{
		{sharedFlags{}, "said\nwarned\nnoted\n"},
		{sharedFlags{LogLevel: "info"}, "said\nwarned\nnoted\n"},
		{sharedFlags{LogLevel: "warn"}, "said\nwarned\n"},
		{sharedFlags{LogLevel: "error"}, "said\n"},
		{sharedFlags{Quiet: true, LogLevel: "info"}, "said\n"},
	} {
		var stderr strings.Builder
		a := &app{stderr: &stderr, flags: c.flags}
		a.say("said")
		a.warn("warned")
		a.note("noted")
		if stderr.String() != c.want {
			t.Errorf("%+v: %q, want %q", c.flags, stderr.String(), c.want)
		}
	}
}

// A wrong word is refused everywhere, also where the flag changes nothing.
func TestSharedFlagsAreChecked(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, args := range [][]string{{"version", "--log-level", "loud"}, {"explain", "--format", "pdf"}} {
		var stderr strings.Builder
		if code := Main(args, io.Discard, &stderr, none); code != exitUsage || !strings.Contains(stderr.String(), ": choose ") {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
	if code := Main([]string{"version", "-q", "--no-color", "--log-level", "warn", "--format", "json"}, io.Discard, io.Discard, none); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
