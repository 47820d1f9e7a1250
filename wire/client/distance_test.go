package client

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

// farEnd is one end of a connection on which bytes travel for a while.
type farEnd struct {
	net.Conn
	out  chan parcel
	once sync.Once
	way  time.Duration
}

type parcel struct {
	due  time.Time
	data []byte
}

// farPipe is net.Pipe over a distance.
func farPipe(way time.Duration) (a, b net.Conn) {
	near, nearInner := net.Pipe()
	far, farInner := net.Pipe()
	x := &farEnd{Conn: near, out: make(chan parcel, 1024), way: way}
	y := &farEnd{Conn: far, out: make(chan parcel, 1024), way: way}
	carry := func(from *farEnd, to net.Conn) {
		for p := range from.out {
			time.Sleep(time.Until(p.due))
			_, _ = to.Write(p.data)
		}
		to.Close()
	}
	go carry(x, farInner)
	go carry(y, nearInner)
	return x, y
}

func (e *farEnd) Write(p []byte) (int, error) {
	e.out <- parcel{time.Now().Add(e.way), append([]byte(nil), p...)}
	return len(p), nil
}

func (e *farEnd) Close() error {
	e.once.Do(func() { close(e.out) })
	return e.Conn.Close()
}

// B78: 150 ms away and under TLS, every part is a field of its own and nothing
// is subtracted.
func TestB78Distance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cert, roots := certificate(t)
		f := &fake{serve: play("100ms "+sseHead+chunk(tok("w")), "120ms "+chunk(fin+done)+lastChunk)}
		c := pipeClient(t, f, func(c *Config) {
			c.BaseURL = "https://127.0.0.1"
			c.TLS = &tls.Config{RootCAs: roots}
			c.Dial = func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := farPipe(75 * time.Millisecond)
				go f.run(tls.Server(theirs, &tls.Config{Certificates: []tls.Certificate{cert}}), 0)
				time.Sleep(150 * time.Millisecond)
				return ours, nil
			}
		})
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		wantUS(t, "connect", tl.ConnectUS, 150_000)
		wantUS(t, "tls", tl.TLSUS, 150_000)
		wantUS(t, "sent", tl.SentUS, 300_000)
		want(t, "ttft", tokens(tl)[0], 550_000)

		tl = send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		wantUS(t, "sent", tl.SentUS, 0)
		want(t, "ttft", tokens(tl)[0], 250_000)
		want(t, "reused", tl.Reused, timeline.Some(true))
	})
}
