package main

import (
	"fmt"
	"slices"

	"tokenmeter/benchmarks/harness"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// truth is what the server says of one request. Times are CLOCK_MONOTONIC.
type truth struct {
	ID         string   `json:"id"`
	ReceivedNS *int64   `json:"received_ns"`
	WriteNS    []*int64 `json:"write_ns"`
}

// compared are the errors of one round, in milliseconds.
type compared struct {
	token    []float64 // arrival − write, every token
	first    []float64 // the same of first tokens: the error of TTFT
	sent     []float64 // received − due: what the client and the network took to ask
	gap      []float64 // measured gap − true gap, absolute
	late     []float64 // start − due
	lag      []float64 // kernel stamp → read
	user     []float64 // read − write: what a client that stamps its reads would say
	moved    int       // tokens whose time is off by more than beyondMS
	single   int       // of those, tokens that came alone: nothing marks them
	requests int
	kernel   int   // requests with the kernel's stamps
	missing  int   // requests that the server does not know, or of other length
	firstNS  int64 // when the first request was received, CLOCK_MONOTONIC
}

// join puts the records of a run beside the server's truth.
func join(dir, truthFile string, zeroNS int64) (*compared, error) {
	truths, err := harness.ReadTruth(truthFile, func(t *truth) string { return t.ID })
	if err != nil {
		return nil, err
	}
	folder, err := run.Open(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	c := &compared{}
	for _, t := range truths {
		if t.ReceivedNS != nil && (c.firstNS == 0 || *t.ReceivedNS < c.firstNS) {
			c.firstNS = *t.ReceivedNS
		}
	}
	for tl, err := range folder.Timelines() {
		if err != nil {
			return nil, err
		}
		if tl.Phase == timeline.Measure {
			c.add(tl, truths[tl.ID], zeroNS)
		}
	}
	if c.requests == 0 {
		return nil, fmt.Errorf("none of the %d requests that the server knows is in the run", len(truths))
	}
	for _, s := range [][]float64{c.token, c.first, c.sent, c.gap, c.late, c.lag, c.user} {
		slices.Sort(s)
	}
	return c, nil
}

func (c *compared) add(tl *timeline.Timeline, t *truth, zeroNS int64) {
	events := slices.Collect(tl.Events.Generation())
	if t == nil || len(events) != len(t.WriteNS) || len(events) == 0 || slices.Contains(t.WriteNS, nil) {
		c.missing++
		return
	}
	c.requests++
	if tl.Clock == timeline.Kernel {
		c.kernel++
	}
	dueNS := zeroNS + tl.DueUS*1000
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	for i, ev := range events {
		off := ms(dueNS + ev.AtUS*1000 - *t.WriteNS[i])
		c.token = append(c.token, off)
		c.user = append(c.user, off+ms(ev.LagUS*1000))
		if off > beyondMS {
			c.moved++
			if !together(events, i) {
				c.single++
			}
		}
		c.lag = append(c.lag, ms(ev.LagUS*1000))
		if i == 0 {
			c.first = append(c.first, off)
		} else {
			c.gap = append(c.gap, abs(off-c.token[len(c.token)-2]))
		}
	}
	c.late = append(c.late, metric.DelayMS(tl))
	if t.ReceivedNS != nil {
		c.sent = append(c.sent, ms(*t.ReceivedNS-dueNS))
	}
}

// beyondMS is how far a time must be off to count as moved: well above what the
// network and the server's own thread take.
const beyondMS = 2

// together reports whether an event shares its read, and so its time, with another.
func together(events []timeline.Event, i int) bool {
	return i > 0 && events[i-1].Read == events[i].Read || i+1 < len(events) && events[i+1].Read == events[i].Read
}

func abs(x float64) float64 { return max(x, -x) }
