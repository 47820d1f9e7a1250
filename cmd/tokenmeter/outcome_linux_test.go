package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tokenmeter/timeline"
)

// Files run out while the run goes on: that is never the server's failure.
func TestClientResource(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := httptest.NewServer(http.HandlerFunc(answerer))
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	cmd := started(t, &out, "bench", s.URL, "--preflight", "none", "--model", "m", "--warmup", "0",
		"--out", dir, "--concurrency", "2", "--no-keepalive", "--duration", "2s")
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "run.json")); return err == nil })
	time.Sleep(300 * time.Millisecond)
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
	time.Sleep(100 * time.Millisecond)
	few(before)
	if got := waitCode(cmd); got != exitOK {
		t.Errorf("exit code %d", got)
	}
	wantOutcome(t, dir, timeline.ClientResource, out.String())
}
