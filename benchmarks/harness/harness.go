// Package harness is what the programs beside it share: processes on a core each,
// a server that answers until its parent has seen enough, and what it says it did.
package harness

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"

	"tokenmeter/base/process"
	"tokenmeter/physics/sim"
)

// Main reads the flags and runs what the process is for: a role, or where it has none,
// first. It ends the program where that fails.
func Main(name string, role *string, first func() error, roles map[string]func() error) {
	defer process.BoundGarbage()()
	flag.Parse()
	run, ok := roles[*role]
	if !ok {
		run = first
	}
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Server starts this program as a server on one core and returns the URL that it
// prints. It answers until it is killed or this process ends.
func Server(cpu int, args ...string) (*exec.Cmd, string, error) {
	c := exec.Command("/proc/self/exe", append([]string{"-role", "serve"}, args...)...)
	c.Stderr = os.Stderr
	if _, err := c.StdinPipe(); err != nil { // held open until we end
		return nil, "", err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := Start(c, cpu); err != nil {
		return nil, "", err
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, "", fmt.Errorf("the server did not start: %w", err)
	}
	return c, strings.TrimSpace(url), nil
}

// Serve prints the URL of a simulated server, which answers until stdin is closed.
func Serve(server *sim.Server) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go server.Serve(ln)
	fmt.Printf("http://%s\n", ln.Addr())
	io.Copy(io.Discard, os.Stdin)
	return server.Close()
}

// Profile writes the processor's profile to a file until stop; none without a name.
func Profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}

// ReadTruth reads a file of what a server did, a line a request, by its id.
func ReadTruth[T any](name string, id func(*T) string) (map[string]*T, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	truths := map[string]*T{}
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for d.More() {
		t := new(T)
		if err := d.Decode(t); err != nil {
			return nil, err
		}
		truths[id(t)] = t
	}
	return truths, nil
}

// Median is the middle value, or the mean of the two in the middle.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// Venvs is where benchmarks/peers/setup puts the clients without being told.
func Venvs() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "tokenmeter-peers"
	}
	return filepath.Join(cache, "tokenmeter-peers")
}
