//go:build !lean

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// block is a fenced block of a document, with the line before it.
type block struct {
	file, language, before, text string
	line                         int
}

func blocksOf(t *testing.T, file string) (all []block) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	var open *block
	before := ""
	for i, line := range strings.Split(string(data), "\n") {
		switch language, fence := strings.CutPrefix(line, "```"); {
		case fence && open == nil:
			open = &block{file: file, language: language, before: before, line: i + 1}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case line != "":
			before = line
		}
	}
	return all
}

// commandsOf are the command lines of a block, without comments and with their
// continuations joined.
func (b block) commands() (lines []string) {
	for _, line := range strings.Split(strings.ReplaceAll(b.text, "\\\n", " "), "\n") {
		if line, _, _ = strings.Cut(line, "  #"); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	return lines
}

// documented are the documents that show commands.
func documented(t *testing.T) []string {
	t.Helper()
	files := []string{"README.md", "CONTRIBUTING.md", "benchmarks/README.md", "examples/dashboards/README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/recipes/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range found {
			files = append(files, strings.TrimPrefix(filepath.ToSlash(f), "../../"))
		}
	}
	return files
}

// ours is the part of a shell's line that is one call of tokenmeter.
var ours = regexp.MustCompile(`(?:^|[\s;(])(?:\./)?tokenmeter ((?:'[^']*'|"[^"]*"|[^|>;&<'"])*)|go run (?:-tags lean )?\./cmd/tokenmeter ((?:'[^']*'|"[^"]*"|[^|>;&<'"])*)`)

var shellWord = regexp.MustCompile(`(?:[^\s'"]|'[^']*'|"[^"]*")+`)

// unfinished are errors of a command that a sentence only names.
var unfinished = regexp.MustCompile(`expected |missing flags|there is no value`)

func argumentsOf(line string) []string {
	var args []string
	for _, w := range shellWord.FindAllString(line, -1) {
		args = append(args, strings.NewReplacer(`"`, "", `'`, "").Replace(w))
	}
	return args
}

// Every command that a document or a help text shows is one that the command
// line takes.
func TestDocumentedCommandsParse(t *testing.T) {
	parses := func(t *testing.T, where, line string, whole bool) {
		t.Helper()
		args := argumentsOf(line)
		if len(args) == 0 || strings.ContainsRune(line, '…') || strings.HasPrefix(args[0], "<") {
			return
		}
		args = customary(args)
		if slices.Contains(args, "--help") {
			args = args[:1]
		}
		if _, err := newParser().Parse(args); err != nil && (whole || !unfinished.MatchString(err.Error())) {
			t.Errorf("%s: tokenmeter %s: %v", where, line, err)
		}
	}
	inline := regexp.MustCompile("`tokenmeter ([a-z][^`]*)`")
	n := 0
	for _, file := range documented(t) {
		for _, b := range blocksOf(t, file) {
			for _, line := range b.commands() {
				for _, m := range ours.FindAllStringSubmatch(line, -1) {
					if b.language == "sh" {
						parses(t, fmt.Sprintf("%s:%d", file, b.line), m[1]+m[2], true)
						n++
					}
				}
			}
		}
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inline.FindAllStringSubmatch(string(data), -1) {
			parses(t, file, strings.Join(strings.Fields(m[1]), " "), false)
			n++
		}
	}
	if n < 80 {
		t.Errorf("only %d commands were found", n)
	}
	for _, command := range newParser().Leaves() {
		for _, line := range strings.Split(command.Detail, "\n") {
			if m := ours.FindStringSubmatch(line); m != nil && strings.HasPrefix(line, "    ") {
				parses(t, command.Path()+" --help", m[1], true)
			}
		}
	}
}

// pages are the documents whose commands are run, one after the other as a
// reader would type them, against simulated servers.
var pages = []string{"README.md", "docs/bench.md", "docs/compare.md", "docs/slo.md", "docs/proxy.md", "docs/telemetry.md",
	"docs/recipes/measure-ttft.md", "docs/recipes/gate-a-deploy.md", "docs/recipes/find-capacity.md", "docs/recipes/watch-production.md"}

