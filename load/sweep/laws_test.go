package sweep

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/physics/laws"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
)

var (
	perLaw   = flag.Int("laws", 0, "seeded searches a law; the full table takes 100 and more")
	lawTime  = flag.Duration("lawtime", 15*time.Minute, "of each search")
	lawProbe = flag.Duration("lawprobe", 0, "of each probe; 0: as it is by default")
	onlyLaw  = flag.String("law", "", "only these laws, with commas")
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

const lawHead = "law         capacity  searches  holds: named  wrong  fails: named  wrong  fails/holds  requests  seconds"

func (t *lawTally) String() string {
	of := func(n int) float64 { return 100 * float64(n) / float64(t.n) }
	ratio := "-"
	if t.both > 0 {
		ratio = fmt.Sprintf("%.2f", math.Exp(t.width/float64(t.both)))
	}
	return fmt.Sprintf("%-10s  %8.4g  %8d  %10.0f %% %5.1f %% %10.0f %% %5.1f %%  %11s  %8.0f  %7.0f", t.law.Name, t.capacity, t.n,
		of(t.holds), of(t.wrongHolds), of(t.fails), of(t.wrongFails), ratio, float64(t.requests)/float64(t.n), t.seconds/float64(t.n))
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
			found, err := Search{Objectives: objectivetest.Parse(t, l.Objective), MaxTime: *lawTime, ProbeTime: *lawProbe, Now: subject.now, Most: 1000}.
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

// mayBeWrong is how many of so many searches may say something wrong, where each does with a
// chance of 3 %: more would come about once in a hundred times.
func mayBeWrong(n int) (k int) {
	chance := math.Pow(0.97, float64(n)) // of k
	for sum := chance; sum < 0.99; sum += chance {
		chance *= float64(n-k) / float64(k+1) * 0.03 / 0.97
		k++
	}
	return k
}

// What is said of a law is wrong in at most 3 % of searches, whatever the law: also where a server
// stalls or changes its speed. Without flags it makes three searches a law.
func TestSearchOfLaws(t *testing.T) {
	n, all, wrongs := *perLaw, 0, 0
	if n == 0 {
		n = 3
	}
	if testing.Short() {
		t.Skip("hours of virtual time")
	}
	if testing.Verbose() {
		fmt.Println(lawHead)
	}
	for _, l := range laws.All() {
		if *onlyLaw != "" && !slices.Contains(strings.Split(*onlyLaw, ","), l.Name) {
			continue
		}
		truth, ok := l.Truth()
		if !ok && truth.Capacity == 0 || *perLaw == 0 && math.IsInf(truth.Capacity, 1) { // the latter takes half a million requests a search
			continue
		}
		sum := searchLaw(t, l, n, 1)
		if testing.Verbose() {
			fmt.Println(sum)
		}
		for what, wrong := range map[string]int{"hold": sum.wrongHolds, "fail": sum.wrongFails} {
			if all, wrongs = all+n, wrongs+wrong; wrong > mayBeWrong(n) {
				t.Errorf("%s: in %d of %d searches a load is wrongly said to %s", l.Name, wrong, n, what)
			}
		}
	}
	if wrongs > mayBeWrong(all) {
		t.Errorf("%d wrong things said in %d, more than 3 %%", wrongs, all)
	}
}

// TestOneSearch shows a search: go test ./load/sweep -run TestOneSearch -law mm1 -laws SEED -v
func TestOneSearch(t *testing.T) {
	l := laws.ByName(*onlyLaw)
	if l == nil {
		t.Skip("give -law NAME")
	}
	subject := newLawSubject(l, uint64(*perLaw))
	found, err := Search{Objectives: objectivetest.Parse(t, l.Objective), MaxTime: *lawTime, ProbeTime: *lawProbe, Now: subject.now, Most: 1000, Told: func(f *Found) {
		p := &f.Probes[len(f.Probes)-1]
		t.Logf("%4.0f s  %8.4g %-7s firm %-5v grows %-5v %6d requests, good %.4f, moments %5.0f, longer %5.1f %s", subject.clock, p.Load, p.Says, p.firm, p.Grows, p.Requests, p.Share,
			p.look.moments, p.look.longer, p.Note)
	}}.Run(context.Background(), subject)
	t.Logf("holds %.4g, fails %.4g, settled %v; %v; %s; %s; %s", found.Holds, found.Fails, found.Settled, err, found.Why, found.Unknown, found.Next)
}
