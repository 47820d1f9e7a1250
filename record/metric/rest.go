package metric

import (
	"math/bits"
	"slices"
	"sort"
	"unsafe"

	"tokenmeter/record/timeline"
)

// KeepFirst makes a timeline that is about to be written keep its first most
// events only. Of those after them there stays what its figures need: exact
// counts, sums, first and last moments, and a histogram of the gaps. So of the
// figures
//
//   - everything but what follows is exact, as of a timeline that kept all;
//   - gaps between chunks and tokens count with the mean of their bin (1/64
//     wide at most): sums are exact, quantiles and counts on one side of a
//     limit are right but for gaps in the limit's own bin;
//   - stalls are those of such gaps.
func KeepFirst(tl *timeline.Timeline, most int) {
	tl.Events.Keep(most, &keeper{tl: tl})
}

// keeper waits for the first event that is not kept: few replies are so long.
type keeper struct {
	tl *timeline.Timeline
	*rest
}

// Take implements timeline.Rest.
func (k *keeper) Take(packed []timeline.Packed) {
	if k.rest == nil {
		k.rest = &rest{streamed: k.tl.Streamed, whole: newObserver(), lastUS: -1}
		k.take(k.tl.Events.Packed(), true)
	}
	k.take(packed, false)
}

// Bytes implements timeline.Rest.
func (k *keeper) Bytes() int64 {
	r := k.rest
	return int64(unsafe.Sizeof(*r)) + int64(cap(r.progress.marks))*8 + int64(r.chunkGaps.used+r.tokenGaps.used)*int64(unsafe.Sizeof([64]gapBin{}))
}

// rest is what is known of the events of a timeline that did not keep all.
type rest struct {
	streamed bool
	whole    observer // of every event, kept or not

	atUS, lastUS int64 // of the event in hand; of the last generation event, −1: none yet
	waitedUS     int64 // since the last event with tokens
	// Of the generation events that were not kept.
	chunkGaps gapBins
	tokenGaps gapBins // by the tokens that the protocol told
	progress  progress

	choices [256]choiceSpan // of every event
}

// choiceSpan is when the events of one choice came.
type choiceSpan struct{ n, firstUS, lastUS int64 }

func (c *choiceSpan) add(atUS int64) {
	if c.n == 0 {
		c.firstUS = atUS
	}
	c.n++
	c.lastUS = atUS
}

// restOf returns what is known beyond the kept events; nil: all were kept, or
// nothing is known.
func restOf(tl *timeline.Timeline) *rest {
	if k, ok := tl.Events.Rest().(*keeper); ok {
		return k.rest
	}
	return nil
}

// take reads events; of those that are kept nothing is counted twice.
func (r *rest) take(packed []timeline.Packed, kept bool) {
	if !r.streamed {
		return
	}
	r.whole.read(packed)
	for i := range packed {
		ev := &packed[i]
		r.atUS += ev.DeltaUS()
		if !ev.Kind().Bears() {
			continue
		}
		r.choices[ev.Choice()].add(r.atUS)
		if r.lastUS >= 0 {
			r.waitedUS += r.atUS - r.lastUS
			if !kept {
				r.chunkGaps.add(r.atUS-r.lastUS, 1)
			}
			if k := told.tokensOf(ev.Tokens()); k > 0 {
				if !kept {
					r.tokenGaps.add(r.waitedUS, k)
				}
				r.waitedUS = 0
			}
		}
		if !kept {
			r.progress.add(r.atUS)
		}
		r.lastUS = r.atUS
	}
}

// stalls is as of a timeline that kept all, with the gaps beyond by their bins.
func (r *rest) stalls(tl *timeline.Timeline) int64 {
	type gap struct {
		us float64
		n  int64
	}
	var all []gap
	total := int64(0)
	add := func(us float64, n int64) {
		all = append(all, gap{us, n})
		total += n
	}
	eachGapUS(tl, func(us int64, _ timeline.Event) { add(float64(us), 1) })
	r.chunkGaps.each(add)
	sort.Slice(all, func(i, j int) bool { return all[i].us < all[j].us })
	at := func(rank int64) float64 {
		for _, g := range all {
			if rank < g.n {
				return g.us
			}
			rank -= g.n
		}
		return 0
	}
	twiceMedian := at((total-1)/2) + at(total/2)
	var n int64
	for _, g := range slices.Backward(all) {
		if g.us <= stallUS || 2*g.us <= 5*twiceMedian {
			break
		}
		n += g.n
	}
	return n
}

// EachGapBeyond calls f with the gaps that ended in a generation event that was
// not kept: the mean of a bin of the histogram, and how many are in it. It
// reports whether there are events that were not kept.
func EachGapBeyond(tl *timeline.Timeline, f func(gapUS float64, n int64)) bool {
	r := restOf(tl)
	if r == nil {
		return false
	}
	r.chunkGaps.each(f)
	return true
}

// EventsBy is how many of the generation events had come by a moment, since
// due, and how many there are. Of events that were not kept it may be up to one
// in 512 too low.
func EventsBy(tl *timeline.Timeline, us int64) (by, all int64) {
	for ev := range tl.Events.Generation() {
		all++
		if ev.AtUS <= us {
			by++
		}
	}
	if r := restOf(tl); r != nil && r.progress.n > 0 { // else all of them are kept, as far as they are known
		all += r.progress.n
		if us >= r.lastUS {
			return all, all
		}
		by += r.progress.by(us)
	}
	return by, all
}

// gapBins is a histogram of times: single microseconds up to 128, from there 64
// bins to each power of two, which are there when they are needed. A bin knows
// its sum.
type gapBins struct {
	octaves [58]*[64]gapBin
	used    int // octaves that are there
}

type gapBin struct{ n, sumUS int64 }

// add counts a time that is shared by so many gaps.
func (b *gapBins) add(us, gaps int64) {
	each := uint64(max(us, 0) / gaps)
	octave := max(bits.Len64(each)-6, 0)
	at := &b.octaves[octave]
	if *at == nil {
		*at = new([64]gapBin)
		b.used++
	}
	bin := &(*at)[each>>max(octave-1, 0)&63]
	bin.n += gaps
	bin.sumUS += us
}

// each calls f with the mean and the number of every bin, in order.
func (b *gapBins) each(f func(meanUS float64, n int64)) {
	for _, octave := range &b.octaves {
		if octave == nil {
			continue
		}
		for _, bin := range octave {
			if bin.n > 0 {
				f(float64(bin.sumUS)/float64(bin.n), bin.n)
			}
		}
	}
}

// progress is how many events had come by when: the moment of every so many,
// of fewer the more there are.
type progress struct {
	n     int64
	every int64 // a power of two
	marks []int64
}

const mostMarks = 1024

func (p *progress) add(atUS int64) {
	if p.every == 0 {
		p.every = 1
	}
	p.n++
	if p.n%p.every != 0 {
		return
	}
	if len(p.marks) == mostMarks {
		for i := range mostMarks / 2 {
			p.marks[i] = p.marks[2*i+1]
		}
		p.marks = p.marks[:mostMarks/2]
		if p.every *= 2; p.n%p.every != 0 {
			return
		}
	}
	p.marks = append(p.marks, atUS)
}

func (p *progress) by(us int64) int64 {
	i, _ := slices.BinarySearch(p.marks, us+1)
	return int64(i) * p.every
}
