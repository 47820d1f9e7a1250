package metric

import (
	"fmt"
	"math"
	"slices"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Facts are what the records say about the measurement itself: the material
// that package validity judges. What could not be told is empty.
type Facts struct {
	OpenLoop    bool
	Concurrency int64 // planned streams or cap; 0: unknown
	CapReached  bool  // an open loop waited for slots
	PrefillCap  int64 // the cap on requests without a first token, where an open loop waited for it; 0: it did not
	MaxInFlight int64

	connects connects // warm-up included

	Requests     int64 // measured, without the cancelled ones
	Failed       int64 // of these, by the server or on the way to it
	ClientErrors int64 // of these, by the client itself (out of descriptors, …)

	SilentS     float64               // at the end, while requests waited and the load went on
	SilentShare timeline.Opt[float64] // of the time under load; empty: there was no such silence

	KernelShare     timeline.Opt[float64] // generation events with kernel stamps
	LagP99MS        timeline.Opt[float64] // kernel stamp → read, of all of them
	ChargedLagP99MS timeline.Opt[float64] // the same, 0 for events that came alone
	MedianGapMS     timeline.Opt[float64] // between tokens, else between chunks

	// SendLateP99MS is how late requests were sent after they were due and, in
	// an open loop with a cap, a slot was free. Open loop only.
	SendLateP99MS       timeline.Opt[float64]
	OfferedPerS         timeline.Opt[float64] // open loop only
	BegunPerS           timeline.Opt[float64] // open loop only: what the schedule asks for, of conversations and tasks their first requests
	AchievedOverOffered timeline.Opt[float64] // open loop only: of what began
	Conversations       bool                  // some requests follow others, with no due time of the schedule

	CoalescedShare timeline.Opt[float64] // generation events that came with another
	BurstShare     timeline.Opt[float64] // streamed requests delivered in bursts

	Drifts []Drift

	PromptsUnique bool
	PromptsMade   bool                  // none is the user's own words
	PrefixHits    timeline.Opt[float64] // cached ÷ input tokens, beyond the template's where it is known
	OutputIsCap   bool
	OSLShortfall  timeline.Opt[float64] // 1 − produced ÷ asked tokens; empty: no length was asked for
	OSLWhy, OSLDo string                // why answers are shorter than asked, and what to do; empty: none is
	InputAsked    timeline.Opt[float64] // mean that the server should count; empty: no length was asked for
	TemplateAdds  float64               // of it
	ISLError      timeline.Opt[float64] // |mean input ÷ asked − 1|
	ISLWhy, ISLDo string                // likewise of prompts of another length
}

// Facts computes them from what has been added so far.
func (c *Collector) Facts() Facts {
	w := c.windows()
	c.order.Prepare()
	c.align()
	return c.facts(&w)
}

func (c *Collector) facts(w *windows) Facts {
	f := Facts{
		OpenLoop: c.Opts.OpenLoop, Concurrency: c.Opts.Concurrency,
		CapReached: c.Opts.OpenLoop && w.capWasReached, MaxInFlight: w.maxInFlight,
		Requests:      c.requests.OK + c.requests.Failed,
		ClientErrors:  c.requests.ByClass[timeline.ClientResource],
		PromptsUnique: c.Opts.PromptsUnique, PromptsMade: c.Opts.PromptsMade, OutputIsCap: c.Opts.OutputIsCap, InputAsked: c.Opts.AskedInput,
		TemplateAdds: c.Opts.AskedTemplate,
		Drifts:       c.drifts(), connects: c.connects,
	}
	f.Failed = c.requests.Failed - f.ClientErrors
	c.lagFacts(&f)
	c.loadFacts(&f, w)
	c.lengthFacts(&f)
	f.SilentS, f.SilentShare = w.silence(&c.Opts)
	f.CoalescedShare = share(c.events.coalesced, c.events.all)
	f.BurstShare = share(c.events.burst, c.events.streamed)
	return f
}

func share(part, whole int64) timeline.Opt[float64] {
	return timeline.Maybe(float64(part)/float64(whole), whole > 0)
}

func quantile(s stat.Ordered, p float64) timeline.Opt[float64] {
	return timeline.Maybe(stat.Quantile(s, p))
}

func pooledQuantile(p float64, pools ...*pooled) timeline.Opt[float64] {
	whole, _ := frozen(pools...)
	return quantile(whole, p)
}

func (c *Collector) lagFacts(f *Facts) {
	f.KernelShare = share(c.events.kernel, c.events.all)
	f.LagP99MS = pooledQuantile(0.99, &c.lag)
	if alone := c.events.kernel - c.charged.Len(); c.events.kernel > 0 {
		var charged stat.Ints
		charged.AddN(0, uint64(max(alone, 0)))
		charged.Merge(&c.charged)
		f.ChargedLagP99MS = quantile(charged.Frozen(1000), 0.99)
	}
	if f.MedianGapMS = pooledQuantile(0.5, &c.gaps, &c.itl); !f.MedianGapMS.OK() {
		f.MedianGapMS = pooledQuantile(0.5, &c.gaps, &c.icl)
		if c.requests.ITLLeftOut[leftChoices] > 0 { // gaps between choices are shorter than those within one
			f.MedianGapMS = timeline.Maybe(max(f.MedianGapMS.Or(0), mean(c.samples["tpot_ms"]).Or(0)), f.MedianGapMS.OK())
		}
	}
}

// RateKept says what was sent of what the schedule asked for.
func (f *Facts) RateKept() string {
	what := "requests/s were sent"
	if f.Conversations {
		what = "conversations or tasks/s were begun"
	}
	return fmt.Sprintf("%s %s of %s/s due", Significant(f.BegunPerS.Or(0), 4), what, Significant(f.OfferedPerS.Or(0), 4))
}

func (c *Collector) loadFacts(f *Facts, w *windows) {
	if w.due == 0 || !f.OpenLoop {
		return
	}
	late, slots, prefills := c.lateness()
	f.CapReached = f.CapReached || slots
	if prefills {
		f.PrefillCap = c.Opts.Prefills
	}
	f.SendLateP99MS = quantile(late.Sorted(), 0.99)
	f.OfferedPerS = c.offered(w)
	f.BegunPerS = w.begun.rate()
	f.Conversations = w.begun.due < w.due
	offered, ok := f.OfferedPerS.Get()
	achieved, ok2 := f.BegunPerS.Get()
	switch {
	case ok && ok2 && offered > 0:
		f.AchievedOverOffered = timeline.Some(achieved / offered)
	case w.begun.n < 2 && w.begun.n < w.begun.due: // too few left to tell a rate
		f.AchievedOverOffered = timeline.Some(float64(w.begun.n) / float64(w.begun.due))
	}
}

// lateness is start − due in ms, without the wait for a slot of the caps: that
// one is the server's doing. The k-th start cannot come before as many
// requests have ended as exceed the cap, or have their first token as exceed
// that on prefills. It reports of both caps whether a measured request waited for
// it, be it for a place that a ramp or cooldown had or in vain. The rows are in order
// of start.
func (c *Collector) lateness() (late *stat.Sample, slots, prefills bool) {
	var ends, firsts []int64
	for _, r := range c.rows {
		if r.unsent {
			continue
		}
		ends = append(ends, r.end)
		first := r.end
		if r.ttft >= 0 {
			first = r.due + microseconds(r.ttft)
		}
		firsts = append(firsts, first)
	}
	slices.Sort(ends)
	slices.Sort(firsts)
	late = &stat.Sample{}
	sent := int64(0)
	for _, r := range c.rows {
		if r.unsent {
			if r.start > r.due && !r.warmup { // it was given up, having waited
				prefills = prefills || c.Opts.Prefills > 0
				slots = slots || c.Opts.Prefills == 0 && c.Opts.Concurrency > 0
			}
			continue
		}
		ready := r.due
		if limit := c.Opts.Concurrency; limit > 0 && sent >= limit && ends[sent-limit] > ready {
			ready, slots = ends[sent-limit], slots || !r.warmup
		}
		if limit := c.Opts.Prefills; limit > 0 && sent >= limit && firsts[sent-limit] > ready {
			ready, prefills = firsts[sent-limit], prefills || !r.warmup
		}
		sent++
		if !r.warmup {
			late.Add(ms(max(r.start-ready, 0)))
		}
	}
	return late, slots, prefills
}

// cacheHitRate is null where no server tells what came from its cache.
func (t *tokenCounts) cacheHitRate() timeline.Opt[float64] {
	if !t.cacheTold {
		return timeline.Opt[float64]{}
	}
	return share(t.cached, t.cachedOf)
}

func (c *Collector) lengthFacts(f *Facts) {
	t := &c.tokens
	if t.cacheTold {
		f.PrefixHits = share(t.seen, t.seenOf)
	}
	if t.asked > 0 {
		f.OSLShortfall = timeline.Some(1 - float64(t.got)/float64(t.asked))
		f.OSLWhy, f.OSLDo = t.shortBy.words()
	}
	asked, ok := c.Opts.AskedInput.Get()
	if got, have := mean(c.samples["input_tokens"]).Get(); ok && have && asked > 0 {
		f.ISLError = timeline.Some(math.Abs(got/asked - 1))
		f.ISLWhy, f.ISLDo = promptWords(got, asked, float64(c.Opts.TemplateTokens)-c.Opts.AskedTemplate)
	}
}
