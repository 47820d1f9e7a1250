package compare

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"tokenmeter/record/stat"
)

// series is the values of one metric of one run, in order, in pieces: a piece
// is a request, or in a baseline read from a file a block of them.
type series interface {
	// count is the number of values, with their multiplicity; of rates the
	// number of seconds.
	count() float64
	// atMost is how many values do not exceed x.
	atMost(x float64) float64
	// parts gives for each piece how many of its values exceed x, and of how many.
	parts(x float64) []stat.Pair
	// sums gives for each piece the sum of its values, and how many they are.
	sums() []stat.Pair
	// blocks is how many pieces sums and parts give.
	blocks() int
	// worth is how many requests they are, and how much these tell of each other.
	worth() stat.Worth
	// figure is the run's own mean, share or rate.
	figure() stat.Pair
	// requests is how many requests, or other pieces, they were made of.
	requests() int
	// ordered are the values as a sample; nil for those whose values are not known.
	ordered() stat.Ordered
	// extent is the range of the values.
	extent() (lo, hi float64)
}

// listed is a series of which every value is known. It sorts and measures only what
// is asked for: not safe for concurrent use.
type listed struct {
	values       []float64   // in order
	times        []float64   // how often each counts, and
	cuts         []int       // ends of the pieces; both nil: each value is a piece
	levels       stat.Series // the pieces' means
	sorted, upto []float64   // of pieces: values ascending, and how many up to each
}

// newListed returns nil for no values. inFlight is how many requests were in
// flight when that of each piece was due; nil where the load fixes it.
func newListed(values, times []float64, cuts []int, inFlight []float64) series {
	if len(values) == 0 {
		return nil
	}
	l := &listed{values: values, times: times, cuts: cuts, levels: stat.Series{Values: values, InFlight: inFlight}}
	if cuts != nil {
		l.levels.Values = make([]float64, len(cuts))
		for i, s := range l.sums() {
			l.levels.Values[i] = s.Num / s.Den
		}
	}
	return l
}

// ascending are the values in order of size.
func (l *listed) ascending() []float64 {
	if l.cuts == nil {
		return l.levels.Sorted()
	}
	if l.sorted == nil {
		l.sortCounted()
	}
	return l.sorted
}

func (l *listed) sortCounted() {
	order := make([]uint32, len(l.values))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(l.values[a], l.values[b]) })
	n := 0.0
	for _, i := range order {
		n += l.times[i]
		if last := len(l.sorted) - 1; last >= 0 && l.sorted[last] == l.values[i] {
			l.upto[last] = n
			continue
		}
		l.sorted, l.upto = append(l.sorted, l.values[i]), append(l.upto, n)
	}
}

func (l *listed) count() float64 { return l.rank(len(l.ascending())) }

// rank is how many values the first i sorted entries stand for.
func (l *listed) rank(i int) float64 {
	switch {
	case i == 0:
		return 0
	case l.cuts == nil:
		return float64(i)
	}
	return l.upto[i-1]
}

// tie is how near two values must be to be the same one: scaling by a ratio
// and back leaves dust in the last digits.
const tie = 1e-9

func (l *listed) atMost(x float64) float64 {
	return l.rank(sort.SearchFloat64s(l.ascending(), math.Nextafter(x*(1+tie), math.Inf(1))))
}

func (l *listed) below(x float64) float64 {
	return l.rank(sort.SearchFloat64s(l.ascending(), x*(1-tie)))
}

func (l *listed) extent() (lo, hi float64) { return l.ascending()[0], last(l.ascending()) }

func (l *listed) worth() stat.Worth { return l.levels.Worth() }

func (l *listed) parts(x float64) []stat.Pair {
	over, under := x*(1+tie), x*(1-tie)
	return l.pieces(func(v float64) float64 {
		switch {
		case v > over:
			return 1
		case v >= under:
			return 0.5
		}
		return 0
	})
}

func (l *listed) sums() []stat.Pair { return l.pieces(func(v float64) float64 { return v }) }

func (l *listed) figure() stat.Pair { return total(l.sums()) }

func (l *listed) requests() int { return len(l.levels.Values) }

func (l *listed) blocks() int { return len(l.levels.Values) }

func (l *listed) pieces(of func(float64) float64) []stat.Pair {
	if l.cuts == nil {
		out := make([]stat.Pair, len(l.values))
		for i, v := range l.values {
			out[i] = stat.Pair{Num: of(v), Den: 1}
		}
		return out
	}
	out := make([]stat.Pair, len(l.cuts))
	from := 0
	for i, to := range l.cuts {
		for j := from; j < to; j++ {
			out[i].Num += of(l.values[j]) * l.times[j]
			out[i].Den += l.times[j]
		}
		from = to
	}
	return out
}

func (l *listed) ordered() stat.Ordered {
	if l.cuts == nil {
		return l.levels.Sorted()
	}
	c := &stat.Counted{}
	before := 0.0
	for i, v := range l.ascending() {
		c.Append(v, int64(l.upto[i]-before))
		before = l.upto[i]
	}
	return c
}

// fixed is a series of ratios whose parts do not depend on a threshold: shares
// and rates.
type fixed struct {
	list   []stat.Pair
	is     stat.Worth
	madeOf int // requests
	// whole is the run's own figure where the list only tells how it varies;
	// zero: the sum of the list.
	whole stat.Pair
}

func (f *fixed) figure() stat.Pair {
	if f.whole.Den > 0 {
		return f.whole
	}
	return total(f.list)
}

func newFixed(list []stat.Pair, inFlight []float64) series {
	if len(list) == 0 {
		return nil
	}
	f := &fixed{list: list, madeOf: len(list)}
	r, ok := stat.RatioOf(list)
	if !ok {
		return nil
	}
	levels := make([]float64, len(list))
	for i, p := range list {
		levels[i] = p.Num - r.Value*p.Den
	}
	f.is = (&stat.Series{Values: levels, InFlight: inFlight}).Worth()
	return f
}

func (f *fixed) count() float64            { return total(f.list).Den }
func (f *fixed) requests() int             { return f.madeOf }
func (f *fixed) blocks() int               { return len(f.list) }
func (f *fixed) ordered() stat.Ordered     { return nil }
func (f *fixed) atMost(float64) float64    { return 0 }
func (f *fixed) parts(float64) []stat.Pair { return f.list }
func (f *fixed) sums() []stat.Pair         { return f.list }
func (f *fixed) worth() stat.Worth         { return f.is }
func (f *fixed) extent() (lo, hi float64)  { return 0, 0 }

// total is the sum of the pieces.
func total(list []stat.Pair) stat.Pair {
	var t stat.Pair
	for _, p := range list {
		t.Num += p.Num
		t.Den += p.Den
	}
	return t
}
