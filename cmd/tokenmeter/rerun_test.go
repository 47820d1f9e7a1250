//go:build !lean

package main

import (
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/run"
)

func TestAgain(t *testing.T) {
	m := &run.Run{Command: []string{"tokenmeter", "bench", "http://h:1", "--requests", "4", "--out", "old", "--force", "--tag=a=b"}}
	m.Workload.Salt, m.Target.Model, m.Target.API = "s", "m", "openai-chat"
	args, err := again(m, []string{"--out=new"})
	want := []string{"bench", "http://h:1", "--requests", "4", "--tag=a=b", "--salt=s", "--model=m", "--api=openai-chat", "--out=new"}
	if err != nil || !slices.Equal(args, want) {
		t.Errorf("%q, %v", args, err)
	}
	if args, _ := again(m, []string{"--salt", "x", "--model=n"}); given(args[1:6], "--salt") || given(args[:6], "--model=m") {
		t.Errorf("what is given is not pinned: %q", args)
	}
	m.Command = append(m.Command, "--header", "X-Auth: ***")
	if _, err := again(m, nil); err == nil || !strings.Contains(err.Error(), "--header X-Auth: ***") {
		t.Errorf("a secret that is gone: %v", err)
	}
	if _, err := again(m, []string{"--out", "x"}); err == nil {
		t.Error("a secret that is gone was left out without a word")
	}
	if args, err := again(m, []string{"--header", "X-Auth: new"}); err != nil || strings.Contains(strings.Join(args, " "), "***") {
		t.Errorf("a secret that is given again: %q, %v", args, err)
	}
	m.Command = []string{"tokenmeter", "bench", "https://h/?key=***"}
	if _, err := again(m, nil); err == nil {
		t.Error("a URL without its key")
	}
	if args, err := again(m, []string{"https://h/?key=new"}); err != nil || !slices.Contains(args, "https://h/?key=new") || slices.Contains(args, "https://h/?key=***") {
		t.Errorf("a URL given again: %q, %v", args, err)
	}
	m.Command = []string{"tokenmeter", "import", "f.json"}
	if _, err := again(m, nil); err == nil || !strings.Contains(err.Error(), "no load to repeat") {
		t.Errorf("an import: %v", err)
	}
}
