package compare

import (
	"math"
	"math/rand/v2"

	"tokenmeter/record/stat"
)

// resamples is how many times the blocks of single runs are drawn anew.
const resamples = 4000

// byBlock tests a difference of single runs with blocks of consecutive
// requests as the unit: a circular block bootstrap of both runs. How runs
// differ from each other can't be seen in it, so the hypothesis is not "no
// difference" but "no larger difference than runs of one server have".
func (f *finding) byBlock(s sides, name string, o *Options) {
	a, b := newResampler(s.a, name), newResampler(s.b, name)
	rng := rand.New(rand.NewPCG(o.Seed, 0x626c6f636b73))
	var d stat.Sample
	for range resamples {
		va, vb := a.draw(rng), b.draw(rng)
		if va > 0 && vb > 0 {
			d.Add(math.Log(vb / va))
		}
	}
	if d.Len() < resamples/2 || !(a.estimate > 0) || !(b.estimate > 0) || !(f.a.Or(0) > 0) || !(f.b.Or(0) > 0) {
		f.why = "the values are too few or too small for a ratio"
		return
	}
	centre := math.Log(f.b.Or(0) / f.a.Or(0))
	stretch := stretched(min(a.blocks, b.blocks))
	lo, _ := stat.Quantile(d.Sorted(), (1-Confidence)/2)
	hi, _ := stat.Quantile(d.Sorted(), (1+Confidence)/2)
	// The resamples lie around the figure that their pieces make, which of a
	// rate is not quite the run's own.
	middle := math.Log(b.estimate / a.estimate)
	f.interval = &[2]float64{math.Exp(centre + (lo-middle)*stretch), math.Exp(centre + (hi-middle)*stretch)}
	noise := math.Log1p(o.RunNoise)
	f.p = some(beyond(d.Sorted(), centre, middle, noise, stretch))
	f.permutation = f.permuteBlocks(s, name, noise, o.Seed)
}

// stretched widens a bootstrap of few blocks, which is too narrow by nature.
func stretched(blocks int) float64 {
	n := math.Max(float64(blocks), 2)
	return stat.StudentQuantile(0.975, n-1) / stat.NormalQuantile(0.975) * math.Sqrt(n/(n-1))
}

// beyond is the p-value of a difference no larger than noise: twice the share
// of resamples on the noise's side.
func beyond(d stat.Sorted, centre, middle, noise, stretch float64) float64 {
	if math.Abs(centre) <= noise {
		return 1
	}
	limit := middle + (math.Copysign(noise, centre)-centre)/stretch
	n := 0
	for _, v := range d {
		if centre > 0 && v <= limit || centre < 0 && v >= limit {
			n++
		}
	}
	return math.Min(1, 2*float64(n+1)/float64(len(d)+1))
}

// resampler draws a figure of one side with its blocks dealt anew. A
// percentile is drawn on the scale of shares: how many values of the resample
// exceed it says which percentile of the run's own values it becomes.
type resampler struct {
	blocks int
	each   []*stat.Blocks
	p      float64
	above  float64 // share of the side's values above its percentile
	// estimate is the figure without resampling.
	estimate float64
	// quantile is of all values of the side.
	quantile func(p float64) float64
}

func newResampler(list []series, name string) *resampler {
	r := &resampler{quantile: quantiles(list)}
	x := 0.0
	if p, ok := percentileOf(name); ok {
		r.p, x = p, r.quantile(p)
	}
	var all []stat.Pair
	for _, s := range list {
		pieces := s.sums()
		if r.p > 0 {
			pieces = s.parts(x)
		}
		blocks := stat.NewBlocks(pieces, s.block())
		r.blocks += blocks.Count()
		r.each = append(r.each, blocks)
		all = append(all, total(pieces))
	}
	t := total(all)
	r.above = t.Num / t.Den
	r.estimate = r.above
	if r.p > 0 {
		r.estimate = x
	}
	return r
}

func (r *resampler) draw(rng *rand.Rand) float64 {
	var t stat.Pair
	for _, b := range r.each {
		p := b.Resample(rng)
		t.Num += p.Num
		t.Den += p.Den
	}
	if !(t.Den > 0) {
		return 0
	}
	if r.p == 0 {
		return t.Num / t.Den
	}
	// More values beyond the percentile than there should be: the resample's
	// own percentile lies as much higher.
	p := r.p + t.Num/t.Den - r.above
	return r.quantile(math.Min(math.Max(p, 0), 1))
}

// quantiles answers for all values of a side, fast where every value is known.
func quantiles(list []series) func(p float64) float64 {
	if l, ok := list[0].(*listed); ok && len(list) == 1 {
		o := l.ordered()
		return func(p float64) float64 {
			v, _ := stat.Quantile(o, p)
			return v
		}
	}
	return func(p float64) float64 { return inverse(list, p) }
}

// permuteBlocks deals whole blocks to the sides anew, after the difference
// that is not to count has been taken off.
func (f *finding) permuteBlocks(s sides, name string, noise float64, seed uint64) opt {
	ratio := math.Exp(noise)
	if f.b.Or(0) < f.a.Or(0) {
		ratio = 1 / ratio
	}
	var a, b []stat.Pair
	if p, ok := percentileOf(name); ok { // the ratio is applied to the threshold
		x := pooledQuantile(s.a, s.b, ratio, p)
		a, b = cut(s.a, func(s series) []stat.Pair { return s.parts(x) }), cut(s.b, func(s series) []stat.Pair { return s.parts(x * ratio) })
	} else {
		a, b = cut(s.a, series.sums), cut(s.b, func(s series) []stat.Pair {
			list := append([]stat.Pair(nil), s.sums()...)
			for i := range list {
				list[i].Num /= ratio
			}
			return list
		})
	}
	p := stat.Permute(a, b, permutations/2, seed, difference)
	if ratio > 1 {
		return some(p.Greater)
	}
	return some(p.Less)
}

func difference(a, b []stat.Pair) float64 {
	ta, tb := total(a), total(b)
	return tb.Num/math.Max(tb.Den, 1e-300) - ta.Num/math.Max(ta.Den, 1e-300)
}

// cut are the pieces of several runs in blocks that do not overlap.
func cut(list []series, of func(series) []stat.Pair) []stat.Pair {
	var out []stat.Pair
	for _, s := range list {
		out = append(out, stat.NewBlocks(of(s), s.block()).Cut()...)
	}
	return out
}
