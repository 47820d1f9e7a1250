//go:build !lean

package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// netProbeFlags are probe's flags, each with a value that differs from what is so without it.
var netProbeFlags = []netFlag{
	{"for", "1h", ""}, {"out", "elsewhere", ""}, {"suite", "suite.yaml", ""}, {"only", "light", ""}, {"prices", "prices.yaml", ""},
	{"budget-tokens", "9000", ""}, {"budget-usd", "3", "--prices prices.yaml"}, {"window", "5h", ""},
	{"api", "anthropic", ""}, {"model", "other", ""}, {"api-key-env", "KEY", ""}, {"api-key-file", "key.txt", ""}, {"header", "X-A: b", ""},
	{"ca-file", "ca.pem", ""}, {"cert", "cert.pem", ""}, {"key", "key.pem", ""}, {"insecure", "", ""}, {"proxy", "http://p:1", ""},
	{"follow-redirects", "", ""}, {"no-keepalive", "", ""}, {"http2", "", ""},
}

// Every flag of probe changes what would be asked or shown, or is refused: where a server is
// asked, and where what a folder holds is shown.
func TestNetOfProbe(t *testing.T) {
	netFiles(t)
	for name, text := range map[string]string{"suite.yaml": "probes: [{name: a, per_day: 9, input: 10, output: 3}]\n", "key.txt": "secret\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	planned := func(args ...string) (job *probeJob, refused string) {
		line, err := newParser().Parse(append([]string{"probe"}, args...))
		if err != nil {
			t.Fatal(err)
		}
		c := line.Command.Target.(*probeCmd)
		a := &app{stdout: io.Discard, stderr: io.Discard, args: args, flags: c.sharedFlags,
			env: func(name string) (string, bool) { return "k", name == "KEY" }}
		if job, err = c.plan(a); err != nil {
			return nil, err.Error()
		}
		return job, ""
	}
	line, err := newParser().Parse([]string{"probe"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range line.Command.Visible() {
		shared := slices.Contains([]string{"help", "format", "quiet", "no-color", "log-level"}, f.Name)
		if !shared && !slices.ContainsFunc(netProbeFlags, func(n netFlag) bool { return n.flag == f.Name }) {
			t.Errorf("--%s: give it a value in netProbeFlags", f.Name)
		}
	}
	for name, base := range map[string]string{"asked": "https://sim --model sim --api openai-chat", "shown": ""} {
		before, refused := planned(strings.Fields(base)...)
		if refused != "" {
			t.Fatal(refused)
		}
		for _, f := range netProbeFlags {
			if strings.Contains(base, "--"+f.flag+" "+f.value) {
				continue
			}
			with := before
			args := strings.Fields(base + " " + f.with)
			if f.with != "" {
				with, _ = planned(args...)
			}
			if args = append(args, "--"+f.flag); f.value != "" {
				args = append(args, f.value)
			}
			after, refused := planned(args...)
			if refused == "" && cmp.Equal(with, after, netSame) {
				t.Errorf("%s: --%s %s: nothing differs", name, f.flag, f.value)
			}
			if shows := f.flag == "out" || f.flag == "window"; name == "shown" && shows != (refused == "") {
				t.Errorf("shown: --%s %s: %q", f.flag, f.value, refused)
			}
		}
	}
}
