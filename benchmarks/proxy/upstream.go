package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/clock"
)

// upstream writes the moment of each write into the token it writes, and the
// moment at which it had the request into the first one.
type upstream struct {
	ln      net.Listener
	clk     *clock.Clock
	address string
	gap     time.Duration
	tokens  int
}

const firstAfter = 50 * time.Millisecond

func startUpstream(s settings) (*upstream, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &upstream{ln: ln, clk: clock.Start(), address: ln.Addr().String(), gap: time.Duration(float64(time.Second) / s.rate), tokens: s.tokens}
	if s.idle > 0 {
		u.gap = 10 * time.Second
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go u.serve(c)
		}
	}()
	return u, nil
}

func (u *upstream) close() { _ = u.ln.Close() }

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

func (u *upstream) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 1<<10)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		if !u.reply(c) {
			return
		}
	}
}

func (u *upstream) reply(c net.Conn) bool {
	asked := u.clk.NS()
	if _, err := io.WriteString(c, head); err != nil {
		return false
	}
	next := time.Now().Add(firstAfter)
	buf := make([]byte, 0, 256)
	for i := range u.tokens {
		time.Sleep(time.Until(next))
		next = next.Add(u.gap)
		if i == 0 { // spread the streams over a gap
			next = next.Add(time.Duration(rand.Int64N(int64(u.gap))))
		}
		event := event(asked, u.clk.NS())
		buf = append(buf[:0], fmt.Sprintf("%x\r\n", len(event))...)
		buf = append(append(buf, event...), "\r\n"...)
		if _, err := c.Write(buf); err != nil {
			return false
		}
	}
	end := "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	_, err := fmt.Fprintf(c, "%x\r\n%s\r\n0\r\n\r\n", len(end), end)
	return err == nil
}

const mark = `"content":"`

func event(asked, now int64) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{"+mark+"%d %d\"}}]}\n\n", asked, now)
}

// moments reads what event wrote, from the start of data; rest follows it.
func moments(data string) (asked, wrote int64, rest string, ok bool) {
	_, after, found := strings.Cut(data, mark)
	if !found {
		return 0, 0, "", false
	}
	text, rest, found := strings.Cut(after, `"`)
	a, b, _ := strings.Cut(text, " ")
	asked, err1 := strconv.ParseInt(a, 10, 64)
	wrote, err2 := strconv.ParseInt(b, 10, 64)
	return asked, wrote, rest, found && err1 == nil && err2 == nil
}
