package sim

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"
)

// lateness counts how late writes began, in buckets of 1/16 of their size.
type lateness struct {
	n [60 * 16]atomic.Uint64
}

func bucketOf(ns int64) int {
	v := uint64(max(ns, 0))
	if v < 16 {
		return int(v)
	}
	e := bits.Len64(v) - 5
	return 16*e + int(v>>e)
}

// edge is the upper end of a bucket.
func edge(i int) int64 {
	if i < 32 {
		return int64(i)
	}
	e := i/16 - 1
	return (int64(i%16)+17)<<e - 1
}

func (l *lateness) add(ns int64) { l.n[min(bucketOf(ns), len(l.n)-1)].Add(1) }

// Lateness is how long after their due moment writes began.
type Lateness struct {
	Writes                   uint64
	P50, P90, P99, P999, Max time.Duration // upper ends of buckets 6 % wide
}

func (l Lateness) String() string {
	return fmt.Sprintf("%d writes, late by p50 %v, p90 %v, p99 %v, p99.9 %v, max %v",
		l.Writes, brief(l.P50), brief(l.P90), brief(l.P99), brief(l.P999), brief(l.Max))
}

// brief has three digits; the buckets are no finer.
func brief(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// Lateness tells how late the server's writes have been so far. Writes that
// had to wait for a slow reader count too.
func (s *Server) Lateness() (l Lateness) {
	var counts [len(s.late.n)]uint64
	for i := range counts {
		counts[i] = s.late.n[i].Load()
		l.Writes += counts[i]
	}
	at := func(p float64) time.Duration {
		left, last := uint64(p*float64(l.Writes)), 0
		for i, c := range counts {
			if c == 0 {
				continue
			}
			last = i
			if left < c {
				break
			}
			left -= c
		}
		return time.Duration(edge(last))
	}
	l.P50, l.P90, l.P99, l.P999, l.Max = at(.5), at(.9), at(.99), at(.999), at(1)
	return l
}

// resetLateness begins to count anew.
func (s *Server) resetLateness() {
	for i := range s.late.n {
		s.late.n[i].Store(0)
	}
}
