package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// webSocket is a connection after its handshake. A goroutine of its own reads it
// for as long as it is open: the server's pings are answered between replies too.
// It carries one reply at a time, which every server of the API can.
type webSocket struct {
	c      *Client
	src    *source
	write  func([]byte) error
	header http.Header // of the handshake's answer
	frames *framing.WebSocket
	out    sync.Mutex // one frame is written at a time

	mu    sync.Mutex
	x     *exchange // whose reply is awaited; nil: none
	over  bool      // nothing more comes
	lines []byte    // of the read in hand
	fresh bool      // no message of x has come

	talk talk // of who holds the connection
}

const (
	farewell    = 100 * time.Millisecond // for a close frame to be taken
	switchingTo = http.StatusSwitchingProtocols
)

// onceWebSocket is once over a WebSocket: on an open connection of the session, or
// on a new one, whose handshake is an exchange of HTTP.
func (x *exchange) onceWebSocket(ctx context.Context, fresh bool) verdict {
	cn, f := x.connection(ctx, fresh)
	if f != nil {
		x.fail(f)
		return settled
	}
	x.onIdle = cn.idle
	if cn.ws == nil {
		if v := x.upgrade(ctx, cn); v != switched {
			return v
		}
	}
	v, keep := x.speak(ctx, cn.ws)
	if x.c.cfg.API.Remembers { // nobody else can use it
		keep = keep && x.owner() != "" && cn.ws.talk.previous != ""
	}
	x.release(cn, keep)
	return v
}

// upgrade opens the WebSocket on a new connection. Every other answer than 101 is
// the reply, as it would be without one.
func (x *exchange) upgrade(ctx context.Context, cn *conn) verdict {
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails
	ask := x.msg
	x.msg.method, x.msg.body, x.msg.upgrade = http.MethodGet, nil, base64.StdEncoding.EncodeToString(nonce[:])
	x.rd.upgrade = true
	began := x.c.clk.NS()
	unhook := context.AfterFunc(ctx, cn.close)
	v, _ := x.exchange(ctx, cn)
	key := x.msg.upgrade
	x.msg.method, x.msg.body, x.msg.upgrade = ask.method, ask.body, ""
	if !unhook() && v == switched {
		v = x.lose(ctx, net.ErrClosed)
	}
	if v != switched {
		cn.close()
		x.noWebSocket()
		return v
	}
	if err := checkSwitch(x.rd.header, key); err != nil {
		cn.close()
		x.fail(&failure{class: timeline.Parse, msg: err.Error(), atNS: x.headNS})
		return settled
	}
	x.tl.ConnectUS = timeline.Some(x.tl.ConnectUS.Or(0) + (x.headNS-began)/1000)
	x.tl.SentUS = timeline.Opt[int64]{}
	_ = cn.src.SetReadDeadline(time.Time{}) // limits are kept by who waits
	cn.ws = &webSocket{c: x.c, src: cn.src, write: cn.write, header: x.rd.header, frames: framing.NewWebSocket(x.c.cfg.Stream.MaxEvent)}
	go cn.ws.listen(cn, x.early)
	x.early = nil
	return switched
}

// noWebSocket adds what to do about a server that answered by HTTP.
func (x *exchange) noWebSocket() {
	const hint = "; the server opened no WebSocket at this path: give its http or https URL to measure it over HTTP"
	switch status := x.tl.HTTPStatus; {
	case status/100 == 2:
		x.tl.Fail(timeline.Parse, fmt.Sprintf("HTTP %d instead of 101%s", status, hint))
	case x.tl.Error != nil && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusUpgradeRequired || status == http.StatusNotImplemented):
		x.tl.Error.Message += hint
	}
}

// checkSwitch judges the answer to a handshake (RFC 6455 section 4.1).
func checkSwitch(h http.Header, key string) error {
	switch {
	case !strings.EqualFold(strings.TrimSpace(h.Get("Upgrade")), "websocket"), !slices.Contains(listOf(h["Connection"]), "upgrade"):
		return errors.New("no valid WebSocket handshake: the server switched to another protocol")
	case strings.TrimSpace(h.Get("Sec-Websocket-Accept")) != framing.AcceptKey(key):
		return errors.New("no valid WebSocket handshake: Sec-WebSocket-Accept does not answer the key")
	case h.Get("Sec-Websocket-Extensions") != "":
		return fmt.Errorf("no valid WebSocket handshake: the extension %s was not asked for", quoted(h.Get("Sec-Websocket-Extensions")))
	}
	return nil
}

