package client

import (
	"context"
	"sync"
	"time"

	"tokenmeter/record/timeline"
)

// limitReached is why a watchdog ended a request.
type limitReached struct {
	atNS int64
	end  timeline.End
}

func (l *limitReached) Error() string { return "limit: " + string(l.end) }

// watchdog ends a request at its limit, which moves while the request goes on.
type watchdog struct {
	c      *Client
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	limit  limitReached
	timer  *time.Timer
}

// set moves the limit. A timer that is set for an earlier moment stays: it
// looks again when it fires.
func (w *watchdog) set(atNS int64, end timeline.End) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sooner := w.timer == nil || atNS < w.limit.atNS
	w.limit = limitReached{atNS, end}
	if atNS >= farFuture || !sooner {
		return
	}
	left := time.Duration(atNS - w.c.clk.NS())
	if w.timer == nil {
		w.timer = time.AfterFunc(left, w.look)
	} else {
		w.timer.Reset(left)
	}
}

func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.atNS >= farFuture {
		return
	}
	if left := w.limit.atNS - w.c.clk.NS(); left > 0 {
		w.timer.Reset(time.Duration(left))
		return
	}
	limit := w.limit
	w.cancel(&limit)
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}
