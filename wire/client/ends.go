package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"tokenmeter/record/timeline"
)

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
	case len(x.unsent) > 0:
		x.fail(x.c.late(limitNS, end, notTaken))
	case x.mode == swallow:
		return x.verdict // the connection is given up, the verdict stands
	case x.enoughNS > 0:
		x.end(x.enoughNS, timeline.EndLeftOpen, errors.New("the connection was left open after the reply's end"))
	case x.mode == deliver:
		x.end(limitNS, end, x.c.limitName(end))
	default:
		x.fail(x.c.late(limitNS, end, x.silence()))
	}
	return settled
}

func (x *exchange) silence() string {
	if x.any {
		return ": the response's head did not end"
	}
	return ": no response came"
}

// notTaken says what was going on at a limit.
const notTaken = ": the server did not take the request"

// broke settles a write that failed for a reason of our own: there is nothing to read.
func (x *exchange) broke(ctx context.Context, err error) bool {
	switch {
	case ctx.Err() != nil:
		x.fail(cancelled(ctx, " while the request was written"))
	case errors.Is(err, os.ErrDeadlineExceeded):
		at, end := x.lim.early()
		x.fail(x.c.late(at, end, notTaken))
	default:
		return false
	}
	return true
}

// cancelled settles an attempt that was cancelled.
func (x *exchange) cancelled(ctx context.Context) verdict {
	f := cancelled(ctx, "")
	if x.mode == deliver {
		x.end(x.c.clk.NS(), timeline.End(f.class), f)
	} else {
		x.fail(f)
	}
	return settled
}

// lose settles an attempt whose connection ended or broke.
func (x *exchange) lose(ctx context.Context, err error) verdict {
	if ctx.Err() != nil {
		return x.cancelled(ctx)
	}
	now := x.c.clk.NS()
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
	case !x.any && x.onIdle && now-x.sentNS < int64(closingTime):
		return lostIdle
	default:
		x.fail(&failure{class: timeline.ConnReset, msg: x.c.lossWords(err, x.writeErr, x.any)})
	}
	return settled
}

// hear notes that the server answers.
func (c *Client) hear() {
	if !c.heard.Load() {
		c.heard.Store(true)
	}
}

// lossWords are for a connection that ended or broke while a response was waited for; any
// of it had come. A server that never answered may want TLS: most of those that are asked
// without it only hang up.
func (c *Client) lossWords(err, writeErr error, any bool) string {
	words := lossWords(err, writeErr, any)
	if any || c.heard.Load() || c.target.tls || c.target.network != "tcp" {
		return words
	}
	return words + "; if it speaks TLS on this port, use " + c.target.scheme(true)
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
