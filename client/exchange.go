package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"tokenmeter/api"
	"tokenmeter/timeline"
)

// sink reads a reply; api.Stream is the one that counts.
type sink interface {
	Head(atUS int64, head api.Head)
	Read(atUS, lagUS int64, data []byte)
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
)

// What is done with the body.
type mode int

const (
	waiting4head mode = iota
	deliver
	swallow // of a response that does not count, to reuse the connection
)

// How long, and how much, is read on for the sake of the connection alone.
const (
	drainTime  = 250 * time.Millisecond
	drainBytes = 256 << 10
)

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
	tries   int   // retries left
	againNS int64 // when the next try is due

	// One attempt:
	rd        response
	mode      mode
	verdict   verdict // of a response that is swallowed
	sentNS    int64
	headNS    int64
	lastNS    int64 // the read before
	enoughNS  int64 // when the reply needed no more bytes; 0: it still does
	swallowed int
	any       bool  // a byte came
	refused   error // a redirection that is not followed

	// How it ended, for the recorder:
	ended timeline.End
	cause error
}

func (x *exchange) us(ns int64) int64 { return ns/1000 - x.tl.DueUS }

// begin forgets the attempt before.
func (x *exchange) begin() {
	x.rd.reset()
	x.mode, x.verdict, x.any, x.enoughNS, x.swallowed = waiting4head, settled, false, 0, 0
}

// once sends the request on cn and reads until the attempt is decided.
func (x *exchange) once(ctx context.Context, cn *conn) verdict {
	unhook := context.AfterFunc(ctx, cn.close)
	v, keep := x.exchange(ctx, cn)
	if !unhook() {
		keep = false // the connection is being closed
	}
	if keep && !x.c.cfg.NoKeepAlive {
		cn.served++
		x.c.keep(cn, x.rd.keepFor)
	} else {
		cn.close()
	}
	return v
}

// exchange writes and reads; keep tells that the connection is fit for more.
func (x *exchange) exchange(ctx context.Context, cn *conn) (v verdict, keep bool) {
	writeErr := x.send(cn)
	if writeErr != nil {
		if v, over := x.broke(ctx, writeErr, x.early); over {
			return v, false
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
			return x.lose(ctx, cn, err, writeErr), false
		}
		if cn.src.arrivedNS > limit {
			putBuffer(buf)
			return x.strike(limit, end), false
		}
		rest, err := x.feed(cn.src, buf[:n])
		putBuffer(buf)
		switch {
		case err != nil:
			x.violated(err)
			return settled, false
		case x.rd.done():
			return x.finish(), !x.rd.last && rest == 0 && writeErr == nil
		case x.mode == swallow && x.swallowed > drainBytes:
			return x.verdict, false
		}
	}
}

// send writes head and body at once and takes the moment after.
func (x *exchange) send(cn *conn) error {
	limit, _ := x.lim.early()
	_ = cn.src.SetWriteDeadline(deadline(x.c.clk, limit))
	b := requests.Get().(*[]byte)
	*b = x.msg.appendTo((*b)[:0], x.c.head)
	err := cn.write(*b)
	if cap(*b) <= 1<<20 {
		requests.Put(b)
	}
	now := x.c.clk.Now()
	x.sentNS, x.lastNS = now.NS, now.NS
	cn.src.begin(now)
	if err == nil {
		x.tl.SentUS = timeline.Some(x.us(now.NS))
	}
	return err
}

var requests = sync.Pool{New: func() any { return new([]byte) }}

