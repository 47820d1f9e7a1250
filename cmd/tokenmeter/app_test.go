package main

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tokenmeter/base/cmdline"
)

func TestEmptyValuesAreRefused(t *testing.T) {
	for _, args := range [][]string{{"bench", "http://h", "--requests", "", "--prompt=", "--dry-run"}, {"bench", "http://h", "--num-prompts=", "--dry-run"},
		{"export", ".", "--as="}, {"sim", "--listen", ""},
		{"sim", "--try", ","}, {"bench", "http://h", "--header=", "--header", "a: b", "--dry-run"}} {
		var stderr strings.Builder
		code := Main(args, io.Discard, &stderr, func(string) (string, bool) { return "", false })
		if code != exitUsage || !strings.Contains(stderr.String(), ": the value is empty; leave the flag out for its default") {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// full is a stdout without room.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

func TestFullStdout(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"bench", "--help"}, {"explain"}, {"explain", "tpot"}, {"version"}, {"completion", "bash"},
		{"bench", "http://h", "--model", "m", "--dry-run"}} {
		var stderr strings.Builder
		code := Main(args, full{}, &stderr, func(string) (string, bool) { return "", false })
		if code != exitWrite || !strings.Contains(stderr.String(), "cannot write to stdout: no space left on device") {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// What a file or a server is called must not act on the terminal.
func TestErrorsAreInert(t *testing.T) {
	var stderr strings.Builder
	none := func(string) (string, bool) { return "", false }
	code := Main([]string{"report", "no\x1b[2J\u202e\u009bsuch"}, io.Discard, &stderr, none)
	if code != exitUsage || strings.ContainsAny(stderr.String(), "\x1b\u202e\u009b") || !strings.Contains(stderr.String(), "no␛[2J") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

// No two flags or commands that meet on a command line have a name in common.
func TestNamesAreUnique(t *testing.T) {
	var check func(c *cmdline.Command, above []string)
	check = func(c *cmdline.Command, above []string) {
		names := slices.Clone(above)
		for _, f := range c.Flags {
			names = append(append(names, f.Name), f.Aliases...)
			if f.Short != "" {
				names = append(names, f.Short)
			}
		}
		for _, below := range c.Commands() {
			check(below, names)
		}
		slices.Sort(names)
		if n := len(names); len(slices.Compact(names)) != n {
			t.Errorf("%s: a name stands twice among %v", c.Path(), names)
		}
	}
	check(&newParser().Command, nil)
}

// The first screen of help fits one: three examples and the flags that most need. The
// others are named by --help-all.
func TestHelpHasTwoTiers(t *testing.T) {
	for _, command := range []string{"bench", "sweep"} {
		var first, all, errs bytes.Buffer
		none := func(string) (string, bool) { return "", false }
		if Main([]string{command, "--help"}, &first, &errs, none) != 0 || Main([]string{command, "--help-all"}, &all, &errs, none) != 0 {
			t.Fatal(errs.String())
		}
		if n := strings.Count(first.String(), "\n"); n > 40 || strings.Count(first.String(), "    tokenmeter "+command+" ") != 3 {
			t.Errorf("%s --help has %d lines:\n%s", command, n, first.String())
		}
		for _, flag := range []string{"--grace", "--ca-file"} {
			if strings.Contains(first.String(), flag) || !strings.Contains(all.String(), flag) {
				t.Errorf("%s: %s belongs to --help-all only", command, flag)
			}
		}
	}
}