// shorter makes a command take seconds where the document's takes minutes.
// Nothing else about it is changed but ports.
var shorter = []struct {
	expression *regexp.Regexp
	by         string
}{
	{regexp.MustCompile(`--requests \d+`), "--requests 12"},
	{regexp.MustCompile(`--duration \S+`), "--duration 1s"},
	{regexp.MustCompile(`--repeat \d+`), "--repeat 2"},
	{regexp.MustCompile(`(--interleave \S+)$`), "$1 --repeat 2"},
	{regexp.MustCompile(`--output-tokens \S+`), ""},
	{regexp.MustCompile(`--input-tokens \S+`), ""},
	{regexp.MustCompile(`\d+\.\.\d+`), "1..2"},
	{regexp.MustCompile(`--preset \S+`), "--preset default"},
	{regexp.MustCompile(`(tokenmeter (?:bench|sweep) http\S+|tokenmeter bench --demo)`), "$1 --output-tokens 6 --input-tokens 32 --grace 5s"},
	{regexp.MustCompile(`(tokenmeter sweep \S+)`), "$1 --settle 0"},
	{regexp.MustCompile(`--settle 0(.*) --find`), "$1 --find --max-time 8s --to 50"},
}

// elsewhere are lines that need what a test has not: a vendor, a program, the
// repository, the minutes that a published method takes.
var elsewhere = regexp.MustCompile(`https://api\.|(^| )go (run|test|build)|^bash |^promtool |…|--method`)

// stays are commands that end when they are told to.
var stays = regexp.MustCompile(`^tokenmeter (sim|proxy|serve)\b`)

// may be missed or open on a machine that is busy with something else.
var judged = regexp.MustCompile(`--objective|--gate|--strict|--min-budget|slo check`)

func TestDocumentedCommandsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the documents' shell is that of Unix")
	}
	for _, file := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			t.Parallel()
			newReader(t).follow(t, file)
		})
	}
}

// reader is somebody with an empty folder and a document.
type reader struct {
	dir     string
	ports   *strings.Replacer
	serving map[string]func() // by address: how to end it
}

func newReader(t *testing.T) *reader {
	t.Helper()
	var pairs []string
	for _, port := range []string{"8000", "8001", "8088", "9464"} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, free, _ := net.SplitHostPort(ln.Addr().String())
		ln.Close()
		pairs = append(pairs, "127.0.0.1:"+port, "127.0.0.1:"+free, "localhost:"+port, "127.0.0.1:"+free)
	}
	pairs = append(pairs, "URL_A", pairs[1], "URL_B", pairs[5])
	return &reader{t.TempDir(), strings.NewReplacer(pairs...), map[string]func(){}}
}

// follow does what the document says: writes its named files, starts its
// servers, types its commands.
func (r *reader) follow(t *testing.T, file string) {
	blocks := blocksOf(t, file)
	r.prepare(t, file, blocks)
	for _, b := range blocks {
		if b.language != "sh" {
			if name := regexp.MustCompile("^`([a-z.-]+)`:$").FindStringSubmatch(b.before); name != nil {
				r.write(t, name[1], b.text)
			}
			continue
		}
		for _, line := range b.commands() {
			if elsewhere.MatchString(line) {
				continue
			}
			short := line
			for _, s := range shorter {
				short = s.expression.ReplaceAllString(short, s.by)
			}
			if load := regexp.MustCompile(`^tokenmeter (bench|sweep)`); load.MatchString(short) && !strings.Contains(short, "--find") && !strings.Contains(short, "--requests") && !strings.Contains(short, "--duration") {
				short += " --requests 8"
			}
			where := fmt.Sprintf("%s:%d: %s", file, b.line, line)
			if stays.MatchString(line) && !strings.Contains(line, "--check") {
				r.start(t, where, r.ports.Replace(short))
				continue
			}
			r.run(t, where, r.ports.Replace(short))
		}
	}
}

