package client

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// sink reads a reply; api.Stream is the one that counts.
type sink interface {
	Head(atUS int64, head api.Head)
	Read(atUS, lagUS int64, data []byte)
	Tokens() int64
	HasToken() bool
	LastTokenUS() int64
	Complete() bool
	End(atUS int64, end timeline.End, trailer http.Header, cause error)
}

// How one attempt ended.
type verdict int

const (
	settled    verdict = iota
	lostIdle           // the connection was dead before anything was answered
	moved              // a redirection to follow
	turnedAway         // asked to come again later
	switched           // the connection is a WebSocket now
	unchained          // over one, the response to go on with is not there
)

// What is done with the body.
type mode int

const (
	waiting4head mode = iota
	deliver
	swallow // of a response that does not count, to reuse the connection
)

// OpenTime is how long the body of a complete reply may stay open: a server that leaves it
// so for longer is told of ([timeline.EndLeftOpen]).
const OpenTime = 250 * time.Millisecond

// How long, and how much, is read on for the sake of the connection alone.
const (
	drainTime  = OpenTime
	drainBytes = 256 << 10
)

// closingTime is how long the close of an idle connection may be on its way to us. Who
// had a request for longer, and then breaks off, has lost it.
const closingTime = time.Second

// exchange is one request and its replies: it knows what bytes, limits and
// ends mean, and leaves waiting for them to once.
type exchange struct {
	c       *Client
	tl      *timeline.Timeline
	sink    sink
	capture func(*timeline.Timeline, []byte) Recorder
	rec     Recorder // nil: not captured
	msg     message
	lim     limits
	tries   int               // retries left
	first   func()            // told about the first token, once; nil: nobody is
	heard   func(http.Header) // told about the head of the reply that counts; nil: nobody is
	leaveAt int64             // hang up after so many generation events; 0: never
	againNS int64             // when the next try is due
	ask     *api.Request      // over a WebSocket, what its message is written from; else nil
	whole   bool              // of it all messages are sent, whatever the server has of them

	// One attempt:
	rd        response
	mode      mode
	verdict   verdict // of a response that is swallowed
	writeNS   int64   // before the last piece of the request was given to the system; sentNS where that is not known
	sentNS    int64   // after it
	headNS    int64
	lastNS    int64 // the read before
	enoughNS  int64 // when the reply needed no more bytes; 0: it still does
	swallowed int
	onIdle    bool   // the connection had waited in the pool
	any       bool   // a byte came
	refused   error  // a redirection that is not followed
	writeErr  error  // the request could not be written whole
	unsent    []byte // of the request, what the socket did not take at once
	unwritten bool   // over a WebSocket: the request is not known to be out
	chained   bool   // it goes on with a response
	early     []byte // what came behind the handshake

	awaited // by the reactor

	// How it ended, for the recorder:
	ended timeline.End
	cause error
}

func (x *exchange) us(ns int64) int64 { return ns/1000 - x.tl.DueUS }

// begin forgets the attempt before.
func (x *exchange) begin() {
	x.rd.reset()
	x.mode, x.verdict, x.any, x.enoughNS, x.swallowed = waiting4head, settled, false, 0, 0
	x.writeErr, x.unsent = nil, nil
	x.sentNS = x.c.clk.NS() // until it is known better
}

// once sends the request on cn and reads until the attempt is decided.
func (x *exchange) once(ctx context.Context, cn *conn) verdict {
	var v verdict
	var keep bool
	x.onIdle = cn.idle
	if cn.sock != nil {
		v, keep = x.await(ctx, cn)
	} else {
		unhook := context.AfterFunc(ctx, cn.close)
		v, keep = x.exchange(ctx, cn)
		keep = unhook() && keep // else the connection is being closed
	}
	x.release(cn, keep)
	return v
}

// release puts a connection back that is fit for more, and closes others.
func (x *exchange) release(cn *conn, keep bool) {
	if keep && !x.c.cfg.NoKeepAlive {
		cn.served++
		x.c.keep(cn, x.owner(), x.rd.keepFor)
	} else {
		cn.close()
	}
}

// exchange writes and reads; keep tells that the connection is fit for more.
func (x *exchange) exchange(ctx context.Context, cn *conn) (v verdict, keep bool) {
	limit, _ := x.lim.early()
	_ = cn.src.SetWriteDeadline(deadline(x.c.clk, limit))
	x.writeErr = x.send(&cn.src.stamper, cn.write)
	if x.writeErr != nil {
		if x.broke(ctx, x.writeErr) {
			return settled, false
		}
		// The server may have answered and closed before it read everything.
	}
	for {
		limit, end := x.limit()
		cn.arm(x.c.clk, limit)
		buf, n, err := cn.readOne()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil {
				if x.c.clk.NS() < limit {
					cn.armed = 0 // it was an older, earlier limit
					continue
				}
				return x.strike(limit, end), false
			}
			return x.lose(ctx, err), false
		}
		v, keep, over := x.got(&cn.src.stamper, buf[:n])
		putBuffer(buf)
		if over {
			return v, keep
		}
	}
}

