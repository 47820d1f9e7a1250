package metric

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"tokenmeter/record/timeline"
)

// pool is a set of replies of 100 tokens with jittered gaps, to be collected
// again and again under new ordinals.
func pool(n int) []*timeline.Timeline {
	rng := rand.New(rand.NewPCG(1, 1))
	all := make([]*timeline.Timeline, n)
	for i := range all {
		tl := made{ttft: 50 + 200*rng.ExpFloat64()}.timeline()
		tl.Clock = timeline.Kernel
		at := us(50 + 200*rng.ExpFloat64())
		for j := range 100 {
			tl.Events.Append(timeline.Event{AtUS: at, LagUS: rng.Int64N(300), Kind: timeline.Text, Bytes: 4, Read: int64(j)})
			at += 15_000 + rng.Int64N(10_000)
		}
		tl.Usage.Input, tl.Usage.Output = timeline.Some(rng.Int64N(1000)), timeline.Some(int64(100))
		tl.CloseUS = timeline.Some(at)
		all[i] = tl
	}
	return all
}

func BenchmarkCollectorAdd(b *testing.B) {
	replies := pool(512)
	c := NewCollector(CollectorOpts{Concurrency: 64})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		tl := replies[i%len(replies)]
		tl.Request, tl.DueUS = int64(i), int64(i)*30_000
		tl.StartUS = tl.DueUS
		c.Add(tl)
	}
}

// BenchmarkCollectorMillion is a run of a million requests of 100 tokens:
// time to add and to summarise, and what the collector holds at the end.
func BenchmarkCollectorMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("a gigabyte of work")
	}
	replies := pool(4096)
	for b.Loop() {
		c := NewCollector(CollectorOpts{Concurrency: 64})
		for i := range 1_000_000 {
			tl := replies[i%len(replies)]
			tl.Request, tl.DueUS = int64(i), int64(i)*3_000
			tl.StartUS = tl.DueUS
			c.Add(tl)
		}
		s := c.Summary()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/1e6, "MB")
		if s.Metrics["itl_ms"].N != 99_000_000 {
			b.Fatalf("%d gaps", s.Metrics["itl_ms"].N)
		}
	}
}

func BenchmarkSummary(b *testing.B) {
	replies := pool(1024)
	c := NewCollector(CollectorOpts{Concurrency: 64})
	for i := range 200_000 {
		tl := replies[i%len(replies)]
		tl.Request, tl.DueUS = int64(i), int64(i)*3_000
		tl.StartUS = tl.DueUS
		c.Add(tl)
	}
	for b.Loop() {
		c.Add(replies[0]) // so that something has to be sorted again
		c.Summary()
	}
}
