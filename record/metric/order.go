package metric

import (
	"cmp"
	"math"
	"slices"

	"tokenmeter/record/stat"
)

// Order is when the requests of a run were due, and when they ended: what puts
// their values into the order in which they tell of each other. It depends on the
// set of the requests only, not on the order in which they came. Not safe for
// concurrent use before Prepare.
type Order struct {
	// OpenLoop: requests came at times of their own, so how many were in flight
	// is news. A closed loop of fixed width has as many as its streams.
	OpenLoop bool

	keys     []key
	position []uint32  // of each key in order of due time; nil until Prepare
	inFlight []float64 // by position
}

// key is a request, times in µs on the run's clock.
type key struct{ due, end, request int64 }

// Add takes a request and returns its number, by which values are kept.
func (o *Order) Add(due, end, request int64) uint32 {
	o.position = nil
	o.keys = append(o.keys, key{due, end, request})
	return uint32(len(o.keys) - 1)
}

// Merge takes the requests of p; their numbers grow by what it returns.
func (o *Order) Merge(p *Order) (grown uint32) {
	grown = uint32(len(o.keys))
	o.position = nil
	o.keys = append(slices.Grow(o.keys, len(p.keys)), p.keys...)
	return grown
}

// Follow takes the requests of another run, as if it had begun when this one was over,
// which is returned too, in µs.
func (o *Order) Follow(p *Order) (grown uint32, over int64) {
	for i := range o.keys {
		over = max(over, o.keys[i].due, o.keys[i].end)
	}
	grown = o.Merge(p)
	for i := int(grown); i < len(o.keys); i++ {
		o.keys[i].due += over
		o.keys[i].end += over
	}
	return grown, over
}

// Snapshot is the order of the requests so far, which later ones leave as it is.
func (o *Order) Snapshot() Order {
	return Order{OpenLoop: o.OpenLoop, keys: o.keys[:len(o.keys):len(o.keys)]}
}

// Prepare sorts the requests; later calls do nothing.
func (o *Order) Prepare() {
	if o.position != nil || len(o.keys) == 0 {
		return
	}
	sorted := make([]uint32, len(o.keys))
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortFunc(sorted, func(a, b uint32) int {
		x, y := &o.keys[a], &o.keys[b]
		return cmp.Or(cmp.Compare(x.due, y.due), cmp.Compare(x.request, y.request), cmp.Compare(x.end, y.end))
	})
	o.position = make([]uint32, len(sorted))
	for at, i := range sorted {
		o.position[i] = uint32(at)
	}
	o.inFlight = nil
	if o.OpenLoop {
		o.inFlight = o.flights(sorted)
	}
}

// flights is how many requests were in flight when each was due.
func (o *Order) flights(sorted []uint32) []float64 {
	due, ends := make([]int64, len(sorted)), make([]int64, len(sorted))
	for at, i := range sorted {
		due[at], ends[at] = o.keys[i].due, o.keys[i].end
	}
	return stat.InFlight(due, ends)
}

// Ordered are values of some of the requests of an Order. The zero value is empty.
type Ordered struct {
	values []float64
	spans  []successive // of which requests they are, by their first values
}

// successive are values of requests with successive numbers, up to where the next
// begin: most figures are known of nearly every request.
type successive struct{ from, request uint32 }

// Add takes a value of the request of that number. NaN is no value.
func (v *Ordered) Add(request uint32, x float64) {
	if x != x {
		return
	}
	at := uint32(len(v.values))
	if n := len(v.spans); n == 0 || v.spans[n-1].request+at-v.spans[n-1].from != request {
		v.spans = append(v.spans, successive{at, request})
	}
	v.values = append(v.values, x)
}

// Snapshot are the values so far, which later ones leave as they are.
func (v *Ordered) Snapshot() Ordered {
	return Ordered{v.values[:len(v.values):len(v.values)], v.spans[:len(v.spans):len(v.spans)]}
}

// Len is how many values there are.
func (v *Ordered) Len() int64 { return int64(len(v.values)) }

// Merge takes p's values, of requests whose numbers have grown.
func (v *Ordered) Merge(p *Ordered, grown uint32) {
	before := uint32(len(v.values))
	v.values = append(slices.Grow(v.values, len(p.values)), p.values...)
	for _, s := range p.spans {
		v.spans = append(v.spans, successive{s.from + before, s.request + grown})
	}
}

// Series returns values in the order in which their requests were due, with what
// was in flight then. It needs Prepare, and may then be called concurrently.
func (o *Order) Series(v *Ordered) *stat.Series {
	s := &stat.Series{Values: make([]float64, 0, len(v.values))}
	placed := make([]float64, len(o.keys))
	for i := range placed {
		placed[i] = math.NaN()
	}
	for i, s := range v.spans {
		values := v.values[s.from:]
		if i+1 < len(v.spans) {
			values = v.values[s.from:v.spans[i+1].from]
		}
		for k, x := range values {
			placed[o.position[int(s.request)+k]] = x
		}
	}
	if o.inFlight != nil {
		s.InFlight = make([]float64, 0, len(v.values))
	}
	for at, x := range placed {
		if x != x {
			continue
		}
		s.Values = append(s.Values, x)
		if o.inFlight != nil {
			s.InFlight = append(s.InFlight, o.inFlight[at])
		}
	}
	return s
}