// got takes the bytes of one read; over tells that they decide the attempt.
func (x *exchange) got(at *stamper, data []byte) (v verdict, keep, over bool) {
	if limit, end := x.limit(); at.arrivedNS > limit {
		return x.strike(limit, end), false, true
	}
	rest, err := x.feed(at, data)
	switch {
	case err != nil:
		x.violated(err)
		return settled, false, true
	case x.rd.switched():
		return switched, true, true
	case x.rd.done():
		return x.finish(), !x.rd.last && rest == 0 && x.writeErr == nil && len(x.unsent) == 0, true
	case x.watched():
		return settled, false, true
	case x.mode == swallow && x.swallowed > drainBytes:
		return x.verdict, false, true
	}
	return settled, false, false
}

// send writes head and body at once and takes the moments before and after: an
// answer can't arrive before the one, and nothing was waiting then.
func (x *exchange) send(at *stamper, write func([]byte) error) error {
	b := requests.Get().(*[]byte)
	*b = x.msg.appendTo((*b)[:0], x.c.head)
	before := x.c.clk.Now()
	at.begin(before)
	err := write(*b)
	atOnce := len(*b) <= takenAtOnce
	if cap(*b) <= 1<<20 {
		requests.Put(b)
	}
	now := x.c.clk.NS()
	x.writeNS, x.sentNS, x.lastNS = now, now, before.NS
	if atOnce {
		x.writeNS = before.NS
	}
	if err == nil {
		x.tl.SentUS = timeline.Some(x.us(now))
	}
	return err
}

// takenAtOnce is how many bytes a connection takes without a wait for the server: what a
// socket of Linux buffers at the least by default (tcp(7), tcp_wmem).
const takenAtOnce = 16 << 10

var requests = sync.Pool{New: func() any { return new([]byte) }}

// limit is when the attempt is given up, and as what.
func (x *exchange) limit() (int64, timeline.End) {
	switch {
	case len(x.unsent) > 0:
		return x.lim.early()
	case x.enoughNS > 0:
		return x.enoughNS + int64(drainTime), timeline.Cut
	case x.mode == swallow:
		return x.headNS + int64(drainTime), timeline.Cut
	}
	hasToken := x.sink.HasToken()
	var last int64
	if hasToken {
		last = (x.sink.LastTokenUS() + x.tl.DueUS) * 1000
	}
	return x.lim.next(x.sentNS, hasToken, last)
}

// feed takes the bytes of one read and returns how many lie behind the end.
func (x *exchange) feed(src *stamper, data []byte) (rest int, err error) {
	at, lag := x.arrival(src), (src.readNS-src.arrivedNS)/1000
	if x.rd.fresh() {
		x.headNS = at
	}
	waited := !x.rd.headDone()
	body, after, err := x.rd.feed(data)
	if x.rd.switched() {
		x.early = append([]byte(nil), body...)
		return 0, err
	}
	if waited && x.rd.headDone() {
		x.c.hear()
		x.tl.Clock = timeline.User
		if src.allSeen {
			x.tl.Clock = timeline.Kernel
		}
		x.gotHead()
	}
	if !src.allSeen {
		x.tl.Clock = timeline.User
	}
	x.body(at, lag, body)
	return len(after), err
}

// arrival is when the bytes of a read came.
func (x *exchange) arrival(src *stamper) int64 {
	at := max(src.arrivedNS, x.lastNS) // stamps of one connection never run backwards
	if !x.any && (at < x.sentNS || x.unwritten) && len(x.unsent) == 0 {
		x.outBefore(at)
	}
	x.any, x.lastNS = true, at
	return at
}

// outBefore says when the request was out whose answer came before we saw that it was. A
// server that waited for all of it can't have it before the last write began; the system
// takes a piece in microseconds, and what lies behind it, at times many milliseconds, is a
// wait for this machine's processor. If the answer came even before that write, or nobody
// knows when the last one began, the request counts as sent when the answer came.
func (x *exchange) outBefore(answerNS int64) {
	x.sentNS = min(x.writeNS, answerNS)
	x.tl.SentUS = timeline.Some(x.us(x.sentNS))
}

// body hands on what a read brought of the body.
func (x *exchange) body(atNS, lagUS int64, data []byte) {
	switch {
	case len(data) == 0:
	case x.mode == swallow:
		x.swallowed += len(data)
	case x.mode == deliver:
		if x.rec != nil {
			x.rec.Read(x.us(atNS), lagUS, data)
		}
		x.sink.Read(x.us(atNS), lagUS, data)
		if x.enoughNS == 0 && x.sink.Complete() {
			x.enoughNS = atNS
		}
	}
}

// gotHead decides what the response is good for.
func (x *exchange) gotHead() {
	x.mode, x.refused = deliver, nil
	if isRedirect(x.rd.status) {
		if x.refused = x.redirect(); x.refused == nil {
			x.mode, x.verdict = swallow, moved
		}
	} else if x.retryable(x.headNS) {
		x.mode, x.verdict = swallow, turnedAway
	}
	x.tl.HTTPStatus = x.rd.status
	if x.mode == swallow {
		return
	}
	at, head := x.us(x.headNS), api.Head{Status: x.rd.status, Header: x.rd.header}
	x.sink.Head(at, head)
	if x.heard != nil {
		x.heard(x.rd.header)
	}
	if x.record() {
		x.rec.Head(at, head)
	}
}

// record asks for a recorder, once.
func (x *exchange) record() bool {
	if x.capture != nil {
		x.rec = x.capture(x.tl, x.msg.body)
		x.capture = nil
	}
	return x.rec != nil
}
