package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tokenmeter/physics/sim"
	"tokenmeter/record/timeline"
)

func TestMain(m *testing.M) {
	if strings.HasSuffix(os.Args[0], ".test") { // not the command that a script runs
		os.Unsetenv("CI") // which turns --strict on
	}
	testscript.Main(m, map[string]func(){"tokenmeter": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "server": server, "refuser": refuser, "lines": lines, "clock": startClock, "paced": paced, "mostly": mostly, "mutual": mutual, "socket": socket,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("LC_ALL", "C.UTF-8")
			return nil
		},
	})
}

// code N COMMAND… runs a command and wants exactly that exit code, or with N|M one
// of two: where a busy machine may leave open what a quiet one would settle.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// server PRESET [FAULT…] starts a simulated server and sets URL and HOST.
func server(ts *testscript.TestScript, neg bool, args []string) {
	preset, ok := sim.FindPreset(args[0])
	if neg || !ok {
		ts.Fatalf("no preset %q", args[0])
	}
	cfg := preset.Config
	for _, text := range args[1:] {
		f, err := sim.ParseFault(text)
		ts.Check(err)
		cfg.Faults = append(cfg.Faults, f)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	s := sim.New(cfg)
	go s.Serve(ln)
	ts.Defer(func() { s.Close() })
	ts.Setenv("URL", "http://"+ln.Addr().String()+"/v1")
	ts.Setenv("HOST", ln.Addr().String())
}

// refuser STATUS starts a server that lists a model and answers every POST
// with the status, repeating the key that it was sent.
func refuser(ts *testscript.TestScript, neg bool, args []string) {
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":"refused","message":"no entry for %s from %s"}}`,
			r.Header.Get("Authorization"), r.URL.RawQuery)
	}))
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL+"/v1")
}

// mostly STATUS starts a server that answers two requests of three with the
// status and the third with one token. No random number decides, and never do
// so many fail in a row that a run gives up.
func mostly(ts *testscript.TestScript, neg bool, args []string) {
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("content-type", "application/json")
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		if n.Add(1)%3 != 1 {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("content-type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"prompt_tokens":256,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
	}))
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL+"/v1")
}

// lines FILE MIN MAX wants so many lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	least, err := strconv.Atoi(args[1])
	ts.Check(err)
	most, err := strconv.Atoi(args[2])
	ts.Check(err)
	if n := strings.Count(ts.ReadFile(args[0]), "\n"); n < least || n > most {
		ts.Fatalf("%s has %d lines, want %d to %d", args[0], n, least, most)
	}
}

// clock notes when it is, for paced.
func startClock(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv("CLOCK", time.Now().Format(time.RFC3339Nano))
}

// paced FILE EVERY wants a last line, and before it no more lines than one in EVERY
// since the clock was started: the longer a busy machine takes, the more.
func paced(ts *testscript.TestScript, neg bool, args []string) {
	begun, err := time.Parse(time.RFC3339Nano, ts.Getenv("CLOCK"))
	ts.Check(err)
	every, err := time.ParseDuration(args[1])
	ts.Check(err)
	took := time.Since(begun)
	if n, most := strings.Count(ts.ReadFile(args[0]), "\n"), 1+int(took/every); n < 1 || n > most {
		ts.Fatalf("%s has %d lines after %v, want %d at most", args[0], n, took, most)
	}
}

// B107: the first signal stops and saves, the second leaves at once.
func TestSignals(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, sig := range []os.Signal{os.Interrupt, terminate} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir() + "/run"
			cmd := tokenmeter(t, "bench", "--demo", "--requests", "1000", "--out", dir)
			a := &app{stdout: os.Stderr, stderr: io.Discard}
			eventually(t, func() bool { return recorded(a, dir, timeline.OK) > 0 })
			cmd.Process.Signal(sig)
			if got := waitCode(cmd); got != exitInterrupted {
				t.Fatalf("exit code %d", got)
			}
			f, err := a.open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if r := f.Run(); !r.Partial || r.Requests.OK == 0 || f.Table() == "" {
				t.Errorf("partial %v, %d requests, table %q", r.Partial, r.Requests.OK, f.Table())
			}
		})
	}
}

func TestSecondSignalLeavesAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	cmd := tokenmeter(t, "bench", "http://"+ln.Addr().String(), "--preflight", "none", "--model", "m",
		"--warmup", "0", "--out", t.TempDir()+"/run")
	c, err := ln.Accept() // whoever connects has the handler of signals
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cmd.Process.Signal(os.Interrupt)
	cmd.Process.Signal(terminate)
	start := time.Now()
	if got := waitCode(cmd); got != exitInterrupted {
		t.Fatalf("exit code %d", got)
	}
	if d := time.Since(start); d > 10*time.Second { // 200 ms on a machine of its own; the pre-flight waits for minutes
		t.Errorf("left after %v", d)
	}
}

// recorded is how many measured requests of an outcome a folder holds so far.
func recorded(a *app, dir string, outcome timeline.Outcome) (n int64) {
	f, err := a.open(dir)
	if err != nil {
		return 0
	}
	defer f.Close()
	for tl, err := range f.Timelines() {
		if err != nil {
			return n
		}
		if tl.Phase == timeline.Measure && tl.Outcome == outcome {
			n++
		}
	}
	return n
}

func tokenmeter(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("tokenmeter") // made by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

func waitCode(cmd *exec.Cmd) int {
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
