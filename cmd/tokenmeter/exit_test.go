package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// What became of a server's requests, and the exit code that each command makes of
// it: the commands that ask, and those that read what was asked.
func TestExitCodesOfEveryCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	urls := map[string]string{}
	for kind, handler := range map[string]http.HandlerFunc{
		"answered":   answerer,
		"failed":     refuse(503, "no healthy upstream"),
		"unanswered": func(w http.ResponseWriter, r *http.Request) { hang(r) },
		"cut":        func(w http.ResponseWriter, r *http.Request) { token(w); hang(r) },
	} {
		s := httptest.NewServer(handler)
		s.Config.ErrorLog = quietLog()
		defer s.Close()
		urls[kind] = s.URL
	}
	none := func(string) (string, bool) { return "", false } // CI is not set
	// Who answers is asked so many times; who does not is waited for so long.
	const ask = "--model m --preflight none --server-metrics off --warmup 0 --concurrency 2 LENGTH --grace 0s"
	length := map[string]string{"answered": "--requests 20", "failed": "--requests 20", "unanswered": "--duration 300ms", "cut": "--duration 300ms"}
	const promise = "--objective p50_ttft<1h"
	for _, c := range []struct {
		command                           string // @ is the kind, URL its server, GOOD the one that answers, _ a space
		answered, failed, unanswered, cut int
	}{
		{"bench URL " + ask + " --out @", 0, 3, 3, 0},
		{"bench URL " + ask + " --out b@", 0, 3, 3, 0},
		{"bench URL " + ask + " --out o@ " + promise, 0, 3, 3, 0},
		{"bench URL " + ask + " --repeat 2 --out r@", 0, 3, 3, 0},
		{"bench GOOD --interleave URL " + ask + " --repeat 2 --gate p99_ttft<1h --out v@", 0, 3, 3, 0},
		{"bench GOOD --interleave URL " + ask + " --repeat 2 --gate p99_ttft+5% --out u@", -1, 3, 3, -1},
		// Whether a run that short is valid, this machine decides; what answered nothing failed.
		{"bench URL " + ask + " --strict --out os@ " + promise, -1, 3, 3, -1},
		{"bench URL " + ask + " --strict --repeat 2 --out rs@", -1, 3, 3, -1},
		{"bench GOOD --interleave URL " + ask + " --strict --repeat 2 --out ws@", -1, 3, 3, -1},
		{"bench URL --interleave URL " + ask + " --strict --repeat 2 --gate p99_ttft+5% --out vs@", -1, 3, 3, -1},
		{"sweep URL " + strings.Replace(ask, "--concurrency 2", "--concurrency 1,2", 1) + " --strict --settle 0s --out ss@", -1, 3, 3, -1},
		{"slo check @ --strict " + promise, -1, 3, 3, -1},
		// At 20 requests a second no 8 answers follow each other in 300 ms, so that silence decides nothing.
		{"bench GOOD --interleave URL --canary " + strings.Replace(ask, "--concurrency 2", "--rate 20 --arrival constant", 1) + " --out c@", 0, 1, 1, 0},
		{"bench URL --interleave GOOD --canary " + ask + " --out d@", 0, 3, 3, 0},
		{"rerun @ -- --out again@", 0, 3, 3, 0},
		{"sweep URL " + strings.Replace(ask, "--concurrency 2", "--concurrency 1,2", 1) + " --settle 0s --out s@", 0, 3, 3, 0},
		{"slo check @ " + promise, 0, 3, 3, 0},
		{"slo check answered @ --objective availability_>=_40%", 0, 0, 3, 0},
		{"compare answered @", 0, 3, 3, 0},
		{"compare @ answered", 0, 3, 3, 0},
		{"compare answered @ b@", 0, 3, 3, 0},
		{"compare answered @ --gate p50_ttft<1h", 0, 1, 1, 0},
		{"compare answered @ --allow invalid --gate p50_ttft+1000000%", 0, 1, 1, 0},
		{"compare @ answered --allow invalid --gate p50_ttft+1000000%", 0, 3, 3, 0},
		{"compare @ answered --gate p50_ttft+1000000%", -1, 3, 3, -1},
		{"compare @ answered --gate p50_ttft<1h", 0, 3, 3, 0},
		{"compare --save-baseline @.json @", 0, 3, 3, 0},
		// What is done with a run that is there is done, whatever is in it.
		{"merge @ b@ --out m@", 0, 0, 0, 0},
		{"slo report @ " + promise, 0, 0, 0, 0},
		{"report @", 0, 0, 0, 0},
		{"report s@", 0, 0, 0, 0},
		{"trend @", 0, 0, 0, 0},
		{"export @ --as aiperf --out @.jsonl", 0, 0, 0, 0},
		{"import @.jsonl --out i@", 0, 0, 0, 0},
		{"report i@", 0, 0, 0, 0},
	} {
		for kind, want := range map[string]int{"answered": c.answered, "failed": c.failed, "unanswered": c.unanswered, "cut": c.cut} {
			args := strings.Fields(strings.NewReplacer("@", kind, "LENGTH", length[kind], "URL", urls[kind], "GOOD", urls["answered"]).Replace(c.command))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "_", " ")
			}
			var out bytes.Buffer
			if got := Main(args, &out, &out, none); got != want && want >= 0 {
				t.Errorf("%s, %s: exit code %d, want %d\n%s", kind, c.command, got, want, out.String()[max(out.Len()-500, 0):])
			}
		}
	}
}

