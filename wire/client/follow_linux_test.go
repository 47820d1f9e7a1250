package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// scripted is a server whose replies are given as raw pieces; each is sent when
// something comes on next.
func scripted(t *testing.T, pieces ...string) (c *Client, next chan bool, accepted func() int) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	next = make(chan bool, len(pieces))
	count := make(chan int, 1)
	count <- 0
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			count <- <-count + 1
			go func() {
				defer nc.Close()
				in := bufio.NewReader(nc)
				for {
					req, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					for _, p := range pieces {
						<-next
						if p == "CUT" {
							return
						}
						_, _ = io.WriteString(nc, p)
					}
				}
			}()
		}
	}()
	c, err = New(Config{BaseURL: "http://" + ln.Addr().String(), API: api.OpenAIChat, Form: PlainForm})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = ln.Close()
		processorsBack()
	})
	return c, next, func() int {
		n := <-count
		count <- n
		return n
	}
}

// processorsBack does not wait as long as the flows do.
func processorsBack() {
	fs := theFlows()
	for range 1000 {
		fs.mu.Lock()
		running := fs.running
		fs.mu.Unlock()
		if running == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	fs.rest()
}

// inFlows takes the places of responses that are read apart, for the test's time.
func inFlows(t *testing.T) {
	t.Helper()
	fs := theFlows()
	fs.apart.Add(fewApart)
	t.Cleanup(func() { fs.apart.Add(-fewApart) })
}

// eachWay tests what is the same for a few responses and for many.
func eachWay(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Run("apart", test)
	t.Run("in a flow", func(t *testing.T) {
		inFlows(t)
		test(t)
	})
}

const chunkedHead = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"

func passed(t *testing.T, ctx context.Context, c *Client, next chan bool) *Passed {
	t.Helper()
	next <- true
	r, err := c.Pass(ctx, &Passing{Method: http.MethodGet, Path: "/", Header: http.Header{}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func never() int64 { return farFuture }

// A followed response is read whole, stamped by the kernel, and its connection
// serves again.
func TestFollowReadsToTheEnd(t *testing.T) { eachWay(t, followReadsToTheEnd) }

func followReadsToTheEnd(t *testing.T) {
	c, next, accepted := scripted(t, chunkedHead, chunk("one"), chunk("two")+chunk("three"), "4\r\nfo", "ur\r\n", lastChunk)
	for range 3 {
		r := passed(t, t.Context(), c, next)
		next <- true
		var got []string
		err := r.Follow(never, func(data []byte, at Arrived) bool {
			want(t, "kernel", at.Kernel, true)
			want(t, "arrival before the read", at.AtNS <= at.ReadNS && at.AtNS >= r.SentNS, true)
			got = append(got, string(data))
			next <- true
			return true
		})
		want(t, "end", err, io.EOF)
		want(t, "body", strings.Join(got, "|"), "one|twothree|fo|ur")
		want(t, "kernel", r.Kernel(), true)
		r.Close()
	}
	want(t, "connections", accepted(), 1)
}

// readsOn reads the second of two chunks and the end as if nobody had followed.
func readsOn(t *testing.T, r *Passed, next chan bool) {
	t.Helper()
	data, at, err := r.Read(0)
	want(t, "data", string(data), "two")
	want(t, "kernel", at.Kernel, true)
	want(t, "error", err, nil)
	next <- true
	_, _, err = r.Read(0)
	want(t, "end", err, io.EOF)
}

// take says no: Read reads on, and the connection is as good as before.
func TestFollowGivesBack(t *testing.T) { eachWay(t, followGivesBack) }

func followGivesBack(t *testing.T) {
	c, next, accepted := scripted(t, chunkedHead, chunk("one"), chunk("two"), lastChunk)
	for range 2 {
		r := passed(t, t.Context(), c, next)
		next <- true
		want(t, "given back", r.Follow(never, func([]byte, Arrived) bool { return false }), nil)
		next <- true
		readsOn(t, r, next)
		r.Close()
	}
	want(t, "connections", accepted(), 1)
}

// What stops a followed response is told as Read tells it.
func TestFollowEnds(t *testing.T) { eachWay(t, followEnds) }

func followEnds(t *testing.T) {
	follow := func(r *Passed, limit func() int64) *EndError {
		err := r.Follow(limit, func([]byte, Arrived) bool { return true })
		r.Close()
		var end *EndError
		if !errors.As(err, &end) {
			t.Fatalf("%v", err)
		}
		return end
	}
	t.Run("cut", func(t *testing.T) {
		c, next, _ := scripted(t, chunkedHead, chunk("one"), "CUT")
		r := passed(t, t.Context(), c, next)
		next <- true
		next <- true
		want(t, "end", follow(r, never).End, timeline.Cut)
	})
	t.Run("no HTTP", func(t *testing.T) {
		c, next, _ := scripted(t, chunkedHead, chunk("one")+"zz\r\n")
		r := passed(t, t.Context(), c, next)
		next <- true
		want(t, "invalid", follow(r, never).Invalid, true)
	})
	t.Run("silence", func(t *testing.T) {
		c, next, _ := scripted(t, chunkedHead)
		r := passed(t, t.Context(), c, next)
		want(t, "end", follow(r, func() int64 { return r.LastNS() + int64(30*time.Millisecond) }).End, timeline.EndTimeoutIdle)
	})
	t.Run("silence since a byte that ended a longer limit", func(t *testing.T) {
		c, next, _ := scripted(t, chunkedHead, chunk("one"))
		r := passed(t, t.Context(), c, next)
		next <- true
		start := time.Now()
		limit := func() int64 {
			if r.LastNS() > r.HeadNS {
				return r.LastNS() + int64(30*time.Millisecond)
			}
			return r.SentNS + int64(20*time.Second)
		}
		want(t, "end", follow(r, limit).End, timeline.EndTimeoutIdle)
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("after %v", d)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		c, next, _ := scripted(t, chunkedHead)
		ctx, cancel := context.WithCancelCause(t.Context())
		r := passed(t, ctx, c, next)
		time.AfterFunc(10*time.Millisecond, func() { cancel(ErrUser) })
		want(t, "end", follow(r, never).End, timeline.EndUser)
	})
}

// Where no descriptor is left, what is given back can be read all the same.
func TestFollowGivesBackWithoutADescriptor(t *testing.T) {
	inFlows(t)
	c, next, accepted := scripted(t, chunkedHead, chunk("one"), chunk("two"), lastChunk)
	for range 2 {
		r := passed(t, t.Context(), c, next)
		next <- true
		var had, none unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &had); err != nil {
			t.Fatal(err)
		}
		none.Max = had.Max
		err := r.Follow(never, func([]byte, Arrived) bool {
			want(t, "limit", unix.Setrlimit(unix.RLIMIT_NOFILE, &none), nil)
			return false
		})
		want(t, "limit", unix.Setrlimit(unix.RLIMIT_NOFILE, &had), nil)
		want(t, "given back", err, nil)
		_, isFile := r.cn.src.Conn.(fileConn)
		want(t, "as a file", isFile, true)
		_, _, err = r.Read(r.LastNS() + int64(20*time.Millisecond))
		var end *EndError
		want(t, "the limit holds", errors.As(err, &end) && end.End == timeline.EndTimeoutIdle, true)
		r.over = false
		next <- true
		readsOn(t, r, next)
		r.Close()
	}
	want(t, "connections", accepted(), 1)
}

// The processors of the flows are given back, and not counted twice.
func TestFlowsGiveTheirProcessorsBack(t *testing.T) {
	inFlows(t)
	processorsBack()
	kept, procs := clock.KeptProcessors(), runtime.GOMAXPROCS(0)
	c, next, _ := scripted(t, chunkedHead, chunk("one"))
	for range 2 {
		keeper := clock.Keep()
		r := passed(t, t.Context(), c, next)
		next <- true
		want(t, "given back", r.Follow(never, func([]byte, Arrived) bool {
			want(t, "processors", clock.KeptProcessors(), kept+len(theFlows().all)+1)
			return false
		}), nil)
		r.Close()
		keeper.Close()
		want(t, "they stay for a while", runtime.GOMAXPROCS(0), procs+len(theFlows().all))
	}
	processorsBack()
	want(t, "processors", clock.KeptProcessors(), kept)
	want(t, "GOMAXPROCS", runtime.GOMAXPROCS(0), procs)
}

// A panic in take is the caller's, and others go on.
func TestFollowPanicsWhereItWasCalled(t *testing.T) { eachWay(t, followPanicsWhereItWasCalled) }

func followPanicsWhereItWasCalled(t *testing.T) {
	c, next, _ := scripted(t, chunkedHead, chunk("one"))
	r := passed(t, t.Context(), c, next)
	defer r.Close()
	next <- true
	defer func() { want(t, "panic", recover(), any("no")) }()
	_ = r.Follow(never, func([]byte, Arrived) bool { panic("no") })
	t.Error("it returned")
}

// A few responses are read apart; once there are more, the others share a flow,
// and so do all that begin while one has anything to read.
func TestFewAreReadApart(t *testing.T) {
	c, next, _ := scripted(t, chunkedHead, chunk("one"), lastChunk)
	fs := theFlows()
	inFlow := func() (n int64) {
		for _, f := range fs.all {
			n += f.load.Load()
		}
		return n
	}
	apart := func() (yes bool) {
		before := inFlow()
		r := passed(t, t.Context(), c, next)
		defer r.Close()
		next <- true
		_ = r.Follow(never, func([]byte, Arrived) bool {
			yes = inFlow() == before
			return false
		})
		next <- true
		_, _, err := r.Read(0)
		want(t, "end", err, io.EOF)
		return yes
	}
	want(t, "the first", apart(), true)
	want(t, "its place is free again", fs.apart.Load(), 0)
	fs.apart.Add(fewApart - 1)
	want(t, "the last of few", apart(), true)
	fs.apart.Add(1)
	want(t, "one more", apart(), false)

	other, goOn, _ := scripted(t, chunkedHead, "CUT")
	slow := passed(t, t.Context(), other, goOn)
	defer slow.Close()
	over := make(chan bool)
	go func() {
		_ = slow.Follow(never, func([]byte, Arrived) bool { return true })
		close(over)
	}()
	for inFlow() == 0 {
		time.Sleep(time.Millisecond)
	}
	fs.apart.Add(-fewApart)
	want(t, "beside a flow that reads", apart(), false)
	goOn <- true
	<-over
}