// speak sends the request on an open connection and waits until its reply has come.
func (x *exchange) speak(ctx context.Context, w *webSocket) (verdict, bool) {
	if err := x.create(&w.talk); err != nil {
		x.fail(&failure{class: timeline.ClientResource, msg: "the request can't be built: " + x.c.redact.Error(err)})
		return settled, true
	}
	x.done = make(chan struct{}, 1)
	before := x.c.clk.NS()
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		return lostIdle, false
	}
	x.rd.reset()
	x.any, x.mode, x.sentNS, x.lastNS, x.unwritten = false, waiting4head, before, before, true
	x.writeNS = math.MaxInt64
	if len(x.msg.body) <= takenAtOnce {
		x.writeNS = before
	}
	w.x, w.fresh = x, true
	w.mu.Unlock()
	limit, _ := x.lim.early()
	err := w.send(framing.OpText, x.msg.body, deadline(x.c.clk, limit))
	now := x.c.clk.NS()
	w.mu.Lock()
	x.unwritten = false
	if err == nil && !x.any {
		x.sentNS = now
		x.tl.SentUS = timeline.Some(x.us(now))
	}
	if err != nil && w.x == x {
		v := settled
		if !x.broke(ctx, err) {
			v = x.lose(ctx, err)
		}
		w.decide(v, false)
	}
	w.mu.Unlock()
	w.wait(ctx, x)
	if x.decided == settled && x.keep {
		w.talk.told(x)
	}
	return x.decided, x.keep
}

// wait sits out the reply, its limits and the end of ctx.
func (w *webSocket) wait(ctx context.Context, x *exchange) {
	for {
		w.mu.Lock()
		limit, _ := x.limit()
		w.mu.Unlock()
		timer := time.NewTimer(time.Duration(limit - w.c.clk.NS()))
		select {
		case <-x.done:
			timer.Stop()
			return
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		w.mu.Lock()
		if limit, end := x.limit(); w.x == x {
			switch {
			case ctx.Err() != nil:
				w.decide(x.lose(ctx, net.ErrClosed), false)
			case limit <= w.c.clk.NS():
				w.decide(x.strike(limit, end), false)
			}
		}
		w.mu.Unlock()
	}
}

// send writes a control frame, or messages of text, a line each.
func (w *webSocket) send(op framing.Op, data []byte, by time.Time) error {
	b := requests.Get().(*[]byte)
	*b = (*b)[:0]
	for more := true; more; {
		part := data
		if more = false; op == framing.OpText {
			part, data, more = bytes.Cut(data, []byte{'\n'})
		}
		var mask [4]byte // each frame has another
		_, _ = rand.Read(mask[:])
		*b = framing.AppendFrame(*b, op, mask, part)
	}
	w.out.Lock()
	_ = w.src.SetWriteDeadline(by)
	err := w.write(*b)
	w.out.Unlock()
	if cap(*b) <= 1<<20 {
		requests.Put(b)
	}
	return err
}

// listen reads until the connection ends. early is what came behind the handshake.
func (w *webSocket) listen(cn *conn, early []byte) {
	defer cn.close()
	if w.heard(early) {
		return
	}
	for {
		buf, n, err := cn.readOne()
		if err != nil {
			w.lost(err)
			return
		}
		over := w.heard(buf[:n])
		putBuffer(buf)
		if over {
			return
		}
	}
}

// heard takes the bytes of one read; true when nothing more is to be read.
func (w *webSocket) heard(data []byte) (over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x := w.x; x != nil && len(data) > 0 {
		if limit, end := x.limit(); w.src.arrivedNS > limit {
			w.decide(x.strike(limit, end), false)
		}
	}
	w.lines = w.lines[:0]
	err := w.frames.Feed(data, w.take)
	w.hand()
	if err == nil {
		return w.over
	}
	w.over = true
	code := 1002
	var broken *framing.WebSocketError
	var large *framing.TooLargeError
	var closed *closedError
	switch {
	case errors.As(err, &closed):
		code = closed.answer()
	case errors.As(err, &broken):
		code = broken.Code
	case errors.As(err, &large):
		code = 1009
	}
	_ = w.send(framing.OpClose, framing.AppendClose(nil, code), time.Now().Add(farewell))
	if x := w.x; x != nil {
		if closed != nil {
			w.decide(x.closedBy(closed, max(w.src.arrivedNS, x.lastNS)), false)
		} else {
			x.lastNS = max(x.lastNS, w.src.arrivedNS)
			x.violated(err)
			w.decide(settled, false)
		}
	}
	return true
}

// take takes a message or a control frame. Each message of the reply becomes a line:
// JSON means the same whatever white space stands for its line ends.
func (w *webSocket) take(op framing.Op, data []byte) error {
	switch op {
	case framing.OpPing:
		// A server that does not take it notices by itself that we are silent.
		_ = w.send(framing.OpPong, data, time.Now().Add(farewell))
	case framing.OpClose:
		code, reason := framing.CloseOf(data)
		return &closedError{code: code, reason: reason}
	case framing.OpText, framing.OpBinary:
		if w.x == nil {
			return nil // nobody asked for it
		}
		if w.fresh && len(w.lines) == 0 && !w.begins(data) {
			return nil
		}
		from := len(w.lines)
		w.lines = append(append(w.lines, data...), '\n')
		for i, c := range w.lines[from : len(w.lines)-1] {
			if c == '\n' || c == '\r' {
				w.lines[from+i] = ' '
			}
		}
	}
	return nil
}

// begins reports whether a message may be the first of a reply. What the reply before
// left behind is not, nor is what the server tells of its session.
func (w *webSocket) begins(data []byte) bool {
	if begins := w.c.cfg.API.Begins; begins != nil && !begins(data) {
		return false
	}
	return string(bytes.TrimSpace(data)) != "[DONE]"
}

// hand gives the lines of a read to the exchange whose reply they are.
func (w *webSocket) hand() {
	x := w.x
	if x == nil || len(w.lines) == 0 {
		return
	}
	at := x.arrival(&w.src.stamper)
	if w.fresh {
		if v := x.refusedChain(w.lines); v != settled {
			w.decide(v, v == unchained)
			return
		}
		w.fresh = false
		x.headNS = at
		x.rd.status, x.rd.header, x.rd.state = switchingTo, w.header, inUntilClose
		x.tl.Clock = timeline.Kernel
		x.gotHead()
	}
	if !w.src.allSeen {
		x.tl.Clock = timeline.User
	}
	x.body(at, (w.src.readNS-w.src.arrivedNS)/1000, w.lines)
	switch {
	case x.enoughNS > 0:
		x.watched()
		w.decide(x.finish(), true)
	case x.watched():
		w.decide(settled, false)
	}
}

// decide ends an exchange; the connection goes on if it may be kept.
func (w *webSocket) decide(v verdict, keep bool) {
	x := w.x
	w.x = nil
	x.decided, x.keep = v, keep && !w.over
	x.done <- struct{}{}
}

// lost ends a connection that was cut.
func (w *webSocket) lost(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	x := w.x
	if x == nil {
		return
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // it ends with a close frame
	}
	w.decide(x.lose(context.Background(), err), false)
}

// shut says farewell and closes the connection below.
func (w *webSocket) shut() {
	w.mu.Lock()
	over := w.over
	w.over = true
	w.mu.Unlock()
	if !over {
		_ = w.send(framing.OpClose, framing.AppendClose(nil, 1000), time.Now().Add(farewell))
	}
}

func (w *webSocket) open() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.over
}

