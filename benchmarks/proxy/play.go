package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// round is what one way did in one round. Microseconds; nothing where no request
// began and ended in time.
type round struct {
	Way              string
	TTFT50, TTFT99   timeline.Opt[float64] // from the request sent to the first token, less the time the upstream waited on purpose
	Chunk50, Chunk99 timeline.Opt[float64] // from the upstream's write to its arrival (the kernel's stamp)
	Request50        timeline.Opt[float64] // of the TTFT: until the upstream had the request
	First50          timeline.Opt[float64] // and from its first write to the arrival
	CPU              float64               // of the proxy's processes, a chunk
	Chunks           int
	Load             string
}

const body = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`

func play(s settings, up *upstream, w *way) (round, error) {
	c, err := client.New(client.Config{BaseURL: "http://" + w.address, API: api.OpenAIChat, Clock: up.clk, Form: client.PlainForm, ConnectTimeout: 10 * time.Second})
	if err != nil {
		return round{}, err
	}
	defer c.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var all sync.WaitGroup
	var mu sync.Mutex
	var seen times
	var failed error
	begin := time.Now()
	// The first replies warm the connections and are not counted.
	countFrom := up.clk.NS() + int64(2*time.Second)
	cpuAt := make(chan int64, 1)
	time.AfterFunc(2*time.Second, func() { cpuAt <- w.cpu() })
	for i := range s.streams {
		all.Go(func() {
			time.Sleep(time.Duration(i) * time.Second / time.Duration(s.streams))
			var mine times
			for time.Since(begin) < s.round {
				if err := one(ctx, c, up, countFrom, &mine); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					break
				}
			}
			mu.Lock()
			seen.add(mine)
			mu.Unlock()
		})
	}
	all.Wait()
	cpu := w.cpu() - <-cpuAt
	if failed != nil {
		return round{}, fmt.Errorf("%s: %w", w.name, failed)
	}
	for _, t := range [][]float64{seen.ttft, seen.request, seen.first, seen.chunk} {
		slices.Sort(t)
	}
	return round{Way: w.name, TTFT50: at(seen.ttft, .5), TTFT99: at(seen.ttft, .99), Chunk50: at(seen.chunk, .5), Chunk99: at(seen.chunk, .99),
		Request50: at(seen.request, .5), First50: at(seen.first, .5),
		CPU: float64(cpu) / 1000 / float64(max(len(seen.chunk), 1)), Chunks: len(seen.chunk), Load: load()}, nil
}

// times are those of a round, in microseconds.
type times struct{ ttft, request, first, chunk []float64 }

func (t *times) add(more times) {
	t.ttft, t.request = append(t.ttft, more.ttft...), append(t.request, more.request...)
	t.first, t.chunk = append(t.first, more.first...), append(t.chunk, more.chunk...)
}

func at(sorted []float64, p float64) timeline.Opt[float64] {
	if len(sorted) == 0 {
		return timeline.Opt[float64]{}
	}
	return timeline.Some(sorted[min(int(p*float64(len(sorted))), len(sorted)-1)])
}

// whole prints microseconds, or a dash.
func whole(format string, v timeline.Opt[float64]) string {
	if us, ok := v.Get(); ok {
		return fmt.Sprintf(format, us)
	}
	return "–"
}

// one makes a request and notes how late everything came.
func one(ctx context.Context, c *client.Client, up *upstream, fromNS int64, seen *times) error {
	begun := up.clk.NS()
	r, err := c.Pass(ctx, &client.Passing{Method: http.MethodPost, Path: "/v1/chat/completions", Body: []byte(body), Length: int64(len(body)),
		Header: http.Header{"Content-Type": {"application/json"}}, Again: true})
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Status != http.StatusOK {
		return fmt.Errorf("HTTP %d", r.Status)
	}
	first := true
	for {
		data, stamp, err := r.Read(0)
		for text := string(data); ; {
			asked, wrote, rest, ok := moments(text)
			if !ok {
				break
			}
			text = rest
			if first && begun >= fromNS {
				seen.ttft = append(seen.ttft, float64(stamp.AtNS-begun-int64(firstAfter))/1000)
				seen.request = append(seen.request, float64(asked-begun)/1000)
				seen.first = append(seen.first, float64(stamp.AtNS-wrote)/1000)
			}
			first = false
			if wrote >= fromNS {
				seen.chunk = append(seen.chunk, float64(stamp.AtNS-wrote)/1000)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// cpu is the processor time that the way's processes used, in nanoseconds.
func (w *way) cpu() (ns int64) {
	for _, pid := range w.pids() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		for _, f := range fields[11:13] { // utime, stime; in 10 ms
			if n, err := strconv.ParseInt(f, 10, 64); err == nil {
				ns += n * 10_000_000
			}
		}
	}
	return ns
}
