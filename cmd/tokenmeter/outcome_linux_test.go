package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"tokenmeter/record/timeline"
)

// Files run out while the run goes on: that is never the server's failure.
func TestClientResource(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	asked, answer := make(chan bool, 100), make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-answer
		answerer(w, r)
	}))
	defer s.Close()
	release := sync.OnceFunc(func() { close(answer) })
	defer release()
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	// More requests than can fail in vain while no file is left.
	cmd := started(t, &out, "bench", s.URL, "--preflight", "none", "--model", "m", "--warmup", "0",
		"--out", dir, "--concurrency", "2", "--no-keepalive", "--requests", "100")
	eventually(t, func() bool { return len(asked) > 0 })
	var before unix.Rlimit
	few := func(limit unix.Rlimit) {
		if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
			t.Skip(err)
		}
	}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Skip(err)
	}
	few(unix.Rlimit{Cur: 3, Max: before.Max})
	release()
	a := &app{stdout: io.Discard, stderr: io.Discard}
	eventually(t, func() bool { return recorded(a, dir, timeline.ClientResource) > 0 })
	few(before)
	if got := waitCode(cmd); got != exitOK {
		t.Errorf("exit code %d", got)
	}
	wantOutcome(t, dir, timeline.ClientResource, out.String())
}

// A signal after all is saved, while nobody reads what is said of it, is an
// interruption as any other.
func TestSignalWhileNobodyReads(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := filepath.Join(t.TempDir(), "run")
	for _, words := range []string{"bench --demo --requests 8 --warmup 0 --format json --out " + dir,
		"report --format json " + dir, "licenses", "bench --help-all"} { // these have nothing to stop
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
			t.Skip(err)
		}
		cmd := started(t, w, strings.Fields(words)...)
		w.Close()
		eventually(t, func() bool { // the pipe is full
			n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
			return err == nil && n >= 4096
		})
		cmd.Process.Signal(unix.SIGTERM)
		if got := waitCode(cmd); got != exitInterrupted {
			t.Errorf("%s: exit code %d", words, got)
		}
	}
	a := &app{stdout: io.Discard, stderr: io.Discard}
	if got := recorded(a, dir, timeline.OK); got != 8 {
		t.Errorf("%d requests are saved", got)
	}
}
