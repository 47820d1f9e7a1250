//go:build unix

package child

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// However a program is ended, what it started is ended with it: its output has an end.
func TestAllThatItStartedEnds(t *testing.T) {
	for name, c := range map[string]struct {
		line string // prints a line when all runs
		end  func(cancel func())
		ok   bool
	}{
		"all are ended":      {"sleep 1000 & echo up; sleep 1000", func(func()) { EndAll() }, false},
		"one waits":          {"sleep 1000 & echo up; wait", func(func()) { EndAll() }, false},
		"its context ends":   {"sleep 1000 & echo up; sleep 1000", func(cancel func()) { cancel() }, false},
		"it ends by itself":  {"echo up", func(func()) {}, true},
		"and nothing is run": {"echo up; exit 3", func(func()) {}, false},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", c.line)
		cmd.Stdout = out
		ended := make(chan error, 1)
		go func() {
			err := Run(cmd)
			out.Close() // ours is the last that is open, if all ended
			ended <- err
		}()
		lines := bufio.NewReader(in)
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		c.end(cancel)
		if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
			t.Errorf("%s: %q %v", name, rest, err)
		}
		if err := <-ended; (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		in.Close()
	}
	for cmd := range running {
		t.Errorf("%v is still known", cmd)
	}
}

// What a program leaves behind with its output open ends, too.
func TestWhatItLeavesEnds(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "sleep 1000 &")
	cmd.Stdout, cmd.WaitDelay = io.Discard, time.Millisecond
	if err := Run(cmd); !errors.Is(err, exec.ErrWaitDelay) {
		t.Error(err)
	}
}
