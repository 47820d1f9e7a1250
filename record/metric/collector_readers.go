package metric

import (
	"tokenmeter/record/timeline"
)

// Reader says how a stream is for somebody who reads so many tokens a second:
// the text that has come and was not read yet is a buffer, and when it is empty
// the reader waits.
type Reader struct {
	TPS float64 `json:"tps"`
	// Waiting is the share of the time since the first token that was spent
	// waiting for more; a distribution over the requests.
	Waiting Dist `json:"waiting"`
	// Smooth is the share of requests in which the reader never waited.
	Smooth timeline.Opt[float64] `json:"smooth"`
}

// reading is one reader's progress through one stream. Times are µs since due.
type reading struct {
	perTokenUS  float64
	from, until float64 // the first token came; all that has come is read
	waited      float64
	waits       int64
	any         bool
}

// take is the arrival of some tokens.
func (r *reading) take(atUS int64, tokens float64) {
	at := float64(atUS)
	switch {
	case !r.any:
		r.any, r.from, r.until = true, at, at
	case at > r.until:
		r.waited += at - r.until
		r.waits++
		r.until = at
	}
	r.until += tokens * r.perTokenUS
}

// readers are the samples of all readers, in the order of CollectorOpts.Readers.
type readers struct {
	waiting []Ordered
	smooth  []int64
}

// read goes over a stream for each reader. It is for successful requests whose
// tokens are known.
func (c *Collector) read(tl *timeline.Timeline, v *Values) {
	if len(c.Opts.Readers) == 0 || tl.Outcome != timeline.OK || !v.TPOTMS.OK() {
		return
	}
	c.readers.prepare(len(c.Opts.Readers))
	for i, tps := range c.Opts.Readers {
		r := reading{perTokenUS: 1e6 / tps}
		Delivered(tl, v, r.take)
		if !r.any || r.until <= r.from {
			continue
		}
		c.readers.waiting[i].Add(c.now, r.waited/(r.until-r.from))
		if r.waited == 0 {
			c.readers.smooth[i]++
		}
	}
}

// prepare makes room for n readers, once.
func (r *readers) prepare(n int) {
	if r.waiting == nil {
		r.waiting = make([]Ordered, n)
		r.smooth = make([]int64, n)
	}
}

// readerSummaries has every reader that was asked for, also where no stream
// tells a pace: then its figures are null and n is 0.
func (c *Collector) readerSummaries() (out []Reader) {
	c.readers.prepare(len(c.Opts.Readers))
	for i := range c.readers.waiting {
		s := &c.readers.waiting[i]
		one := Reader{TPS: c.Opts.Readers[i], Waiting: seriesDist(c.order.Series(s))}
		if n := s.Len(); n > 0 {
			one.Smooth = timeline.Some(float64(c.readers.smooth[i]) / float64(n))
		}
		out = append(out, one)
	}
	return out
}

func (r *readers) merge(o *readers, grown uint32) {
	if len(o.waiting) == 0 {
		return
	}
	r.prepare(len(o.waiting))
	for i := range o.waiting {
		r.waiting[i].Merge(&o.waiting[i], grown)
		r.smooth[i] += o.smooth[i]
	}
}
