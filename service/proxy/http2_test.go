package proxy

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

// Frames of HTTP/2, as far as these tests speak it.
const (
	frameData, frameHeaders, frameReset, frameSettings, frameCredit = 0, 1, 3, 4, 8

	flagEndStream, flagEndHeaders, flagAck = 1, 4, 1

	resetInternal, resetCancel = 2, 8
)

type frame struct {
	kind, flags byte
	stream      uint32
	data        []byte
}

// frames is an HTTP/2 client that shows what came, frame by frame.
type frames struct {
	t      *testing.T
	c      net.Conn
	write  sync.Mutex
	mu     sync.Mutex
	came   []frame
	unread map[uint32]bool // streams that give the server no credit
}

func (h *house) frames() *frames {
	f := &frames{t: h.t, c: h.front.dial(), unread: map[uint32]bool{}}
	h.t.Cleanup(func() { f.c.Close() })
	go f.read()
	_, _ = io.WriteString(f.c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	f.send(frameSettings, 0, 0, nil)
	f.send(frameCredit, 0, 0, binary.BigEndian.AppendUint32(nil, 1<<28))
	return f
}

func (f *frames) send(kind, flags byte, stream uint32, data []byte) {
	b := append([]byte{byte(len(data) >> 16), byte(len(data) >> 8), byte(len(data)), kind, flags}, 0, 0, 0, byte(stream))
	f.write.Lock()
	defer f.write.Unlock()
	_, _ = f.c.Write(append(b, data...))
}

func (f *frames) read() {
	var head [9]byte
	for {
		if _, err := io.ReadFull(f.c, head[:]); err != nil {
			return
		}
		fr := frame{kind: head[3], flags: head[4], stream: binary.BigEndian.Uint32(head[5:]), data: make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))}
		if _, err := io.ReadFull(f.c, fr.data); err != nil {
			return
		}
		f.mu.Lock()
		f.came = append(f.came, fr)
		mute := f.unread[fr.stream]
		f.mu.Unlock()
		switch {
		case fr.kind == frameSettings && fr.flags&flagAck == 0:
			go f.send(frameSettings, flagAck, 0, nil)
		case fr.kind == frameData && len(fr.data) > 0 && !mute:
			go f.send(frameCredit, 0, fr.stream, binary.BigEndian.AppendUint32(nil, uint32(len(fr.data))))
		}
	}
}

// ask opens a stream with a completion's request; pairs are further fields of
// the head, and replace those that it would have.
func (f *frames) ask(stream uint32, body string, pairs ...string) {
	fields := []string{":method", "POST", ":scheme", "http", ":authority", "proxy", ":path", chatPath}
	own := len(fields)
	for i := 0; i < len(pairs); i += 2 {
		at := -1
		for k := 0; k < own; k += 2 {
			if fields[k] == pairs[i] {
				at = k
			}
		}
		if at < 0 {
			fields = append(fields, pairs[i], pairs[i+1])
			continue
		}
		fields[at+1] = pairs[i+1]
	}
	f.send(frameHeaders, flagEndHeaders, stream, literals(fields))
	f.send(frameData, flagEndStream, stream, []byte(body))
}

// literals writes fields as HPACK literals without a table.
func literals(fields []string) (block []byte) {
	for i, s := range fields {
		if i%2 == 0 {
			block = append(block, 0)
		}
		block = append(append(block, byte(len(s))), s...)
	}
	return block
}

// got is what came on a stream.
func (f *frames) got(stream uint32) (status byte, body string, ended bool, reset int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reset = -1
	for _, fr := range f.came {
		if fr.stream != stream {
			continue
		}
		switch fr.kind {
		case frameHeaders:
			if status == 0 {
				status = fr.data[0]
			}
		case frameData:
			body += string(fr.data)
		case frameReset:
			reset = int(binary.BigEndian.Uint32(fr.data))
			continue
		default:
			continue
		}
		ended = ended || fr.flags&flagEndStream != 0
	}
	return status, body, ended, reset
}

// status200 is the status 200 in HPACK's table.
const status200 byte = 0x88

// two plays one thing for the first stream and another for the second.
func two(first, second func(net.Conn, *received) bool) func(net.Conn, *received) bool {
	return func(c net.Conn, r *received) bool {
		if strings.Contains(r.body, "second") {
			return second(c, r)
		}
		return first(c, r)
	}
}

const second = `{"model":"second","stream":true}`

var wellPlayed = play("0ms "+sseHead, "300ms "+chunk(tok("A")), "600ms "+chunk(tok("B")+fin+done)+lastChunk)

