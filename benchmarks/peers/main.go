//go:build linux

// Command peers compares clients that measure inference servers, tokenmeter
// among them, in one run against a server that knows the truth:
//
//	benchmarks/peers/setup
//	go run ./benchmarks/peers
//
// Every round starts a server on one core and a client on another, and joins
// what the client says of each request with what the server did. Rounds of all
// clients take turns. It needs Linux, two cores and gcc; a client that setup did
// not install is left out, and the reason printed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/benchmarks/harness"
)

var (
	venvsFlag   = flag.String("venvs", harness.Venvs(), "the folder that setup filled")
	workFlag    = flag.String("work", "", "where runs go; empty: a temporary folder")
	outFlag     = flag.String("out", "peers", "name of the results: NAME.md and NAME.json")
	peersFlag   = flag.String("peers", "", "the clients to compare, with commas between; empty: all")
	streamsFlag = flag.String("streams", "1,10,100,500,1000", "streams at once")
	repeatsFlag = flag.Int("repeats", 5, "rounds of each client; medians are printed")
	gapFlag     = flag.Duration("gap", 20*time.Millisecond, "time between two tokens of a stream")
	firstFlag   = flag.Duration("first", firstToken, "time to the first token")
	mostFlag    = flag.Float64("most", 40000, "tokens a second of all streams; beyond, the gap grows; 0: no limit")
	lengthFlag  = flag.Duration("length", 10*time.Second, "time over which measured requests start, at least")
	limitFlag   = flag.Duration("limit", 10*time.Minute, "time for one round of one client")
	clientFlag  = flag.Int("client-cpu", 0, "core of the client")
	serverFlag  = flag.Int("server-cpu", 1, "core of the server")
	keepFlag    = flag.Bool("keep", false, "keep the runs' folders")
	serveFlag   = flag.String("serve", "", "internal: serve, and write the truth to this file")
	tokensFlag  = flag.Int("tokens", 100, "internal: tokens of a reply")
)

func main() {
	flag.Parse()
	var err error
	if *serveFlag != "" {
		err = serve(*serveFlag, *tokensFlag, *firstFlag, *gapFlag)
	} else {
		err = compareAll()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// bench is one comparison.
type bench struct {
	*setting
	clientCPU, serverCPU int
	limit                time.Duration
	keep                 bool
	versions             map[string]string
	missing              map[string]string // why a client is left out
	rows                 []*row
}

func compareAll() error {
	levels, err := numbers(*streamsFlag)
	if err != nil {
		return err
	}
	b := &bench{clientCPU: *clientFlag, serverCPU: *serverFlag, limit: *limitFlag, keep: *keepFlag,
		versions: map[string]string{}, missing: map[string]string{}}
	work, err := workFolder(*workFlag)
	if err != nil {
		return err
	}
	if *workFlag == "" && !*keepFlag {
		defer os.RemoveAll(work)
	}
	venvs, err := filepath.Abs(*venvsFlag)
	if err != nil {
		return err
	}
	b.setting = &setting{venvs: venvs, work: work, bin: work}
	chosen, err := b.choose(*peersFlag)
	if err != nil {
		return err
	}
	for repeat := range *repeatsFlag {
		for _, n := range levels {
			l := newLoad(n, *gapFlag, *lengthFlag, *mostFlag)
			for i := range chosen { // another one begins each time
				p := chosen[(i+repeat)%len(chosen)]
				b.run(p, l, repeat)
				if err := b.save(*outFlag); err != nil {
					return err
				}
			}
		}
	}
	return b.print(os.Stdout)
}

// run adds a row, whatever comes.
func (b *bench) run(p *peer, l load, repeat int) {
	r, err := b.round(p, l, repeat)
	if err != nil {
		r = &row{Peer: p.name, Version: b.versions[p.name], Streams: l.Streams, Repeat: repeat, Load: l, Failure: err.Error()}
	}
	b.rows = append(b.rows, r)
	fmt.Fprintln(os.Stderr, r)
}

func workFolder(name string) (string, error) {
	if name == "" {
		return os.MkdirTemp("", "peers-")
	}
	if err := os.MkdirAll(name, 0o777); err != nil {
		return "", err
	}
	return filepath.Abs(name)
}

// choose finds the clients that can run here.
func (b *bench) choose(names string) ([]*peer, error) {
	asked := strings.FieldsFunc(names, func(r rune) bool { return r == ',' })
	var chosen []*peer
	for i := range peers {
		p := &peers[i]
		if at := slices.Index(asked, p.name); at >= 0 {
			asked = slices.Delete(asked, at, at+1)
		} else if names != "" {
			continue
		}
		version, err := p.version(b.setting)
		if err != nil {
			b.missing[p.name] = err.Error()
			fmt.Fprintf(os.Stderr, "%s is left out: %v\n", p.name, err)
			continue
		}
		b.versions[p.name] = version
		chosen = append(chosen, p)
	}
	if len(asked) > 0 {
		return nil, fmt.Errorf("-peers %s: there is no such client", strings.Join(asked, ","))
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no client can run here: benchmarks/peers/setup %s installs them", b.venvs)
	}
	return chosen, nil
}

func numbers(list string) ([]int, error) {
	var all []int
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-streams %q: want numbers above 0", list)
		}
		all = append(all, n)
	}
	return all, nil
}

// sourceFile finds a file beside this program's source.
func sourceFile(name string) (string, error) {
	_, here, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(here), name)
	_, err := os.Stat(path)
	return path, err
}

// save writes the results so far.
func (b *bench) save(name string) error {
	text, err := json.MarshalIndent(map[string]any{"rows": b.rows, "left_out": b.missing}, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".json", text, 0o666); err != nil {
		return err
	}
	f, err := os.Create(name + ".md")
	if err != nil {
		return err
	}
	if err := b.print(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