// limit is when the attempt is given up, and as what.
func (x *exchange) limit() (int64, timeline.End) {
	switch {
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

func (x *exchange) early() (int64, timeline.End) { return x.lim.early() }

// feed takes the bytes of one read and returns how many lie behind the end.
func (x *exchange) feed(src *source, data []byte) (rest int, err error) {
	at, lag := src.arrivedNS, (src.readNS-src.arrivedNS)/1000
	at = max(at, x.lastNS) // stamps of one connection never run backwards
	x.any, x.lastNS = true, at
	if x.rd.fresh() {
		x.headNS = at
	}
	waited := !x.rd.headDone()
	body, after, err := x.rd.feed(data)
	if waited && x.rd.headDone() && err == nil {
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

// finish settles a response whose last byte came.
func (x *exchange) finish() verdict {
	if x.mode == swallow {
		return x.verdict
	}
	x.end(x.lastNS, timeline.EOF, nil)
	return settled
}

// end settles the outcome of a response that is delivered.
func (x *exchange) end(atNS int64, end timeline.End, cause error) {
	at := x.us(max(atNS, x.lastNS))
	x.ended, x.cause = end, cause
	x.sink.End(at, end, x.rd.trailer, cause)
	x.tl.CloseUS = timeline.Some(at)
	if x.refused != nil && !x.tl.Outcome.Cancelled() {
		x.tl.Fail(timeline.RedirectRefused, x.refused.Error())
	}
}

// strike settles an attempt whose limit was reached.
func (x *exchange) strike(limitNS int64, end timeline.End) verdict {
	switch {
	case x.mode == swallow:
		return x.verdict // the connection is given up, the verdict stands
	case x.enoughNS > 0:
		x.end(x.enoughNS, timeline.Cut, errors.New("the connection was left open after the reply's end"))
	case x.mode == deliver:
		x.end(limitNS, end, x.c.limitName(end))
	default:
		x.fail(&failure{class: classOf(end), msg: x.c.limitWords(end).Error() + x.silence(), atNS: limitNS})
	}
	return settled
}

func (x *exchange) silence() string {
	if x.any {
		return ": the response's head did not end"
	}
	return ": no response came"
}

// broke settles a write that failed for a reason of our own: over tells that
// there is nothing to read.
func (x *exchange) broke(ctx context.Context, err error, limit func() (int64, timeline.End)) (verdict, bool) {
	if ctx.Err() != nil {
		_, class, words := cancelled(ctx)
		x.fail(&failure{class: class, msg: words.Error() + " while the request was written"})
		return settled, true
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		at, end := limit()
		x.fail(&failure{class: classOf(end), atNS: at,
			msg: x.c.limitWords(end).Error() + ": the server did not take the request"})
		return settled, true
	}
	return settled, false
}

// lose settles an attempt whose connection ended or broke.
func (x *exchange) lose(ctx context.Context, cn *conn, err, writeErr error) verdict {
	now := x.c.clk.NS()
	if ctx.Err() != nil {
		end, class, words := cancelled(ctx)
		if x.mode == deliver {
			x.end(now, end, words)
		} else {
			x.fail(&failure{class: class, msg: words.Error()})
		}
		return settled
	}
	ended := errors.Is(err, io.EOF)
	switch {
	case x.mode == swallow:
		return x.verdict
	case x.mode == deliver && ended && x.rd.state == inUntilClose:
		x.end(now, timeline.EOF, nil)
	case x.mode == deliver && (ended || errors.Is(err, io.ErrUnexpectedEOF)):
		x.end(now, timeline.Cut, nil)
	case x.mode == deliver:
		x.end(now, timeline.Reset, bare(err))
	case !x.any && cn.idle:
		return lostIdle
	default:
		x.fail(&failure{class: timeline.ConnReset, msg: lossWords(err, writeErr, x.any)})
	}
	return settled
}

func lossWords(err, writeErr error, any bool) string {
	when := "before any response"
	if any {
		when = "inside the response's head"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if writeErr != nil {
			return fmt.Sprintf("the server closed the connection while the request was written (%v)", bare(writeErr))
		}
		return "the server closed the connection " + when
	}
	return fmt.Sprintf("the connection broke %s: %v", when, bare(err))
}

// violated settles a response that is no HTTP.
func (x *exchange) violated(err error) {
	if x.mode != deliver {
		x.fail(&failure{class: timeline.Parse, msg: err.Error(), atNS: x.lastNS})
		return
	}
	x.end(x.lastNS, timeline.Cut, err)
	if x.enoughNS == 0 {
		x.tl.Fail(timeline.Parse, err.Error())
	}
}
