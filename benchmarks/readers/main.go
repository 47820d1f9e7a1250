// Command readers measures what reading many token streams costs: tokenmeter's
// two forms of reading, with everything that a measurement does, against a bare
// reader in C that does nothing but read (bare/reader.c): once at every event, once
// every two milliseconds. One simulated server on one core serves each in turn
// on the other core:
//
//	go run ./benchmarks/readers -streams 1000 -gap 100ms -rounds 5
//
// What is compared is processor time per token event, of the whole process from
// its start to its end. It needs Linux, two cores and a C compiler.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tokenmeter/benchmarks/harness"
)

var (
	role      = flag.String("role", "", "internal: serve or bench")
	streams   = flag.Int("streams", 1000, "streams at once")
	tokens    = flag.Int("tokens", 100, "tokens a reply")
	gap       = flag.Duration("gap", 100*time.Millisecond, "time between two tokens of a stream")
	seconds   = flag.Int("seconds", 15, "how long requests are sent, in each round")
	fill      = flag.Duration("fill", 0, "over how long the streams of tokenmeter start; 0: the length of a reply")
	rounds    = flag.Int("rounds", 5, "rounds; each has all kinds in turn")
	kinds     = flag.String("kinds", "prompt,reactor,napping,plain", "what is measured")
	clientCPU = flag.Int("client-cpu", 0, "core of the readers")
	serverCPU = flag.Int("server-cpu", 1, "core of the server")
	cc        = flag.String("cc", "cc", "C compiler")
	source    = flag.String("source", "benchmarks/readers/bare/reader.c", "the bare reader")
	url       = flag.String("url", "", "internal: the server's address")
	dir       = flag.String("dir", "", "internal: the run folder")
	heap      = flag.String("memprofile", "", "write a profile of tokenmeter's memory, half a minute after its start, to this name")
	profile   = flag.String("cpuprofile", "", "write CPU profiles of tokenmeter to this name")
)

func main() {
	harness.Main("readers", role, compare, map[string]func() error{"serve": serve, "bench": measure})
}

// compare runs all kinds in turn, round after round.
func compare() error {
	root, err := os.MkdirTemp("", "readers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	reader := filepath.Join(root, "reader")
	if out, err := exec.Command(*cc, "-O2", "-o", reader, *source).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", *cc, *source, err, out)
	}
	server, url, err := harness.Server(*serverCPU, "-gap", gap.String(), "-tokens", strconv.Itoa(*tokens))
	if err != nil {
		return err
	}
	defer server.Process.Kill()
	address := strings.TrimPrefix(url, "http://")
	t := newTable(strings.Split(*kinds, ","))
	for round := range *rounds {
		for _, kind := range t.kinds {
			s, err := one(kind, reader, address, filepath.Join(root, fmt.Sprintf("%s-%d", kind, round)))
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			t.add(kind, s)
			fmt.Printf("round %d  %-8s %6.2f µs an event (%.2f user, %.2f system), %d events, %.2f reads an event, peak memory %d MB, load %s\n",
				round+1, kind, s.cpuUS, s.userUS, s.cpuUS-s.userUS, s.events, s.reads, s.peakMB, load())
		}
	}
	t.print()
	return nil
}

// one runs a reader in a process of its own.
func one(kind, reader, address, dir string) (sample, error) {
	host, port, _ := strings.Cut(address, ":")
	var c *exec.Cmd
	switch kind {
	case "prompt", "napping":
		nap := map[string]string{"prompt": "0", "napping": "2000"}[kind]
		c = exec.Command(reader, port, strconv.Itoa(*streams), strconv.Itoa(*tokens),
			strconv.FormatInt(gap.Microseconds(), 10), strconv.Itoa(*seconds), nap)
	default:
		c = exec.Command("/proc/self/exe", "-role", "bench", "-kinds", kind, "-url", "http://"+host+":"+port, "-dir", dir,
			"-streams", strconv.Itoa(*streams), "-tokens", strconv.Itoa(*tokens), "-gap", gap.String(),
			"-seconds", strconv.Itoa(*seconds), "-fill", fill.String(), "-memprofile", *heap, "-cpuprofile", *profile)
	}
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return sample{}, err
	}
	if err := harness.Start(c, *clientCPU); err != nil {
		return sample{}, err
	}
	said, _ := io.ReadAll(out)
	if err := c.Wait(); err != nil {
		return sample{}, err
	}
	return sampleOf(said, c.ProcessState)
}
