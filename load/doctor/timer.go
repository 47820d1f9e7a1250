package doctor

import (
	"context"
	"slices"
	"time"

	"tokenmeter/base/clock"
)

// lateness is how late this machine wakes up from a wait.
type lateness struct {
	n        int
	exact    bool // waits are the kernel's own, not a timer of the runtime
	p50, p99 time.Duration
}

const (
	waits     = 200
	waitFor   = 2 * time.Millisecond
	waitsMost = 2 * time.Second // on a machine that wakes very late
)

// waitLate waits as an open loop does and takes how late each wait ended.
func waitLate(ctx context.Context) lateness {
	clk := clock.Start()
	s := clk.Precise()
	defer s.Close()
	var late []time.Duration
	due := clk.NS()
	for end := due + int64(waitsMost); len(late) < waits && clk.NS() < end; {
		due = max(due+int64(waitFor), clk.NS()+int64(waitFor)/2) / 1000 * 1000
		if s.WaitUntil(ctx, due/1000) != nil {
			break
		}
		late = append(late, time.Duration(max(clk.NS()-due, 0)))
	}
	slices.Sort(late)
	return lateness{n: len(late), exact: s.Exact(), p50: at(late, 0.5), p99: at(late, 0.99)}
}

// at is the value that the share q of a sorted list does not exceed.
func at(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
