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
		x.fail(untaken(limitNS, end, x.c))
	case x.mode == swallow:
		return x.verdict // the connection is given up, the verdict stands
	case x.enoughNS > 0:
		x.end(x.enoughNS, timeline.EndUser, errors.New("the connection was left open after the reply's end"))
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
		x.fail(untaken(at, end, x.c))
		return settled, true
	}
	return settled, false
}

func untaken(atNS int64, end timeline.End, c *Client) *failure {
	return &failure{class: classOf(end), atNS: atNS,
		msg: c.limitWords(end).Error() + ": the server did not take the request"}
}

// lose settles an attempt whose connection ended or broke.
func (x *exchange) lose(ctx context.Context, err error) verdict {
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
	case !x.any && x.onIdle:
		return lostIdle
	default:
		x.fail(&failure{class: timeline.ConnReset, msg: lossWords(err, x.writeErr, x.any)})
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
