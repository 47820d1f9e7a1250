//go:build !lean

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// netAll plays every pair of the nets; else one in so many is drawn, always the same.
var netAll = flag.Bool("net.all", false, "play every pair of flags, fields and loads")

// drawn reports whether a pair is played.
func drawn(pair ...string) bool {
	const oneIn = 12
	h := fnv.New32a()
	io.WriteString(h, strings.Join(pair, "\n"))
	return *netAll || !testing.Short() && h.Sum32()%oneIn == 0
}

// outcomeOf is what came of a command line of bench: why it was refused, what was said, what
// was sent and when, and what was measured.
type outcomeOf struct {
	refused  string
	said     []string // notes, and the warnings of the run
	sent     []string // a line each: when, and the request with its headers and its body
	measured string   // run.json without what it says of the load and the workload, and the records
	run      *run.Run
}

// wire keeps what a client writes on its connections, with the time of each beginning.
type wire struct {
	mu    sync.Mutex
	conns []*wireConn
	begun time.Time
}

type wireConn struct {
	net.Conn
	of   *wire
	data []byte
	at   []time.Duration // of each write
	to   []int           // where it ended
}

func (c *wireConn) Write(b []byte) (int, error) {
	c.of.mu.Lock()
	c.data = append(c.data, b...)
	c.at, c.to = append(c.at, time.Since(c.of.begun)), append(c.to, len(c.data))
	c.of.mu.Unlock()
	return c.Conn.Write(b)
}

// requests are those that were written, in the order of their times.
func (w *wire) requests(id string) (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		from := bytes.NewReader(c.data)
		in := bufio.NewReader(from)
		for {
			begin := len(c.data) - from.Len() - in.Buffered()
			req, err := http.ReadRequest(in)
			if err != nil {
				break
			}
			var body bytes.Buffer
			io.Copy(&body, req.Body) // what was cut off counts as far as it came
			k := slices.IndexFunc(c.to, func(end int) bool { return end > begin })
			req.Header.Del("X-Request-Id")
			req.Header.Del("Sec-Websocket-Key")
			var head bytes.Buffer
			req.Header.Write(&head)
			lines = append(lines, strings.ReplaceAll(fmt.Sprintf("%9.3f %s %s\n%s%s", c.at[k].Seconds(), req.Method, req.URL, head.String(), body.String()), id, "ID"))
			if req.Header.Get("Upgrade") != "" {
				lines = append(lines, c.frames(begin, in)...)
				break
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// frames are the messages that a client sent over a WebSocket, which it masks.
func (c *wireConn) frames(begin int, in io.Reader) (lines []string) {
	for n := 0; ; n++ {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:2]); err != nil {
			return lines
		}
		size := int(head[1] & 127)
		if more := map[int]int{126: 2, 127: 8}[size]; more > 0 {
			io.ReadFull(in, head[8-more:])
			clear(head[:8-more])
			size = int(binary.BigEndian.Uint64(head[:]))
		}
		data := make([]byte, 4+size)
		got, _ := io.ReadFull(in, data)
		for i := 4; i < got; i++ {
			data[i] ^= data[i%4]
		}
		lines = append(lines, fmt.Sprintf("%9.3f frame %s", c.at[min(n+1, len(c.at)-1)].Seconds(), data[4:max(got, 4)]))
	}
}

// netTime is how much of a run is looked at.
const netTime = 2 * time.Second

// play does what bench does with these words, with a simulated server in virtual time.
func play(t *testing.T, args ...string) (out outcomeOf) {
	t.Helper()
	line, err := newParser().Parse(append([]string{"bench"}, args...))
	if err == nil {
		err = emptyFlags(line)
	}
	if err != nil {
		return outcomeOf{refused: err.Error()}
	}
	var stderr strings.Builder
	c := &line.Command.Target.(*benchTurnsCmd).benchCmd
	a := &app{stdout: io.Discard, stderr: &stderr, env: func(string) (string, bool) { return "", false }, args: args, flags: c.sharedFlags}
	plan, err := c.plan(a)
	if err != nil {
		return outcomeOf{refused: err.Error()}
	}
	defer closeWorkload(&plan)
	c.told(a, &plan)
	plan.Out = filepath.Join(t.TempDir(), "run")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), netTime)
		defer cancel()
		s, ln := sim.New(sim.Config{Overhead: 60 * time.Millisecond, DecodeBase: 6 * time.Millisecond, OutputTokens: 6, Base: time.Now()}), simtest.NewPipeListener()
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		w := &wire{begun: time.Now()}
		plan.Client.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := ln.Dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			c := &wireConn{Conn: conn, of: w}
			w.mu.Lock()
			w.conns = append(w.conns, c)
			w.mu.Unlock()
			return c, nil
		}
		plan.Client.NoKernelStamps, plan.Timers, plan.Beside, plan.Log = true, true, nil, io.Discard
		out.run, err = bench.Run(ctx, plan)
		s.Close()
		<-served
		if err != nil && !errors.Is(err, bench.ErrInterrupted) {
			out.refused = err.Error()
		}
		id := "no run"
		if out.run != nil {
			id = out.run.ID
		}
		out.sent = w.requests(id)
	})
	if stderr.Len() > 0 {
		out.said = strings.Split(strings.TrimSpace(stderr.String()), "\n")
	}
	if out.run != nil && out.run.Dir != "" {
		for _, w := range out.run.Warnings {
			out.said = append(out.said, w.Name+": "+w.Says)
		}
		out.measured = measuredBy(out.run)
		filepath.WalkDir(out.run.Dir, func(path string, d fs.DirEntry, err error) error {
			if d.IsDir() {
				out.measured += "\n" + strings.TrimPrefix(path, out.run.Dir)
			}
			return err
		})
		for rec := range recordsOf(t, out.run.Dir) {
			text := "no text"
			if rec.OutputText != nil {
				text = *rec.OutputText
			}
			out.measured += "\n" + string(rec.Outcome) + " " + text
		}
	}
	return out
}

// recordsOf are those of a run.
func recordsOf(t *testing.T, dir string) iter.Seq[metric.Record] {
	return func(yield func(metric.Record) bool) {
		f, err := run.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for rec, err := range f.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(rec) {
				return
			}
		}
	}
}

// measuredBy is what a run says of judging and counting, without what chance decides and
// without what it says of the load and the workload, which is what was asked for.
func measuredBy(r *run.Run) string {
	counts := map[string]int64{}
	for name, m := range r.Metrics {
		counts[name] = m.N
	}
	tasks := ""
	if t := r.Tasks; t != nil {
		tasks = fmt.Sprint(t.Total, t.OK, t.InTime, t.DeadlineS)
	}
	data, _ := json.MarshalIndent([]any{r.Name, r.Tags, r.Target.Model, r.Tokenizer, r.Goodput, r.Cost, r.RTT, r.Workload.Readers, r.AllowLowN, r.AllowISLDrift,
		r.Workload.Name, r.Seed, r.Pricing, r.Checks, tasks, counts}, "", " ")
	return worth.ReplaceAllString(string(data), "")
}

// worth is how many independent requests those of a run are worth, in which order they
// ended: chance decides that where two end together.
var worth = regexp.MustCompile(`"worth": [0-9.]+`)
