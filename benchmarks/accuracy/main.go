// Command accuracy measures how true tokenmeter's arrival times are. A simulated
// server in a process of its own, pinned to another core, writes every token at
// a moment it knows; bench records when each one arrived. Both tell the time by
// CLOCK_MONOTONIC and are joined by x-request-id, so the difference is the
// error, token by token:
//
//	go run ./benchmarks/accuracy
//
// It needs Linux and two cores.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/benchmarks/harness"
)

var (
	role      = flag.String("role", "", "internal: serve or drive")
	dir       = flag.String("dir", "", "where the run folders go; empty: a temporary folder")
	streams   = flag.String("streams", "1,50,500", "streams at once, one round each")
	tokens    = flag.Int("tokens", 100, "tokens a reply")
	gap       = flag.Duration("gap", 100*time.Millisecond, "time between two tokens of a stream")
	spans     = flag.Float64("spans", 3, "length of a round, in replies")
	userClock = flag.Bool("user-clock", false, "stamp when read returns, not in the kernel")
	pin       = flag.Bool("pin", true, "pin server and client to a core each")
	clientCPU = flag.Int("client-cpu", 0, "core of the client")
	serverCPU = flag.Int("server-cpu", 1, "core of the server")
	quota     = flag.Int("quota", 0, "let the client use this many percent of a core; 0: all; needs the right to make a control group")
	stop      = flag.Duration("stop", 0, "stop the client (SIGSTOP) for so long, every -stop-every")
	stopEvery = flag.Duration("stop-every", time.Second, "from one stop to the next")
	url       = flag.String("url", "", "internal: the server's address")
	truthFile = flag.String("truth", "", "internal: the server's truth")
	startedNS = flag.Int64("started", 0, "internal: when the client's process was started")
	profile   = flag.String("cpuprofile", "", "write a CPU profile of the client")
)

func main() {
	harness.Main("accuracy", role, orchestrate, map[string]func() error{"serve": serve, "drive": drive})
}

// orchestrate starts a server and a client for each round.
func orchestrate() error {
	root := *dir
	if root == "" {
		tmp, err := os.MkdirTemp("", "accuracy-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		root = tmp
	}
	fmt.Println(heading)
	for field := range strings.SplitSeq(*streams, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return fmt.Errorf("-streams %q: want numbers above 0", *streams)
		}
		if err := round(root, n); err != nil {
			return err
		}
	}
	return nil
}

// round runs one pair of processes.
func round(root string, n int) error {
	truth := filepath.Join(root, fmt.Sprintf("truth-%d.jsonl", n))
	server := child("serve", "-truth", truth)
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := startOn(server, *serverCPU); err != nil {
		return err
	}
	defer server.Process.Kill()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the server did not start: %w", err)
	}
	client := child("drive", "-truth", truth, "-url", strings.TrimSpace(address),
		"-streams", strconv.Itoa(n), "-dir", filepath.Join(root, fmt.Sprintf("run-%d", n)),
		"-started", strconv.FormatInt(clock.Start().MonotonicZeroNS, 10))
	stop, err := client.StdinPipe()
	if err != nil {
		return err
	}
	done, err := client.StdoutPipe()
	if err != nil {
		return err
	}
	if err := startOn(client, *clientCPU); err != nil {
		return err
	}
	calm, err := disturb(client.Process)
	if err != nil {
		client.Process.Kill()
		return err
	}
	defer calm()
	lines := bufio.NewReader(done)
	if _, err := lines.ReadString('\n'); err != nil { // measured
		client.Wait()
		return fmt.Errorf("the client failed: %w", err)
	}
	calm()
	in.Close() // the server writes its truth and ends
	if err := server.Wait(); err != nil {
		return err
	}
	stop.Close()
	if _, err := io.Copy(os.Stdout, lines); err != nil {
		return err
	}
	return client.Wait()
}

func child(role string, args ...string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", append([]string{
		"-role", role, "-tokens", strconv.Itoa(*tokens), "-gap", gap.String(),
		"-spans", fmt.Sprint(*spans), fmt.Sprintf("-user-clock=%v", *userClock), "-cpuprofile", *profile}, args...)...)
	c.Stderr = os.Stderr
	return c
}

// startOn starts a process on one core, unless -pin is off.
func startOn(c *exec.Cmd, cpu int) error {
	if !*pin && runtime.GOOS == "linux" {
		return c.Start()
	}
	return harness.Start(c, cpu)
}
