package doctor

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go answer(ctx, conn, clk, func() {
				mu.Lock()
				written = append(written, clk.US())
				mu.Unlock()
			})
		}
	}()
	defer ln.Close()

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

// answer streams tokens to whoever asked, and calls write before each. The end of the
// connection is that of the body. (The lean build has no server of net/http, which
// brings 0.3 MB: HTTP/2 and what else nobody asks for here.)
func answer(ctx context.Context, conn net.Conn, clk *clock.Clock, write func()) {
	defer conn.Close()
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // what is not read may reset the connection at its end
	fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
	s := clk.Timers()
	defer s.Close()
	for range streamTokens {
		if s.WaitUntil(ctx, clk.US()+streamGap.Microseconds()) != nil {
			return
		}
		write()
		fmt.Fprint(conn, `data: {"choices":[{"index":0,"delta":{"content":"x"}}]}`+"\n\n")
	}
	fmt.Fprint(conn, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
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
