package compare

import (
	"math"
	"slices"
	"sort"

	"tokenmeter/record/stat"
)

// binned is a series of a baseline file: consecutive blocks of requests, each
// a histogram over the same edges. Edges are values of the series at its
// percentiles, so a bin holds about a percent of it, in the tail a tenth of
// that. A bin whose values are all alike is a point; in another one they are
// taken to be spread evenly.
type binned struct {
	edges    []float64   // ascending; bin i holds the values in (edges[i−1], edges[i]]
	point    []bool      // every value of the bin equals its edge
	upto     [][]float64 // for each block, how many values do not exceed each edge
	total    []float64   // the same of all blocks
	sum      []float64   // of each block's values
	quantile map[string]float64
	madeOf   int // requests
	is       stat.Worth
}

func last(list []float64) float64 { return list[len(list)-1] }

func (b *binned) count() float64 { return last(b.total) }

func (b *binned) atMost(x float64) float64 { return b.cumulated(b.total, x*(1+tie)) }

// exceeding counts values beyond x; where x is a point, its values half.
func (b *binned) exceeding(upto []float64, x float64) float64 {
	return last(upto) - (b.cumulated(upto, x*(1+tie))+b.cumulated(upto, x*(1-tie)))/2
}

func (b *binned) cumulated(upto []float64, x float64) float64 {
	i := sort.SearchFloat64s(b.edges, x) // the first edge ≥ x
	switch {
	case i == len(b.edges):
		return last(upto)
	case b.edges[i] == x:
		return upto[i]
	case i == 0:
		return 0
	case b.point[i]:
		return upto[i-1]
	}
	f := (x - b.edges[i-1]) / (b.edges[i] - b.edges[i-1])
	return upto[i-1] + f*(upto[i]-upto[i-1])
}

func (b *binned) parts(x float64) []stat.Pair {
	out := make([]stat.Pair, len(b.upto))
	for i, upto := range b.upto {
		out[i] = stat.Pair{Num: b.exceeding(upto, x), Den: last(upto)}
	}
	return out
}

func (b *binned) sums() []stat.Pair {
	out := make([]stat.Pair, len(b.upto))
	for i, upto := range b.upto {
		out[i] = stat.Pair{Num: b.sum[i], Den: last(upto)}
	}
	return out
}

func (b *binned) figure() stat.Pair { return total(b.sums()) }

func (b *binned) requests() int { return b.madeOf }

func (b *binned) blocks() int { return len(b.upto) }

func (b *binned) worth() stat.Worth { return b.is }

// ordered are the values as a sample; those of a bin stand at its edge.
func (b *binned) ordered() stat.Ordered {
	c := &stat.Counted{}
	before := 0.0
	for i, v := range b.edges {
		c.Append(v, int64(math.Round(b.total[i]))-int64(math.Round(before)))
		before = b.total[i]
	}
	return c
}

func (b *binned) extent() (lo, hi float64) { return b.edges[0], last(b.edges) }

// levels are the percentiles that become edges.
func levels() []float64 {
	var list []float64
	for i := range 99 {
		list = append(list, float64(i)/100)
	}
	for i := 1; i < 20; i++ {
		list = append(list, 0.98+float64(i)/1000)
	}
	return append(list, 0.9995, 1)
}

// keptBlocks is into how many blocks a single run is cut for a baseline file.
const keptBlocks = 40

// bin makes the form of a series that fits into a file: cut into at most so
// many blocks, with these percentiles exact.
func (l *listed) bin(most int, percentiles []string) *binned {
	pieces := l.blocks()
	size := (pieces + most - 1) / most
	b := &binned{madeOf: pieces, is: l.worth(), quantile: map[string]float64{}}
	b.edges = l.edges()
	b.point = make([]bool, len(b.edges))
	b.total = make([]float64, len(b.edges))
	for i, e := range b.edges {
		b.total[i] = l.atMost(e)
		before := 0.0
		if i > 0 {
			before = b.total[i-1]
		}
		b.point[i] = b.total[i]-before <= b.total[i]-l.below(e)+1e-9
	}
	from := 0
	for piece := 0; piece < pieces; {
		next := piece + size
		if pieces-next < (size+1)/2 {
			next = pieces
		}
		to := l.end(next)
		b.upto, b.sum = append(b.upto, l.cumulate(from, to, b.edges)), append(b.sum, l.sumOf(from, to))
		piece, from = next, to
	}
	for _, name := range percentiles {
		p, _ := percentileOf(name)
		if v, ok := stat.Quantile(l.ordered(), p); ok {
			b.quantile[name] = v
		}
	}
	return b
}

// edges are distinct values at the levels, and before a value that fills more
// than a level the value below it.
func (l *listed) edges() []float64 {
	var list []float64
	o := l.ordered()
	for _, p := range levels() {
		v, ok := stat.NearestRank(o, p)
		if !ok {
			continue
		}
		if n := len(list); n > 0 && list[n-1] == v {
			if i := sort.SearchFloat64s(l.ascending(), v); i > 0 {
				list = append(list, l.ascending()[i-1])
			}
			continue
		}
		list = append(list, v)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// end is the index behind the last value of the first n pieces.
func (l *listed) end(n int) int {
	switch {
	case l.cuts == nil:
		return n
	case n == 0:
		return 0
	}
	return l.cuts[n-1]
}

func (l *listed) cumulate(from, to int, edges []float64) []float64 {
	counts := make([]float64, len(edges))
	for i := from; i < to; i++ {
		at := min(sort.SearchFloat64s(edges, l.values[i]), len(edges)-1)
		counts[at] += l.weight(i)
	}
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	return counts
}

func (l *listed) weight(i int) float64 {
	if l.times == nil {
		return 1
	}
	return l.times[i]
}

func (l *listed) sumOf(from, to int) float64 {
	s := 0.0
	for i := from; i < to; i++ {
		s += l.values[i] * l.weight(i)
	}
	return s
}

// exact is a percentile that the file holds as it was.
func (b *binned) exact(p float64) (float64, bool) {
	for name, v := range b.quantile {
		if q, ok := percentileOf(name); ok && math.Abs(q-p) < 1e-9 {
			return v, true
		}
	}
	return 0, false
}
