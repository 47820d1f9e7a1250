//go:build !lean

package main

import (
	"errors"
	"os"
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
	// What is to be typed is of somebody else's folder: nothing of it is an order to a shell.
	m.Command = []string{"tokenmeter", "bench", "http://h:1", "--name", "x;reboot", "--before-point", "a 'b'"}
	if _, err := again(m, nil); err == nil || !strings.Contains(err.Error(), `tokenmeter bench http://h:1 --name 'x;reboot' --before-point 'a '\''b'\'''`) {
		t.Errorf("the command to type: %v", err)
	}
	m.Command = []string{"tokenmeter", "import", "f.json"}
	if _, err := again(m, nil); err == nil || !strings.Contains(err.Error(), "no load to repeat") {
		t.Errorf("an import: %v", err)
	}
}

// A folder may come from anybody: it does not decide which keys and files of this
// machine are sent where, nor who may read them on their way.
func TestAgainSendsNothingOfOurs(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, to := range map[string]string{"linked.txt": "/etc/passwd", "up.txt": "../x", "other.txt": "prompts.txt"} {
		if err := os.Symlink(to, name); err != nil {
			t.Skip(err)
		}
	}
	for _, dir := range []string{"evil", "evil/pics", "plain", ".hid"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile("prompts.txt", nil, 0o600), os.WriteFile("../x", nil, 0o600), os.WriteFile("evil/p.jsonl", nil, 0o600),
		os.WriteFile("plain/a.png", nil, 0o600), os.WriteFile(".hid/a.png", nil, 0o600),
		os.Symlink("../../../x", "evil/pics/a.png"), os.Symlink("../..", "evil/up"), os.Symlink("../../x", "evil/l.txt")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags, more []string
		refused     string
	}{
		{[]string{"--api-key-file", "/home/u/.ssh/id_rsa"}, nil, "--api-key-file /home/u/.ssh/id_rsa"},
		{[]string{"--api-key-env=AWS_SECRET_ACCESS_KEY"}, nil, "--api-key-env AWS_SECRET_ACCESS_KEY"},
		{[]string{"--api-key-env=AWS_SECRET_ACCESS_KEY"}, []string{"--api-key-env", "MINE"}, ""},
		{[]string{"--api-key-env=AWS_SECRET_ACCESS_KEY"}, []string{"--api-key-file", "mine"}, ""},
		{[]string{"--telemetry", "http://evil:4318", "--telemetry", "http://evil:4319"}, []string{"--telemetry", "http://mine:4318"}, ""},
		{[]string{"--telemetry", "http://evil:4318"}, nil, "--telemetry http://evil:4318"},
		{[]string{"--telemetry-key-env", "MINE"}, nil, "--telemetry-key-env"},
		{[]string{"--insecure", "--proxy", "http://evil"}, nil, "--insecure and --proxy http://evil"},
		{[]string{"--ca-file=evil.pem"}, nil, "--ca-file"},
		{[]string{"--cert", "mine.pem", "--key=mine.key"}, nil, "--cert mine.pem and --key mine.key"},
		{[]string{"--prompts", "/etc/passwd"}, nil, "--prompts /etc/passwd"},
		{[]string{"--prompts", "../x"}, nil, "--prompts"},
		{[]string{"--prompts", "linked.txt"}, nil, "--prompts"},
		{[]string{"--prompts", "up.txt"}, nil, "--prompts"},
		{[]string{"--prompts", "other.txt"}, nil, ""},
		{[]string{"--check", ".ssh/id_rsa"}, nil, "--check"},
		{[]string{"--audio=a/../.b"}, nil, "--audio"},
		{[]string{"--prompts", "./prompts.txt", "--images", "2x640x480", "--workload", "cloud-chat", "--check=q/a.jsonl"}, nil, ""},
		{[]string{"--workload", "evil.yaml"}, nil, "--workload evil.yaml"},
		{[]string{"--workload", "mine.yaml"}, []string{"--workload=mine.yaml"}, ""},
		{[]string{"--workload", "/var/log/x.jsonl"}, nil, "--workload"},
		{[]string{"--scenario", "edge", "--set", "judge.api_key_env=AWS_SECRET_ACCESS_KEY"}, nil, "--set judge.api_key_env"},
		{[]string{"--scenario", "edge", "--set=prompts=/etc/passwd"}, nil, "--set"},
		{[]string{"--scenario", "edge", "--set=prefix.tokens=512"}, nil, ""},
		// Folders and patterns are what they lead to, and files are found beside the workload too.
		{[]string{"--images", "evil/pics"}, nil, "--images evil/pics"},
		{[]string{"--audio", "evil/pics"}, nil, "--audio"},
		{[]string{"--images", "evil/u?/*"}, nil, "--images"},
		{[]string{"--images", "evil/u[p]"}, nil, "--images"},
		{[]string{"--images", "[.]hid/*.png"}, nil, "--images"},
		{[]string{"--video", "*hid"}, nil, "--video"},
		{[]string{"--images", "plain"}, nil, ""},
		{[]string{"--images", "pl*/*.png"}, nil, ""},
		{[]string{"--workload", "evil/p.jsonl", "--set", "file=l.txt"}, nil, "--set file=l.txt"},
		{[]string{"--workload=evil/p.jsonl", "--set=images.files=pics"}, nil, "--set images.files=pics"},
		{[]string{"--workload", "evil/p.jsonl", "--set", "file=p.jsonl"}, nil, ""},
		{[]string{"--input-tokens", "file:/etc/passwd"}, nil, "--input-tokens"},
		{[]string{"--isl=file:linked.txt"}, nil, "--isl"},
		{[]string{"--isl=file:prompts.txt", "--batch", "2", "--output-tokens=40%:512/128"}, nil, ""},
	} {
		m := &run.Run{Command: append([]string{"tokenmeter", "bench", "http://evil:1"}, c.flags...)}
		args, err := again(m, c.more)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%q: %q, %v, want %q refused", c.flags, args, err, c.refused)
			}
			continue
		}
		joined := strings.Join(args, " ")
		if err != nil || strings.Contains(joined, "AWS") || strings.Contains(joined, "evil:43") {
			t.Errorf("%q, %q: %q, %v", c.flags, c.more, args, err)
		}
	}
}
