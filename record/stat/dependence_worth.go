package stat

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Series is what was measured one after the other, and its own dependence. It
// remembers what it has worked out: not safe for concurrent use, and Values
// must not change after the first question.
type Series struct {
	// Values in the order in which the requests were due (sent, in a closed
	// loop), never of their completion. Failures are +Inf.
	Values []float64
	// InFlight is how many requests were in flight when each was due; nil where
	// the load fixes it.
	InFlight []float64

	sorted  []float64
	whole   *LRV
	worth   *Worth
	follows bool            // with worth: Values follow InFlight
	own     map[float64]LRV // by threshold: the series of Values > threshold
}

// Worth says how much a series wanders as a whole.
type Worth struct {
	N int
	// Design is how many values tell as much as one independent value, by
	// whatever wanders most: the values, their ranks, or the requests in
	// flight where the values follow them. At least 1.
	Design float64
	// States is how many values tell as much as one of the requests in flight, whether
	// the values follow these or not; 0: not known.
	States float64
}

// Moments is how many independent moments the series holds, N / Design. Below
// about 25 it is an upper bound: the series is then too short to show how slowly
// it wanders.
//
// A series that meets fewer states of the server than any interval asks for holds no
// more moments than these. Latency changes only once every slot is taken: until then
// a queue looks like a server on which nobody ever waits.
func (w Worth) Moments() float64 {
	n := float64(w.N)
	if w.States > w.Design && n/w.States < fewestMoments {
		return n / w.States
	}
	return n / w.Design
}

// Worth measures the dependence of the whole series.
func (s *Series) Worth() Worth {
	if s.worth == nil {
		w := s.measure()
		s.worth = &w
	}
	return *s.worth
}

func (s *Series) measure() Worth {
	w := Worth{N: len(s.Values), Design: 1}
	sorted := s.order()
	if w.N == 0 || sorted[0] == sorted[w.N-1] {
		return w
	}
	if !math.IsInf(sorted[w.N-1], 0) && !math.IsInf(sorted[0], 0) {
		w.Design = math.Max(w.Design, s.longRun().slowEffect())
	}
	ranks := MidRanks(s.Values, sorted)
	w.Design = math.Max(w.Design, LongRunVariance(ranks).slowEffect())
	if len(s.InFlight) == w.N {
		var logs []float64
		logs, s.follows = followed(ranks, s.InFlight)
		if w.States = LongRunVariance(logs).slowEffect(); s.follows {
			w.Design = math.Max(w.Design, w.States)
		}
	}
	return w
}

// longRun is the long-run variance of the values themselves, which are finite.
func (s *Series) longRun() LRV {
	if s.whole == nil {
		l := LongRunVariance(s.Values)
		s.whole = &l
	}
	return *s.whole
}

// followed is the logarithm of the requests in flight, and whether the ranks of the
// values rise with them: a queue that latency does not feel must not count, and one
// that it feels shows its length where latency is mostly other noise.
func followed(ranks, inFlight []float64) (logs []float64, follows bool) {
	logs = make([]float64, len(inFlight))
	for i, v := range inFlight {
		logs[i] = math.Log1p(math.Max(v, 0))
	}
	flight, rank := momentsOf(len(logs), func(i int) float64 { return logs[i] }), momentsOf(len(ranks), func(i int) float64 { return ranks[i] })
	if !(flight.Variance > 0) || !(rank.Variance > 0) {
		return logs, false
	}
	product := 0.0
	for i, r := range ranks {
		product += (r - rank.Mean) * (logs[i] - flight.Mean)
	}
	n := float64(len(ranks))
	correlation := product / n / math.Sqrt(flight.Variance*rank.Variance)
	// One-sided at 5 %: values that follow nothing are independent of what is in
	// flight, and then the correlation has variance 1/n however slowly that wanders.
	return logs, correlation > 1.645/math.Sqrt(n)
}

// MidRanks returns each value's rank as a share from −½ to ½, ties at the middle of
// theirs; sorted holds the same values in ascending order. In a large list a search
// misses the processor's caches at each step, so it begins in a bin of a few values.
func MidRanks(values, sorted []float64) []float64 {
	n := len(values)
	ranks := make([]float64, n)
	if n == 0 {
		return ranks
	}
	low, scale := sorted[0], float64(n)/(sorted[n-1-n/64]-sorted[0]) // a long tail has the last bin
	bin := func(v float64) int {
		if at := (v - low) * scale; at < float64(n-1) {
			return int(at)
		}
		return n - 1 // so has what is no number: 0 × ∞
	}
	starts := make([]int32, n+1) // of each bin, in sorted
	for _, v := range sorted {
		starts[bin(v)+1]++
	}
	for i := range n {
		starts[i+1] += starts[i]
	}
	for i, v := range values {
		b := bin(v)
		from, to := int(starts[b]), int(starts[b+1])
		from += sort.SearchFloat64s(sorted[from:to], v)
		if to > from+1 {
			to = from + sort.Search(to-from, func(j int) bool { return sorted[from+j] > v })
		}
		ranks[i] = float64(from+to)/2/float64(n) - 0.5
	}
	return ranks
}

// Sorted returns the values in ascending order; the slice belongs to the series.
func (s *Series) Sorted() Sorted { return s.order() }

func (s *Series) order() []float64 {
	if s.sorted == nil {
		s.sorted = slices.Clone(s.Values)
		sortFloats(s.sorted)
	}
	return s.sorted
}

// beyond is the long-run variance of the share of values above a limit.
func (s *Series) beyond(limit float64) LRV {
	if l, ok := s.own[limit]; ok {
		return l
	}
	l := longRun(len(s.Values), func(i int) float64 {
		if s.Values[i] > limit {
			return 1
		}
		return 0
	})
	if s.own == nil {
		s.own = map[float64]LRV{}
	}
	s.own[limit] = l
	return l
}

// InFlight is how many requests were in flight when each was due. due ascends;
// ends are the times at which the same requests ended, in any order, and are
// sorted in place.
func InFlight[T cmp.Ordered](due, ends []T) []float64 {
	slices.Sort(ends)
	counts, ended := make([]float64, len(due)), 0
	for at, t := range due {
		for ended < len(ends) && ends[ended] <= t {
			ended++
		}
		counts[at] = float64(max(at-ended, 0)) // one that ended at once is not in flight itself
	}
	return counts
}