// closedError is the server's close frame.
type closedError struct {
	code   int
	reason string
}

// closeNames are the codes of RFC 6455 and of IANA's registry that a server may send.
var closeNames = map[int]string{1000: "normal closure", 1001: "going away", 1002: "protocol error", 1003: "unsupported data",
	framing.NoCloseCode: "no code", 1007: "invalid data", 1008: "policy violation", 1009: "message too big", 1010: "extension missing",
	1011: "internal error", 1012: "service restart", 1013: "try again later", 1014: "bad gateway"}

func (e *closedError) Error() string {
	words := "the server closed the WebSocket"
	if e.code != framing.NoCloseCode {
		words += fmt.Sprintf(" with %d", e.code)
		if name := closeNames[e.code]; name != "" {
			words += " (" + name + ")"
		}
	}
	if e.reason != "" {
		words += ": " + e.reason
	}
	return words
}

// answer is the code that is sent back.
func (e *closedError) answer() int {
	if e.code == framing.NoCloseCode {
		return 1000
	}
	return e.code
}

// fault reports whether the code says that something went wrong.
func (e *closedError) fault() bool {
	return e.code != 1000 && e.code != 1001 && e.code != framing.NoCloseCode
}

// closedBy settles an exchange whose connection the server closed: an ordinary
// close is a reply cut short, every other an error of the server's.
func (x *exchange) closedBy(e *closedError, at int64) verdict {
	switch {
	case x.mode != deliver && x.onIdle && !e.fault():
		return lostIdle
	case x.mode != deliver && !e.fault():
		x.fail(&failure{class: timeline.ConnReset, msg: e.Error() + " before any response", atNS: at})
	case x.mode != deliver:
		x.fail(&failure{class: timeline.StreamError, msg: e.Error(), atNS: at})
	default:
		x.end(at, timeline.Cut, e)
		if e.fault() && x.tl.Outcome == timeline.StreamTruncated {
			x.tl.Fail(timeline.StreamError, e.Error())
		}
	}
	return settled
}

// notFound reports whether a message says that the response to go on with is not
// there, or that the connection is too old.
func notFound(line []byte) (gone, old bool) {
	if !bytes.Contains(line, []byte(`"error"`)) {
		return false, false
	}
	return bytes.Contains(line, []byte(`"previous_response_not_found"`)), bytes.Contains(line, []byte(`"websocket_connection_limit_reached"`))
}