// A death of the upstream resets the stream of an HTTP/2 client and never ends
// it; the other streams of its connection go on.
func TestHTTP2AbortIsAReset(t *testing.T) {
	for name, tc := range map[string]struct {
		writes []string
		class  timeline.Outcome
	}{
		"killed in the stream": {[]string{"100ms " + sseHead + chunk(tok("w")), "150ms CUT"}, timeline.StreamTruncated},
		"killed in a chunk":    {[]string{"100ms " + sseHead + chunk(tok("w")) + "40\r\ndata: {", "150ms CUT"}, timeline.StreamTruncated},
		"a short length":       {[]string{"100ms HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n" + tok("w"), "150ms CUT"}, timeline.StreamTruncated},
		"garbage":              {[]string{"100ms " + sseHead + chunk(tok("w")), "150ms -1\r\n"}, timeline.Parse},
		"stalls":               {[]string{"100ms " + sseHead + chunk(tok("w")), "150ms KEEP"}, timeline.TimeoutIdle},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, two(play(tc.writes...), wellPlayed), func(c *Config) { c.Upstreams[0].IdleTimeout = 30 * time.Second })
				f := h.frames()
				f.ask(1, hello)
				time.Sleep(time.Millisecond)
				f.ask(3, second)
				synctest.Wait()
				h.settled()
				time.Sleep(time.Second)
				status, body, ended, reset := f.got(1)
				want(t, "status", status, status200)
				want(t, "body has the token", strings.HasPrefix(body, tok("w")), true)
				want(t, "the stream ended", ended, false)
				want(t, "reset", reset, resetInternal)
				_, body, ended, reset = f.got(3)
				want(t, "the other stream", body, tok("A")+tok("B")+fin+done)
				want(t, "the other stream ended", ended, true)
				want(t, "the other stream's reset", reset, -1)
				outcomes := map[timeline.Outcome]int64{tc.class: 1, timeline.OK: 1}
				want(t, "outcomes", fmt.Sprint(h.p.Stats().Outcomes), fmt.Sprint(outcomes))
				want(t, "in flight", h.p.Stats().InFlight, 0)
			})
		})
	}
}

// RST_STREAM is a hang-up: of its own stream only.
func TestHTTP2ClientHangsUp(t *testing.T) {
	for _, mode := range []Leave{LeaveCancel, LeaveDrain} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var closed atomic.Int64
				note := &closed
				if mode == LeaveDrain {
					note = nil
				}
				h := open(t, two(forty(note), wellPlayed), func(c *Config) { c.Routes[0].Leave = mode })
				f := h.frames()
				f.ask(1, hello)
				f.ask(3, second)
				time.Sleep(270 * time.Millisecond)
				f.send(frameReset, 0, 1, []byte{0, 0, 0, resetCancel})
				h.settled()
				for _, r := range h.sink.all {
					if r.Model == "second" {
						want(t, "the other stream", r.Outcome, timeline.OK)
						continue
					}
					want(t, "outcome", r.Outcome, timeline.CancelledUser)
					want(t, "delivered", r.Delivered.Or(-1), 4)
					want(t, "left", r.LeftUS.Or(-1), 270_000)
					if mode == LeaveDrain {
						want(t, "wasted", r.Wasted.Or(-1), 36)
					}
				}
				want(t, "records", len(h.sink.all), 2)
				if at := time.Duration(closed.Load()); mode == LeaveCancel && (at < 270*time.Millisecond || at > 320*time.Millisecond) {
					t.Errorf("the upstream was cancelled at %v", at)
				}
				_, body, ended, _ := f.got(3)
				want(t, "the other stream's end", ended && strings.HasSuffix(body, done), true)
			})
		})
	}
}

// Deadlines of writes are for writes: a server may think for longer.
func TestHTTP2SilenceIsNoSlowReader(t *testing.T) {
	for name, writes := range map[string][]string{
		"in the stream":   {"100ms " + sseHead + chunk(tok("A")), "500000ms " + chunk(tok("B")+fin+done) + lastChunk},
		"before the head": {"500000ms " + sseHead + chunk(tok("A")+tok("B")+fin+done) + lastChunk},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, play(writes...), func(c *Config) { c.ReaderTimeout, c.BodyTimeout = time.Minute, time.Minute })
				f := h.frames()
				f.ask(1, hello)
				synctest.Wait()
				h.settled()
				_, body, ended, reset := f.got(1)
				want(t, "body", body, tok("A")+tok("B")+fin+done)
				want(t, "ended", ended, true)
				want(t, "reset", reset, -1)
				want(t, "outcome", h.sink.one(t).Outcome, timeline.OK)
			})
		})
	}
}

