package sweep

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/physics/laws"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

var (
	perLaw  = flag.Int("laws", 0, "seeded searches a law; the full table takes 300")
	onlyLaw = flag.String("law", "", "only these laws, with commas")
)

// lawSubject is a law as a server in virtual time, without HTTP. It goes on between probes.
type lawSubject struct {
	law    *laws.Law
	server *laws.Server
	seed   uint64
	probes uint64
	clock  float64 // seconds
}

func newLawSubject(l *laws.Law, seed uint64) *lawSubject {
	return &lawSubject{law: l, server: l.Server(seed), seed: seed}
}

func (s *lawSubject) now() time.Duration { return time.Duration(s.clock * 1e9) }

// lawGrace is how long a probe waits for what is in flight at its end, as bench does.
const lawGrace = 30

func (s *lawSubject) Probe(_ context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	s.probes++
	arrivals := random.New(s.seed, 77, s.probes)
	began, at, going := s.clock, 0.0, true
	until := math.Inf(1)
	if limit.Duration > 0 {
		until = limit.Duration.Seconds()
	}
	var flying []Seen // the earliest end first
	deliver := func(to float64) {
		for going && len(flying) > 0 && flying[0].EndS <= to {
			seen := flying[0]
			flying = flying[1:]
			seen.InFlight = int64(len(flying))
			s.clock = math.Max(s.clock, began+seen.EndS)
			if seen.EndS > until+lawGrace {
				seen.EndS = until + lawGrace
				seen.Record = &metric.Record{Outcome: timeline.CancelledRunEnd, DueS: seen.DueS}
			}
			going = take(seen)
		}
	}
	for n := int64(0); going && (limit.Requests == 0 || n < limit.Requests); n++ {
		if at += arrivals.Exp() / load; at > until {
			break
		}
		deliver(at)
		r := s.server.Serve(began + at)
		seen := Seen{Index: n, DueS: at, EndS: at + r.LatencyS, Record: lawRecord(&r, at)}
		i, _ := slices.BinarySearchFunc(flying, seen.EndS, func(f Seen, end float64) int { return cmp.Compare(f.EndS, end) })
		flying = slices.Insert(flying, i, seen)
		s.clock = began + at
	}
	deliver(math.Inf(1))
	for _, f := range flying { // cut off; the server goes on with them until it is at rest
		s.clock = math.Max(s.clock, began+f.EndS)
	}
	return Probed{}, nil
}

func lawRecord(r *laws.Request, due float64) *metric.Record {
	rec := &metric.Record{Outcome: timeline.OK, Phase: timeline.Measure, DueS: due}
	if r.Failed {
		rec.Outcome = timeline.HTTP429
		return rec
	}
	rec.TTFTMS, rec.E2EMS = timeline.Some(1e3*r.TTFTS), timeline.Some(1e3*r.LatencyS)
	return rec
}

// lawTally is what many searches said of a law.
type lawTally struct {
	law                                     *laws.Law
	capacity                                float64
	n, holds, fails, wrongHolds, wrongFails int
	requests                                int64
	seconds, width                          float64
	both                                    int
}

func (t *lawTally) String() string {
	n := float64(t.n)
	return fmt.Sprintf("%-10s capacity %6.4g: %d searches, %3.0f %% name a load that holds (wrong %4.1f %%), %3.0f %% one that fails (wrong %4.1f %%), fails/holds %.2f, %6.0f requests, %4.0f s",
		t.law.Name, t.capacity, t.n, 100*float64(t.holds)/n, 100*float64(t.wrongHolds)/n, 100*float64(t.fails)/n, 100*float64(t.wrongFails)/n,
		math.Exp(t.width/float64(max(t.both, 1))), float64(t.requests)/n, t.seconds/n)
}

// searchLaw makes searches with the default time.
func searchLaw(t *testing.T, l *laws.Law, n int, first uint64) *lawTally {
	truth, _ := l.Truth()
	sum := &lawTally{law: l, capacity: truth.Capacity, n: n}
	var mu sync.Mutex
	var all sync.WaitGroup
	gate := make(chan struct{}, 2)
	for i := range n {
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			subject := newLawSubject(l, first+uint64(i))
			found, err := Search{Objectives: parsed(t, l.Objective), MaxTime: 10 * time.Minute, Probe: Limit{Duration: 100 * time.Second}, Now: subject.now, Most: 1000}.
				Run(context.Background(), subject)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("%s: %v", l.Name, err)
				return
			}
			sum.add(&found, subject.clock)
		})
	}
	all.Wait()
	return sum
}

func (t *lawTally) add(f *Found, seconds float64) {
	t.requests += f.Requests
	t.seconds += seconds
	upper, lower := t.capacity*1.001, t.capacity*0.999 // loads have four digits
	if math.IsInf(t.law.CycleS, 1) {
		lower = 50/(1+0.05*seconds/60) - 15 // what it can do at the end
	}
	if f.Holds > 0 {
		t.holds++
		if f.Holds > upper {
			t.wrongHolds++
		}
	}
	if f.Fails > 0 {
		t.fails++
		if f.Fails < lower {
			t.wrongFails++
		}
	}
	if f.Holds > 0 && f.Fails > 0 {
		t.both++
		t.width += math.Log(f.Fails / f.Holds)
	}
}

func TestSearchOfLaws(t *testing.T) {
	if *perLaw == 0 {
		t.Skip("give -laws 300")
	}
	for _, l := range laws.All() {
		if *onlyLaw != "" && !slices.Contains(strings.Split(*onlyLaw, ","), l.Name) {
			continue
		}
		if truth, ok := l.Truth(); !ok && truth.Capacity == 0 {
			continue
		}
		fmt.Fprintln(os.Stderr, searchLaw(t, l, *perLaw, 1))
	}
}
