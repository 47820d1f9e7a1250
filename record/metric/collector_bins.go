package metric

import (
	"slices"

	"tokenmeter/record/timeline"
)

// Tokens are kept in bins of time, so that any window can be cut out when the
// run is over without keeping the events. A chunk of unknown size holds a
// fraction of a token, so bins count in fixed point: sums of integers do not
// depend on the order in which they are made.
const (
	binUS    = 10_000  // a window's edges are whole bins
	tokenOne = 1 << 16 // one token
	binsBits = 12
	binsPage = 1 << binsBits
	maxBins  = 1 << 27 // 15 days: beyond it no window is slid over a run
)

// tokenBins counts tokens by arrival. Bin i holds what came in
// (i × 10 ms, (i+1) × 10 ms] on the run's clock.
type tokenBins struct {
	pages map[int64]*[binsPage]int64
	key   int64 // of the page used last
	page  *[binsPage]int64
}

// add counts a fixed-point amount at a time on the run's clock.
func (b *tokenBins) add(atUS, amount int64) {
	if amount == 0 {
		return
	}
	b.addBin(binOf(atUS-1), amount)
}

// binCursor adds amounts at times that do not run backwards: a division is needed
// for those only that are far from the one before.
type binCursor struct {
	bins *tokenBins
	bin  int64 // of the time before
	end  int64 // its last µs
	any  bool
}

func (c *binCursor) add(atUS, amount int64) {
	switch {
	case amount == 0:
		return
	case c.any && atUS > c.end-binUS && atUS <= c.end:
	case c.any && atUS > c.end && atUS <= c.end+4*binUS:
		for atUS > c.end {
			c.bin++
			c.end += binUS
		}
	default:
		c.any, c.bin = true, binOf(atUS-1)
		c.end = (c.bin + 1) * binUS
	}
	c.bins.addBin(c.bin, amount)
}

func (b *tokenBins) addBin(bin, amount int64) {
	key := bin >> binsBits
	if b.page == nil || key != b.key {
		b.turnTo(key)
	}
	b.page[bin&(binsPage-1)] += amount
}

func (b *tokenBins) turnTo(key int64) {
	page := b.pages[key]
	if page == nil {
		if b.pages == nil {
			b.pages = map[int64]*[binsPage]int64{}
		}
		page = new([binsPage]int64)
		b.pages[key] = page
	}
	b.key, b.page = key, page
}

// spread distributes tokens evenly over a span, in at most 64 steps.
func (b *tokenBins) spread(fromUS, toUS, tokens int64) {
	if tokens <= 0 {
		return
	}
	span := max(toUS-fromUS, 0)
	steps := min(max(span/binUS, 1), 64)
	amount, rest := tokens*tokenOne/steps, tokens*tokenOne%steps
	for i := range steps {
		at := toUS - span*(steps-1-i)/steps
		if i == steps-1 {
			amount += rest
		}
		b.add(at, amount)
	}
}

func (b *tokenBins) merge(o *tokenBins) {
	for key, page := range o.pages {
		for i, amount := range page {
			if amount != 0 {
				b.addBin(key*binsPage+int64(i), amount)
			}
		}
	}
}

// sum returns the tokens in bins [from, to).
func (b *tokenBins) sum(from, to int64) float64 {
	var total int64
	for key, page := range b.pages {
		lo, hi := max(from-key*binsPage, 0), min(to-key*binsPage, binsPage)
		for i := lo; i < hi; i++ {
			total += page[i]
		}
	}
	return float64(total) / tokenOne
}

// extreme slides a window of width bins over [from, to) and returns the
// fewest and the most tokens it held.
func (b *tokenBins) extreme(from, to, width int64) (least, most float64, ok bool) {
	if width <= 0 || to-from < width || to-from > maxBins {
		return 0, 0, false
	}
	bins := b.between(from, to)
	var inside, lo, hi int64
	for i, amount := range bins {
		inside += amount
		if int64(i) >= width {
			inside -= bins[int64(i)-width]
		}
		if int64(i) == width-1 {
			lo, hi = inside, inside
		}
		if int64(i) >= width {
			lo, hi = min(lo, inside), max(hi, inside)
		}
	}
	return float64(lo) / tokenOne, float64(hi) / tokenOne, true
}

// between copies the bins [from, to) into one slice.
func (b *tokenBins) between(from, to int64) []int64 {
	bins := make([]int64, to-from)
	for key, page := range b.pages {
		first := key * binsPage
		lo, hi := max(from, first), min(to, first+binsPage)
		if lo < hi {
			copy(bins[lo-from:hi-from], page[lo-first:hi-first])
		}
	}
	return bins
}

// span returns the first bin that holds tokens and the one after the last.
func (b *tokenBins) span() (from, to int64, ok bool) {
	if len(b.pages) == 0 {
		return 0, 0, false
	}
	keys := make([]int64, 0, len(b.pages))
	for key := range b.pages {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	head, tail := b.pages[keys[0]], b.pages[keys[len(keys)-1]]
	from, to = keys[0]*binsPage, keys[len(keys)-1]*binsPage+binsPage
	for i := 0; i < binsPage && head[i] == 0; i++ {
		from++
	}
	for i := binsPage - 1; i >= 0 && tail[i] == 0; i-- {
		to--
	}
	return from, to, from < to
}

// binOf is the bin of a time: its quotient rounded down.
func binOf(us int64) int64 {
	bin := us / binUS
	if us < 0 && us%binUS != 0 {
		bin--
	}
	return bin
}

// portions shares the streamed tokens out over the generation events, in fixed
// point, so that they add up to S exactly. It is [Delivered] in integers.
type portions struct {
	k               perEvent
	share, over     int64 // an event's share, and what the division left
	carry, n, left  int64
	total, handed   int64
	unknownEntirely bool
}

func portionsOf(v *Values, s *seen) portions {
	streamed, ok := v.StreamedTokens.Get()
	p := portions{k: s.k, n: s.n, left: s.n, total: streamed * tokenOne, unknownEntirely: !ok}
	if ok {
		p.share, p.over = p.total/s.n, p.total%s.n
	}
	return p
}

func (p *portions) next(tokens timeline.Opt[int64]) int64 {
	if p.unknownEntirely {
		return 0
	}
	p.left--
	if p.left == 0 {
		return p.total - p.handed
	}
	amount := p.share
	if p.k == told {
		amount = tokens.Or(0) * tokenOne
	} else if p.carry += p.over; p.carry >= p.n {
		p.carry -= p.n
		amount++
	}
	p.handed += amount
	return amount
}