// A client that gives one stream no credit loses that stream and no other.
func TestHTTP2SlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := chunk(tok(strings.Repeat("x", 100_000)))
		h := open(t, two(play("0ms "+sseHead+big, "900000ms KEEP"), wellPlayed), func(c *Config) { c.ReaderTimeout = time.Minute })
		f := h.frames()
		f.mu.Lock()
		f.unread[1] = true
		f.mu.Unlock()
		f.ask(1, hello)
		f.ask(3, second)
		time.Sleep(10 * time.Minute)
		h.settled()
		_, _, ended, reset := f.got(1)
		want(t, "ended", ended, false)
		want(t, "reset", reset, resetInternal)
		_, body, ended, _ := f.got(3)
		want(t, "the other stream's end", ended && strings.HasSuffix(body, done), true)
		want(t, "outcomes", fmt.Sprint(h.p.Stats().Outcomes), fmt.Sprint(map[timeline.Outcome]int64{timeline.CancelledUser: 1, timeline.OK: 1}))
	})
}

// HTTP/2 can say what HTTP/1.1 can't, and none of it gets upstream.
func TestHTTP2RequestSmuggling(t *testing.T) {
	for name, fields := range map[string][]string{
		"a request in the method":   {":method", "GET /admin HTTP/1.1"},
		"a line in the method":      {":method", "GET / HTTP/1.1\r\nx: y\r\n\r\nGET"},
		"no method":                 {":method", ""},
		"an absolute URL":           {":path", "http://elsewhere/v1/models"},
		"another host's path":       {":path", "//elsewhere/v1/chat/completions"},
		"a line in the path":        {":path", chatPath + " HTTP/1.1\r\nx: y"},
		"out of the allowed paths":  {":path", "/v1/models/../../admin"},
		"a coding":                  {"transfer-encoding", "chunked"},
		"a connection":              {"connection", "upgrade", "upgrade", "websocket"},
		"a line in a value":         {"x-a", "b\r\ntransfer-encoding: chunked"},
		"a line in a name":          {"x-a\r\ntransfer-encoding: chunked\r\nx-b", "c"},
		"a colon in a name":         {"transfer-encoding: chunked", "c"},
		"a length that is too long": {"content-length", "9999"},
		"two lengths":               {"content-length", strconv.Itoa(len(hello)), "content-length", "1"},
		"one length twice":          {"content-length", strconv.Itoa(len(hello)), "content-length", strconv.Itoa(len(hello))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, answerOK, func(c *Config) { c.Upstreams[0].URL = "http://server" })
				f := h.frames()
				f.ask(1, hello, fields...)
				time.Sleep(2 * time.Minute)
				h.settled()
				status, _, _, reset := f.got(1)
				if status == status200 && reset < 0 {
					t.Error("it was answered")
				}
				want(t, "requests that got through", len(h.up.requests), 0)
				want(t, "connections", h.up.dialled, 0)
			})
		})
	}
	t.Run("spaces in the path", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) { c.Routes[0].Paths = []string{"/v1/*"} })
			f := h.frames()
			f.ask(1, hello, ":path", "/v1/x HTTP/1.1?a=b HTTP/1.1")
			synctest.Wait()
			h.settled()
			want(t, "target", h.up.last().RequestURI, "/v1/x%20HTTP/1.1?a=b%20HTTP/1.1")
		})
	})
}

// dialler is a client of HTTP/2 that counts its connections.
func (h *house) dialler() (c *http.Client, dials *atomic.Int64) {
	dials = new(atomic.Int64)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		return h.front.dial(), nil
	}}
	h.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, dials
}

func TestHTTP2Trailers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("1ms "+strings.Replace(sseHead, "\r\n\r\n", "\r\ntrailer: X-End\r\n\r\n", 1)+chunk(tok("A")+fin+done)+"0\r\nx-end: well\r\nx-more: too\r\n\r\n"), nil)
		c, _ := h.dialler()
		resp, err := c.Post("http://proxy"+chatPath, "application/json", strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		want(t, "end", err, nil)
		want(t, "body", string(body), tok("A")+fin+done)
		want(t, "trailer", resp.Trailer.Get("X-End"), "well")
		want(t, "another", resp.Trailer.Get("X-More"), "too")
	})
}

// Many streams share a connection, and each has its own record.
func TestHTTP2ManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const streams = 300
		h := open(t, play("0ms "+sseHead, "300ms "+chunk(tok("A")), "600ms "+chunk(tok("B")+fin+done)+lastChunk), nil)
		c, dials := h.dialler()
		first, err := c.Get("http://proxy/v1/models") // so that all share its connection
		if err != nil {
			t.Fatal(err)
		}
		_ = first.Body.Close()
		var all sync.WaitGroup
		for range streams {
			all.Go(func() {
				resp, err := c.Post("http://proxy"+chatPath, "application/json", strings.NewReader(hello))
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				want(t, "end", err, nil)
				want(t, "body", string(body), tok("A")+tok("B")+fin+done)
			})
		}
		all.Wait()
		h.settled()
		want(t, "connections", dials.Load(), 1)
		want(t, "records", len(h.sink.all), streams)
		for _, r := range h.sink.all {
			want(t, "outcome", r.Outcome, timeline.OK)
			want(t, "ttft", ms(r.Record.TTFTMS), 300)
		}
	})
}
