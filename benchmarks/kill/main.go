//go:build linux

// Command kill ends a benchmark with SIGKILL at random moments and tells what
// was lost. A simulated server in a process of its own knows when it wrote the
// last token of every reply; whatever ended more than a second before the kill
// must be in the folder that is left:
//
//	go run ./benchmarks/kill -kills 100
//
// It exits 1 when a folder does not open or misses more than the last second.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tokenmeter/record/run"
)

var (
	kills  = flag.Int("kills", 100, "how often")
	seed   = flag.Uint64("seed", 1, "of the moments")
	listen = flag.String("listen", "127.0.0.1:18099", "where the simulated server listens")
	least  = flag.Duration("least", 50*time.Millisecond, "the earliest moment after the start")
	most   = flag.Duration("most", 4*time.Second, "the latest")
)

// tally is what the kills came to.
type tally struct {
	kills, empty, broken, early int
	kept, lost, lostEarly       int
	oldest                      time.Duration // of a lost reply: its end before the kill
}

func main() {
	flag.Parse()
	t, err := killAll()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
	fmt.Printf("%d kills at random moments: %d before the folder existed, %d before its first record, %d folders did not open\n", t.kills, t.early, t.empty, t.broken)
	fmt.Printf("%d complete replies kept, %d lost within the last second (the oldest ended %d ms before the kill), %d lost that ended earlier\n",
		t.kept, t.lost-t.lostEarly, t.oldest.Milliseconds(), t.lostEarly)
	if t.broken > 0 || t.lostEarly > 0 {
		os.Exit(1)
	}
}

func killAll() (t tally, err error) {
	work, err := os.MkdirTemp("", "kill")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, "tokenmeter")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/tokenmeter").CombinedOutput(); err != nil {
		return t, fmt.Errorf("build: %s", out)
	}
	truth := filepath.Join(work, "truth.jsonl")
	server := exec.Command(program, "sim", "--listen", *listen, "--truth", truth)
	if err := server.Start(); err != nil {
		return t, err
	}
	defer server.Process.Kill()
	time.Sleep(time.Second)
	rng := rand.New(rand.NewPCG(*seed, 0))
	for i := range *kills {
		dir := filepath.Join(work, fmt.Sprint(i))
		started := now()
		killed, err := killOne(program, dir, *least+time.Duration(rng.Int64N(int64(*most-*least))))
		if err != nil {
			return t, err
		}
		t.kills++
		if err := t.count(dir, truth, started, killed); err != nil {
			return t, err
		}
		fmt.Fprintf(os.Stderr, "\r%d of %d", i+1, *kills)
	}
	fmt.Fprintln(os.Stderr)
	return t, nil
}

// killOne starts a run and ends it; it tells when, by CLOCK_MONOTONIC.
func killOne(program, dir string, after time.Duration) (int64, error) {
	cmd := exec.Command(program, "bench", "http://"+*listen, "--duration", "1m", "--concurrency", "16", "--warmup", "0",
		"--output-tokens", "8", "--quiet", "--out", dir)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	time.Sleep(after)
	at := now()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return 0, err
	}
	_ = cmd.Wait()
	return at, nil
}

// now is CLOCK_MONOTONIC, which the server's truth is told in.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

// count holds the folder against what the server finished.
func (t *tally) count(dir, truth string, started, killed int64) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.early++
		return nil
	}
	folder, err := run.Open(dir)
	if err != nil {
		fmt.Fprintf(os.Stderr, "\n%s: %v\n", dir, err)
		t.broken++
		return nil
	}
	defer folder.Close()
	kept := map[string]bool{}
	for tl, err := range folder.Timelines() {
		if err != nil {
			fmt.Fprintf(os.Stderr, "\n%s: %v\n", dir, err)
			t.broken++
			return nil
		}
		kept[tl.ID] = true
	}
	t.kept += len(kept)
	if len(kept) == 0 {
		t.empty++
	}
	ends, err := finished(truth, started)
	if err != nil {
		return err
	}
	for id, end := range ends {
		if kept[id] || end > killed {
			continue
		}
		t.lost++
		age := time.Duration(killed - end)
		t.oldest = max(t.oldest, age)
		if age > time.Second {
			t.lostEarly++
		}
	}
	return nil
}

// finished are the ends of the complete replies since a run's start, by id.
func finished(truth string, started int64) (map[string]int64, error) {
	f, err := os.Open(truth)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ends := map[string]int64{}
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return ends, nil // the last line may still be on its way
		}
		var r struct {
			ID         string
			Outcome    string
			ReceivedNS int64    `json:"received_ns"`
			WriteNS    []*int64 `json:"write_ns"`
		}
		if json.Unmarshal(line, &r) != nil || r.ReceivedNS < started || r.Outcome != "done" {
			continue
		}
		if n := len(r.WriteNS); n > 0 && !slices.Contains(r.WriteNS, nil) {
			ends[r.ID] = *r.WriteNS[n-1]
		}
	}
}
