//go:build !lean

package main

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The help of every command fits a screen and shows three examples that are commands.
func TestHelpOfEveryCommand(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, command := range newParser().Leaves() {
		name := command.Path()
		var page, more, errs bytes.Buffer
		if Main(append(strings.Fields(name), "--help"), &page, &errs, none) != 0 || Main(append(strings.Fields(name), "--help-all"), &more, &errs, none) != 0 {
			t.Fatal(errs.String())
		}
		if n := strings.Count(page.String(), "\n"); n > firstScreen {
			t.Errorf("%s --help has %d lines:\n%s", name, n, page.String())
		}
		examples := 0
		for line := range strings.Lines(page.String()) {
			rest, is := strings.CutPrefix(line, "    tokenmeter ")
			if !is {
				continue
			}
			examples++
			args := argumentsOf(strings.TrimSpace(rest))
			if got, err := newParser().Parse(args); err != nil || got.Command.Path() != command.Path() {
				t.Errorf("%s --help: %s: %v", name, strings.TrimSpace(line), err)
			}
		}
		if examples < 3 {
			t.Errorf("%s --help has %d examples:\n%s", name, examples, page.String())
		}
		// What the first screen has no room for, the whole help has.
		for _, f := range command.Visible() {
			if !strings.Contains(more.String(), "--"+f.Name) && !strings.Contains(more.String(), "]"+f.Name) {
				t.Errorf("%s --help-all lacks --%s", name, f.Name)
			}
		}
	}
}

// What a lean build leaves out is what it is said to.
func TestLeanLacks(t *testing.T) {
	var want []string
	for _, part := range []any{service{}, rare{}, besideFlags{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(part)) {
			name := strings.ToLower(f.Name)
			if flag := f.Tag.Get("name"); flag != "" && f.Tag.Get("group") != "" {
				name = "--" + flag
			}
			want = append(want, name)
		}
	}
	if !lean && !slices.Equal(want, leanLacks) {
		t.Errorf("%v are left out, and %v are said to be", want, leanLacks)
	}
}
