package client

import (
	"fmt"
	"time"

	"tokenmeter/record/timeline"
)

// limits are the moments at which a request is given up, on the run's clock.
type limits struct {
	totalNS int64
	ttftNS  int64 // while no token has come
	idle    time.Duration
	heard   bool // the idle limit holds once something has come
}

func (c *Client) limitsFrom(startNS int64, streamed bool) limits {
	l := limits{totalNS: farFuture, ttftNS: farFuture}
	if c.cfg.Timeout > 0 {
		l.totalNS = startNS + int64(c.cfg.Timeout)
	}
	if c.cfg.TTFTTimeout > 0 {
		l.ttftNS = startNS + int64(c.cfg.TTFTTimeout)
	}
	if sound := c.cfg.API.Product() == timeline.Speech; streamed || sound { // a body in one piece shows no life while it is made
		l.idle, l.heard = c.cfg.IdleTimeout, !streamed // and sound may be, before it is sent piece by piece
	}
	return l
}

// next returns the earliest limit and which it is. Before the first token the
// idle limit counts from sentNS, unless the TTFT limit rules that time.
func (l *limits) next(sentNS int64, hasToken bool, lastTokenNS int64) (int64, timeline.End) {
	at, end := l.totalNS, timeline.EndTimeoutTotal
	switch {
	case !hasToken && l.ttftNS < farFuture:
		if l.ttftNS < at {
			at, end = l.ttftNS, timeline.EndTimeoutTTFT
		}
	case l.idle > 0 && (hasToken || !l.heard):
		from := sentNS
		if hasToken {
			from = max(lastTokenNS, sentNS)
		}
		if idle := from + int64(l.idle); idle < at {
			at, end = idle, timeline.EndTimeoutIdle
		}
	}
	return at, end
}

// early is the limit that holds before anything was sent.
func (l *limits) early() (int64, timeline.End) {
	if l.ttftNS < l.totalNS {
		return l.ttftNS, timeline.EndTimeoutTTFT
	}
	return l.totalNS, timeline.EndTimeoutTotal
}

// limitWords says in words which limit ended a request.
func (c *Client) limitWords(end timeline.End) string {
	switch end {
	case timeline.EndTimeoutTTFT:
		return "no token within " + c.cfg.TTFTTimeout.String()
	case timeline.EndTimeoutIdle:
		return "no further token for " + c.cfg.IdleTimeout.String()
	}
	return "not finished within " + c.cfg.Timeout.String()
}

// late is the failure of a request that a limit ended.
func (c *Client) late(atNS int64, end timeline.End, doing string) *failure {
	return &failure{class: timeline.Outcome(end), msg: c.limitWords(end) + doing, atNS: atNS}
}

// limitName says which limit it was, beside words that are there already.
func (c *Client) limitName(end timeline.End) error {
	switch end {
	case timeline.EndTimeoutTTFT:
		return fmt.Errorf("the limit for the first token is %v", c.cfg.TTFTTimeout)
	case timeline.EndTimeoutIdle:
		return fmt.Errorf("the limit between tokens is %v", c.cfg.IdleTimeout)
	}
	return fmt.Errorf("the limit for all of it is %v", c.cfg.Timeout)
}

// endOf is the end that stands for the outcome of a request without a response.
func endOf(class timeline.Outcome) timeline.End {
	switch class {
	case timeline.TimeoutTTFT, timeline.TimeoutIdle, timeline.TimeoutTotal,
		timeline.CancelledRunEnd, timeline.CancelledUser:
		return timeline.End(class)
	case timeline.ConnReset:
		return timeline.Reset
	}
	return timeline.Cut
}
