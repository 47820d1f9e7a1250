package client

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"

	"tokenmeter/record/timeline"
)

// trace collects the steps of an attempt; its hooks run on other goroutines.
type trace struct {
	c  *Client
	mu sync.Mutex

	took                    timings
	dns, connect, handshake int64
	headers, sent, head     int64 // the request's headers were written, all of it was, the reply's head came; -1: not yet
	conns                   int   // connections the request was given: one, and one more for each that was lost
	reused                  bool
	conn                    net.Conn // that the request is on; nil before, and after its end
	remote                  string
}

func (t *trace) hooks() *httptrace.ClientTrace {
	// at runs f with the time, under the lock.
	at := func(f func(now int64)) {
		now := t.c.clk.NS()
		t.mu.Lock()
		defer t.mu.Unlock()
		f(now)
	}
	since := func(start int64, now int64) timeline.Opt[int64] { return timeline.Some((now - start) / 1000) }
	return &httptrace.ClientTrace{
		GetConn:           func(string) { at(func(now int64) { t.connect = now }) },
		DNSStart:          func(httptrace.DNSStartInfo) { at(func(now int64) { t.dns = now }) },
		DNSDone:           func(httptrace.DNSDoneInfo) { at(func(now int64) { t.took.dns, t.connect = since(t.dns, now), now }) },
		ConnectDone:       func(_, _ string, err error) { at(func(now int64) { t.took.connect = since(t.connect, now) }) },
		TLSHandshakeStart: func() { at(func(now int64) { t.handshake = now }) },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { at(func(now int64) { t.took.tls = since(t.handshake, now) }) },
		WroteHeaders:      func() { at(func(now int64) { t.headers = now }) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				at(func(now int64) { t.sent = now })
			}
		},
		GotFirstResponseByte: func() { at(func(now int64) { t.head = now }) },
		GotConn: func(info httptrace.GotConnInfo) {
			at(func(int64) {
				t.conns++
				t.headers, t.sent = -1, -1
				t.reused = info.Reused
				t.remote = info.Conn.RemoteAddr().String()
				t.c.count.streams.move(t.conn, info.Conn)
				t.conn = info.Conn
			})
		},
	}
}

// leave ends the request's stay on its connection.
func (t *trace) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c.count.streams.move(t.conn, nil)
	t.conn = nil
}

// record writes what is known when the head has come, or will not.
func (t *trace) record(x *exchange) {
	now := x.c.clk.NS()
	t.mu.Lock()
	defer t.mu.Unlock()
	x.headNS = now
	if t.head >= 0 {
		x.headNS = t.head
	}
	x.writeNS = t.sent
	if t.headers >= 0 && len(x.msg.body) <= takenAtOnce {
		x.writeNS = t.headers // a body that waits for nobody is written behind them
	}
	switch {
	case t.head >= 0 && x.writeNS >= 0 && (t.sent < 0 || t.sent > t.head):
		x.outBefore(t.head)
	case t.sent >= 0:
		x.sentNS = t.sent
		x.tl.SentUS = timeline.Some(x.us(t.sent))
	}
	if t.conns == 0 {
		t.took.record(x.tl)
		return
	}
	x.tl.ConnRetries += t.conns - 1
	x.tl.Reused, x.tl.Remote = timeline.Some(t.reused), t.remote
	if t.reused {
		x.c.count.reused.Add(1)
		t.took = timings{} // another request's connection
	}
	x.c.count.dead.Add(int64(t.conns - 1))
	t.took.record(x.tl)
}