// prepare gives what a document takes for granted: two servers, runs, a daemon
// with its history.
func (r *reader) prepare(t *testing.T, file string, blocks []block) {
	has := func(text string) bool {
		return slices.ContainsFunc(blocks, func(b block) bool { return b.language == "sh" && strings.Contains(b.text, text) })
	}
	if file == "README.md" {
		r.take(t, "examples/deploy/tokenmeter.yaml", "../../examples/deploy/tokenmeter.yaml")
		r.take(t, "profile_export.jsonl", "../../record/imports/testdata/aiperf.jsonl")
	}
	for _, port := range []string{"8000", "8001"} {
		if !has("tokenmeter sim") || !has("sim --listen 127.0.0.1:"+port) && !has("127.0.0.1:"+port) {
			r.start(t, file, r.ports.Replace("tokenmeter sim --listen 127.0.0.1:"+port))
		}
	}
	if has("runs/A") || has(" A B") || has("slo check RUN") || has("runs/X") {
		r.run(t, file, r.ports.Replace("tokenmeter sim --listen 127.0.0.1:0 & sim=$!; tokenmeter bench --demo --requests 8 --capture --out runs/A; kill $sim"))
		r.run(t, file, "for run in X B pr-1; do cp -r runs/A runs/$run; done; for run in A B A1 A2 A3 A4 B1 B2 B3 B4 RUN; do cp -r runs/A $run; done; tokenmeter compare --save-baseline main.json A")
	}
	if file == "docs/slo.md" {
		r.write(t, "tokenmeter.yaml", `listeners: [{listen: 127.0.0.1:8088}]
upstreams: [{name: server, url: "http://127.0.0.1:8000"}]
routes: [{name: all, upstreams: [{name: server}]}]
store: history.db
slo:
  objectives:
    - {name: chat-tpot, objective: p99 tpot < 120ms, window: 28d}
`)
		r.start(t, file, r.ports.Replace("tokenmeter serve -c tokenmeter.yaml --listen 127.0.0.1:8088"))
		r.run(t, file, "until tokenmeter slo report -c tokenmeter.yaml --store history.db; do sleep 0.2; done")
	}
}

// take copies a file of the repository.
func (r *reader) take(t *testing.T, name, from string) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(from))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(r.dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	r.write(t, name, string(data))
}

func (r *reader) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(r.ports.Replace(text)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r *reader) shell(ctx context.Context, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, "bash", "-c", "set -o pipefail; "+line)
	c.Dir = r.dir
	c.WaitDelay = 5 * time.Second
	return c
}

// run types a command and looks whether it did what it says.
func (r *reader) run(t *testing.T, where, line string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := r.shell(ctx, line).CombinedOutput()
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	allowed := []int{exitOK}
	if judged.MatchString(line) {
		allowed = []int{exitOK, exitMissed, exitInvalid}
	}
	busy := code == exitUsage && strings.Contains(string(out), "the runs can't be compared") && strings.Contains(string(out), "invalid measurement")
	if !slices.Contains(allowed, code) && !busy {
		t.Errorf("%s\n  as %s\n  exit code %d\n%s", where, line, code, out)
	}
	for _, m := range regexp.MustCompile(`--(?:out|html) ([^\s;]+)`).FindAllStringSubmatch(line, -1) {
		if _, err := os.Stat(filepath.Join(r.dir, m[1])); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// start starts a server and waits until it listens.
func (r *reader) start(t *testing.T, where, line string) {
	t.Helper()
	listen := regexp.MustCompile(`--listen (127\.0\.0\.1:\d+)`).FindStringSubmatch(line)
	address := r.ports.Replace("127.0.0.1:8088")
	if listen != nil {
		address = listen[1]
	}
	if strings.HasPrefix(line, "tokenmeter proxy") {
		line += " --listen " + address + r.ports.Replace(" --metrics-listen 127.0.0.1:9464")
	}
	line = strings.Replace(line, "tokenmeter.yaml --listen "+address, "tokenmeter.yaml", 1)
	if end := r.serving[address]; end != nil {
		end() // Ctrl-C
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := r.shell(ctx, "exec "+line)
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { c.Wait(); close(done) }()
	r.serving[address] = func() { cancel(); <-done }
	t.Cleanup(r.serving[address])
	for {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-done:
			t.Fatalf("%s\n  as %s\n  ended at once: %s", where, line, out.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