// gone is the pipe of a reader that has seen enough, as head and grep -q have; with GitHub's
// `shell: bash` (-o pipefail) the code is that of the command before it.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestExitCodesWhenTheReaderLeaves(t *testing.T) {
	t.Chdir(t.TempDir())
	none := func(string) (string, bool) { return "", false }
	for name, handler := range map[string]http.HandlerFunc{"good": answerer, "refused": refuse(503, "no healthy upstream")} {
		s := httptest.NewServer(handler)
		defer s.Close()
		var out bytes.Buffer
		if code := Main(strings.Fields("bench "+s.URL+" --model m --preflight none --server-metrics off --warmup 0 --requests 8 --out "+name), &out, &out, none); (code == exitOK) != (name == "good") {
			t.Fatalf("%s: exit code %d\n%s", name, code, out.String())
		}
	}
	for words, want := range map[string]int{
		"slo check good --objective p50_e2e<1h":                              exitOK,
		"slo check good --objective p50_e2e<1us":                             exitMissed,
		"slo check good --objective p50_e2e<1us --format json":               exitMissed,
		"slo check refused --objective p50_e2e<1h":                           exitTarget,
		"slo report good --objective p50_e2e<1us":                            exitOK,
		"compare good refused --allow invalid --gate e2e_p50<1us":            exitMissed,
		"compare good good --allow invalid --gate e2e_p50<1us --format json": exitMissed,
		"compare good good --allow invalid --gate e2e_p50<1h --format csv":   exitOK,
		"compare good refused --allow invalid --format markdown":             exitTarget,
		"report good":                exitOK,
		"merge good good --out both": exitUsage,
	} {
		args := strings.Fields(words)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		for name, stdout := range map[string]io.Writer{"read": io.Discard, "left": gone{}} {
			var out bytes.Buffer
			if got := Main(args, stdout, &out, none); got != want {
				t.Errorf("%s, %s: exit code %d, want %d\n%s", words, name, got, want, out.String())
			}
		}
	}
}

// What --max-failures ended is no success, and only a server that answered nothing has failed.
// In k6 too a limit that ended a run (abortOnFail) leaves the code of limits that were passed, 99.
func TestExitCodesOfMaxFailures(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, c := range []struct {
		name           string
		answered, want int // of three requests
	}{{"none", 0, exitTarget}, {"one of three", 1, exitMissed}, {"all", 3, exitOK}} {
		var asked atomic.Int64
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if int(asked.Add(1)%3) >= c.answered {
				refuse(503, "no healthy upstream")(w, r)
				return
			}
			answerer(w, r)
		}))
		const ask = " --model m --preflight none --server-metrics off --warmup 0 --requests 40 --max-failures 10% "
		for _, words := range []string{"bench URL --concurrency 1", "bench URL --concurrency 2 --strict --objective p50_ttft<1h", "sweep URL --concurrency 1,2 --settle 0s"} {
			if strings.Contains(words, "--strict") && c.want == exitOK {
				continue // whether a run that short is valid, this machine decides
			}
			args := strings.Fields(strings.Replace(words, "URL", s.URL, 1) + ask + "--out " + t.TempDir() + "/out")
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "_", " ")
			}
			var out bytes.Buffer
			if got := Main(args, &out, &out, none); got != c.want {
				t.Errorf("%s, %s: exit code %d, want %d\n%s", c.name, words, got, c.want, out.String())
			} else if c.want == exitMissed && !strings.Contains(out.String(), "more than --max-failures allows") {
				t.Errorf("%s, %s: nothing says which limit ended it\n%s", c.name, words, out.String())
			}
		}
		s.Close()
	}
}

// A server that is given up in the warm-up failed too, for whoever reads the run of it.
func TestExitCodesWhereTheWarmUpFoundNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	none := func(string) (string, bool) { return "", false }
	run := func(words string) (code int, said string) {
		args := strings.Fields(words)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		var out bytes.Buffer
		code = Main(args, &out, &out, none)
		return code, out.String()
	}
	bench := func(name string, handler http.HandlerFunc) (int, string) {
		s := httptest.NewServer(handler)
		s.Config.ErrorLog = quietLog()
		defer s.Close()
		return run("bench " + s.URL + " --model m --preflight none --server-metrics off --concurrency 4 --requests 8 --idle-timeout 300ms --out " + name)
	}
	if code, said := bench("good", answerer); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	for name, handler := range map[string]http.HandlerFunc{"refused": refuse(404, "no such model"), "silent": func(w http.ResponseWriter, r *http.Request) { hang(r) }} {
		if code, said := bench(name, handler); code != exitTarget {
			t.Errorf("%s: exit code %d, want %d\n%s", name, code, exitTarget, said)
		}
		for words, want := range map[string]int{
			"slo check " + name + " --objective p50_ttft<1h":             exitTarget,
			"slo check " + name + " --objective availability_>=_50%":     exitTarget,
			"compare good " + name + " --gate p50_ttft<1h":               exitMissed,
			"compare good " + name + " --allow invalid --gate ttft_+50%": exitMissed,
		} {
			if code, said := run(words); code != want {
				t.Errorf("%s: exit code %d, want %d\n%s", words, code, want, said)
			}
		}
	}
}
