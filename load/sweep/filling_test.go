package sweep

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
)

// slots is a server with places for so many requests, each of which lasts as long: what finds
// no place waits. It keeps up with places ÷ lasts requests/s.
type slots struct {
	places       int
	lasts        float64 // seconds
	seed, probes uint64
	clock        float64
}

func (s *slots) now() time.Duration { return time.Duration(s.clock * 1e9) }

func (s *slots) Probe(_ context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	s.probes++
	src := random.New(s.seed, s.probes)
	var all []Seen
	var free []float64 // when each place is, the last `places` ends
	for i, at := int64(0), src.Exp()/load; at <= limit.Duration.Seconds() && len(all) < 400000; i, at = i+1, at+src.Exp()/load {
		begin := at
		if len(free) >= s.places {
			begin = max(at, free[len(free)-s.places])
		}
		free = append(free, begin+s.lasts)
		rec := &metric.Record{Outcome: timeline.OK, Phase: timeline.Measure, DueS: at,
			TTFTMS: timeline.Some(1e3*(begin-at) + 50), E2EMS: timeline.Some(1e3 * (begin + s.lasts - at))}
		all = append(all, Seen{Index: i, DueS: at, EndS: begin + s.lasts, Record: rec})
	}
	slices.SortFunc(all, func(a, b Seen) int { return cmp.Compare(a.EndS, b.EndS) })
	for _, seen := range all {
		if !take(seen) {
			s.clock += seen.EndS
			return Probed{}, nil
		}
	}
	s.clock += limit.Duration.Seconds() + s.lasts
	return Probed{}, nil
}

// A server that fills up while a step on the way lasts seems to fall behind, and the way up ends
// far below what it can do. The search gets there all the same.
func TestRequestsLongerThanSteps(t *testing.T) {
	for _, server := range []slots{{places: 1000, lasts: 10}, {places: 2000, lasts: 20}} { // 100/s
		server.seed = 1
		found, err := Search{Objectives: objectivetest.Parse(t, "p95 ttft < 500ms"), Now: server.now, MaxTime: time.Hour, ProbeTime: 2 * time.Minute}.Run(t.Context(), &server)
		if err != nil {
			t.Fatal(err)
		}
		if found.Holds < 80 || found.Holds > 100 || found.Fails < 100 || found.Fails > 130 {
			t.Errorf("requests of %v s: 100/s is in [%g, %g]; %s", server.lasts, found.Holds, found.Fails, found.Why)
		}
	}
}
