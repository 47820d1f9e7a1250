package metric

import "slices"

// Merge takes everything o has collected; o must not be used afterwards.
func (c *Collector) Merge(o *Collector) {
	grown := c.order.Merge(&o.order)
	c.rows = append(slices.Grow(c.rows, len(o.rows)), o.rows...)
	o.rows = nil
	for name, s := range o.samples {
		c.at(name).Merge(s, grown)
		delete(o.samples, name) // its memory is free for the next one's
	}
	c.mergeRequests(&o.requests)
	c.connects.merge(o.connects)
	c.served.merge(o.served)
	if o.first.any && (!c.first.any || o.first.before(c.first)) {
		c.first, c.requests.FirstError = o.first, o.requests.FirstError
	}
	c.gaps.merge(&o.gaps)
	c.icl.merge(&o.icl)
	c.itl.merge(&o.itl)
	c.lag.merge(&o.lag)
	c.charged.Merge(&o.charged)
	c.events.merge(o.events)
	c.tokens.merge(&o.tokens)
	c.bins.merge(&o.bins)
	for name, t := range o.tasks {
		have := c.tasks[name]
		c.tasks[name] = task{have.failed || t.failed, have.cancelled || t.cancelled, append(have.steps, t.steps...)}
	}
	c.items.merge(&o.items, grown)
	c.readers.merge(&o.readers, grown)
	for name, k := range o.items.classes {
		c.ofClass(name).merge(k, grown)
	}
}

func (c *Collector) mergeRequests(o *Requests) {
	r := &c.requests
	r.Total += o.Total
	r.OK += o.OK
	r.Failed += o.Failed
	r.Unanswered += o.Unanswered
	r.Warmup += o.Warmup
	r.WarmupFailed += o.WarmupFailed
	r.Cooldown += o.Cooldown
	r.Attempts += o.Attempts
	addAll(r.ByClass, o.ByClass)
	addAll(r.Excluded, o.Excluded)
	addAll(r.TokenSources, o.TokenSources)
	addAll(r.ServedModels, o.ServedModels)
	addAll(r.ServiceTiers, o.ServiceTiers)
	addAll(r.Unread, o.Unread)
	addAll(r.Clocks, o.Clocks)
	addAll(r.Flags, o.Flags)
	addAll(r.ITLLeftOut, o.ITLLeftOut)
}

func addAll[K comparable](to, from map[K]int64) {
	for k, n := range from {
		to[k] += n
	}
}

func (e *eventCounts) merge(o eventCounts) {
	e.all += o.all
	e.kernel += o.kernel
	e.coalesced += o.coalesced
	e.streamed += o.streamed
	e.burst += o.burst
}

func (t *tokenCounts) merge(o *tokenCounts) {
	addAll(t.byOutcome, o.byOutcome)
	t.streamed += o.streamed
	t.streamedKnown = t.streamedKnown || o.streamedKnown
	t.unknown += o.unknown
	t.input += o.input
	t.inputKnown = t.inputKnown || o.inputKnown
	t.inputUnknown += o.inputUnknown
	t.cached += o.cached
	t.cachedOf += o.cachedOf
	t.seen += o.seen
	t.seenOf += o.seenOf
	t.cacheTold = t.cacheTold || o.cacheTold
	t.asked += o.asked
	t.got += o.got
	t.askedN += o.askedN
	t.short += o.short
	t.far += o.far
	t.shortBy.merge(&o.shortBy)
	t.inputs += o.inputs
	t.chars += o.chars
	t.audioUS += o.audioUS
	t.images += o.images
}
