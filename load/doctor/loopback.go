package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// stamps is how well arrivals are stamped on a stream that the machine sends to
// itself, each token of which says when it was written.
type stamps struct {
	err    string // why it could not be tried; empty: it was
	clock  timeline.Clock
	tokens int
	// after is from a token's write to its stamp, lag from the stamp to the read.
	after, lag []time.Duration // sorted
	early      int             // stamps before the write: they can't be true
}

const (
	streamTokens = 100
	streamGap    = 2 * time.Millisecond
	streamTime   = 5 * time.Second // at most
)

// stampTries is how many streams are looked at before it is said that the kernel
// does not stamp: asked for the first time on a machine, it begins a moment late.
const stampTries = 3

// stamped is the first stream that the kernel stamped, else the last one tried.
func stamped(try func() stamps) (s stamps) {
	for range stampTries {
		if s = try(); s.err != "" || s.clock == timeline.Kernel {
			break
		}
	}
	return s
}

// loopback measures a stream of known times over the loopback.
func loopback(ctx context.Context) stamps {
	clk := clock.Start()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return stamps{err: fmt.Sprintf("no port can be opened on this machine: %v", err)}
	}
	var mu sync.Mutex
	var written []int64
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		s := clk.Timers()
		defer s.Close()
		for range streamTokens {
			if s.WaitUntil(r.Context(), clk.US()+streamGap.Microseconds()) != nil {
				return
			}
			mu.Lock()
			written = append(written, clk.US())
			mu.Unlock()
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"x"}}]}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})}
	go server.Serve(ln)
	defer server.Close()

	cl, err := client.New(client.Config{BaseURL: "http://" + ln.Addr().String(), API: api.OpenAIChat, Clock: clk, Timeout: streamTime})
	if err != nil {
		return stamps{err: err.Error()}
	}
	defer cl.Close()
	tl := timeline.New()
	tl.DueUS = clk.US()
	tl.StartUS = tl.DueUS
	cl.Do(ctx, &api.Request{Model: "loopback", Stream: true, Messages: []api.Message{{Role: "user", Content: "x"}}}, tl)
	if tl.Outcome != timeline.OK {
		return stamps{err: "a stream over the loopback failed: " + tl.Error.Message}
	}
	mu.Lock()
	defer mu.Unlock()
	return compareStamps(tl, written)
}

// compareStamps holds arrivals against the moments of writing.
func compareStamps(tl *timeline.Timeline, written []int64) stamps {
	s := stamps{clock: tl.Clock}
	for ev := range tl.Events.Generation() {
		if s.tokens >= len(written) {
			break
		}
		after := tl.DueUS + ev.AtUS - written[s.tokens]
		if after < 0 {
			s.early++
		}
		s.after = append(s.after, time.Duration(after)*time.Microsecond)
		s.lag = append(s.lag, time.Duration(ev.LagUS)*time.Microsecond)
		s.tokens++
	}
	slices.Sort(s.after)
	slices.Sort(s.lag)
	return s
}
