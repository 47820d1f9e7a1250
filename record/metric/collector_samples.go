package metric

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// shown are the samples that every summary has, empty ones too; the others
// appear when there is something in them.
var shown = []string{
	"ttft_ms", "ttfo_ms", "tpot_ms", "tpot_adj_ms", "e2e_ms", "delay_ms",
	"decode_tps", "e2e_tps", "input_tokens", "output_tokens", "max_gap_ms",
	"service_ttft_ms", "service_e2e_ms", "close_ms", "connect_ms",
}

func (c *Collector) at(name string) *Ordered {
	s := c.samples[name]
	if s == nil {
		s = &Ordered{}
		c.samples[name] = s
	}
	return s
}

func (c *Collector) put(name string, v timeline.Opt[float64]) {
	if x, ok := v.Get(); ok {
		c.at(name).Add(c.now, x)
	}
}

func (c *Collector) putInt(name string, v timeline.Opt[int64]) { c.put(name, timeline.Float(v)) }

// sampleFacts adds those values of a measured request that the facts are made of too.
func (c *Collector) sampleFacts(tl *timeline.Timeline, v *Values) {
	if tl.Outcome != timeline.OK {
		return
	}
	c.put("ttft_ms", v.TTFTMS)
	c.put("ttfa_ms", v.TTFAMS)
	c.put("tpot_ms", v.TPOTMS)
	c.put("e2e_ms", v.E2EMS)
	c.putInt("input_tokens", tl.Usage.Input)
}

// sample adds a measured request's other values. Only successful requests have
// latencies; a failure's time is an error latency, nothing else. The client's
// own lateness counts for every request.
func (c *Collector) sample(tl *timeline.Timeline, v *Values) {
	c.at("delay_ms").Add(c.now, DelayMS(tl))
	if tl.Outcome.Failed() {
		if at, ok := tl.CloseUS.Get(); ok {
			c.put("error_latency_ms", optMS(timeline.Some(at)))
		} else {
			c.put("error_latency_ms", optMS(tl.HeadUS))
		}
	}
	if tl.Outcome != timeline.OK {
		return
	}
	c.put("ttfo_ms", v.TTFOMS)
	c.put("ttfi_ms", v.TTFIMS)
	c.put("tpot_adj_ms", v.TPOTAdjMS)
	c.put("close_ms", optMS(tl.CloseUS))
	c.put("first_byte_ms", optMS(tl.HeadUS))
	c.put("service_ttft_ms", v.ServiceTTFTMS)
	c.put("service_e2e_ms", v.ServiceE2EMS)
	c.put("network_ms", v.NetworkMS)
	c.put("max_gap_ms", v.MaxGapMS)
	c.putInt("stalls", v.Stalls)
	c.put("decode_tps", v.DecodeTPS)
	c.put("e2e_tps", v.E2ETPS)
	c.put("audio_s", seconds(tl.AudioUS))
	c.put("rtf", v.RTF)
	c.put("starved_ms", v.StarvedMS)
	c.putInt("starvations", v.Starvations)
	c.putInt("images", tl.Images)
	c.putInt("input_images", tl.InputImages)
	c.putInt("input_videos", tl.Videos)
	c.putInt("input_media_bytes", tl.MediaBytes)
	c.putInt("media_tokens", tl.Usage.Media)
	c.putInt("input_chars", tl.Chars)
	c.putInt("inputs", tl.Inputs)
	c.putInt("cached_tokens", tl.Usage.Cached)
	c.putInt("output_tokens", v.OutputTokens)
	c.putInt("reasoning_tokens", v.ReasoningTokens)
	c.putInt("requested_tokens", tl.Requested)
	c.putInt("chunks", v.Chunks)
	c.put("dns_ms", optMS(tl.DNSUS))
	c.put("connect_ms", optMS(tl.ConnectUS))
	c.put("tls_ms", optMS(tl.TLSUS))
	c.put("cost_usd", tl.CostUSD)
	c.norm(tl, v)
	for name, x := range tl.Server {
		if x >= 0 {
			c.at(serverPrefix+name).Add(c.now, x)
		}
	}
	if v.TTFTMS.OK() && v.E2EMS.OK() {
		c.put(partTTFT, v.TTFTMS)
		c.put(partE2E, v.E2EMS)
	}
}

// norm adds the counts of --norm-tokenizer.
func (c *Collector) norm(tl *timeline.Timeline, v *Values) {
	if !tl.Norm.OK() {
		return
	}
	var r Record
	v.into(&r)
	r.normalised(tl)
	c.putInt("norm_tokens", r.NormTokens)
	c.put("norm_decode_tps", r.NormDecodeTPS)
	c.put("norm_e2e_tps", r.NormE2ETPS)
}

// words adds what the text tells where it was kept.
func (c *Collector) words(tl *timeline.Timeline, v *Values, s *seen) {
	if tl.Text == "" || tl.Outcome != timeline.OK {
		return
	}
	var r Record
	r.read(tl, v, s)
	c.putInt("output_words", r.OutputWords)
	c.put("words_per_s", r.WordsPerS)
}

// Samples behind the decomposition; not shown under these names.
const (
	partTTFT = "_part_ttft"
	partE2E  = "_part_e2e"
)

// readEvents goes over the generation events once: gaps into the pooled
// samples, lags, and tokens into the bins of time.
func (c *Collector) readEvents(tl *timeline.Timeline, v *Values, s *seen) {
	ok := tl.Outcome == timeline.OK
	if s.n == 0 {
		c.unstreamed(tl, v)
		return
	}
	c.events.streamed++
	if v.Flags.Has(timeline.Burst) || v.Flags.Has(timeline.CoalescedBursts) {
		c.events.burst++
	}
	var icl, itl *stat.Shares
	switch chunked, told := ok && v.Gaps.OK(), ok && v.TokenGaps.OK(); {
	case chunked && told && s.k == oneEach:
		icl = c.gaps.at(tl.DueUS)
	case told:
		itl = c.itl.at(tl.DueUS)
		fallthrough
	case chunked:
		icl = c.icl.at(tl.DueUS)
	}
	kernel := tl.Clock == timeline.Kernel
	var lags *stat.Shares
	if kernel {
		c.events.kernel += s.n
		lags = c.lag.at(tl.DueUS)
	}
	c.events.all += s.n

	portions := portionsOf(v, s)
	if n, known := v.OutputTokens.Get(); known {
		c.bins.spread(max(tl.StartUS, tl.DueUS), tl.DueUS+s.firstUS, n-v.StreamedTokens.Or(n)-v.aside)
	}
	bin := binCursor{bins: &c.bins}
	var waited, lastUS int64
	first := true
	var several *[256]arrival
	if s.severalChoices {
		several = new([256]arrival)
	}
	last := new(arrival) // of the same choice
	var at, read int64
	packed := tl.Events.Packed()
	for i := range packed {
		ev := &packed[i]
		at += ev.DeltaUS()
		if ev.NewRead() {
			read++
		}
		if !ev.Kind().Bears() {
			continue
		}
		if !first {
			gap := at - lastUS
			if icl != nil {
				icl.AddOne(gap)
			}
			if itl != nil {
				waited += gap
				if k := s.k.tokensOf(ev.Tokens()); k > 0 {
					itl.Add(waited, k)
					waited = 0
				}
			}
		}
		first = false
		if several != nil {
			last = &several[ev.Choice()]
		}
		joined := last.came && (read == last.read || kernel && at == last.atUS)
		if joined {
			c.coalesced(kernel, ev.LagUS())
			if !last.joined {
				c.coalesced(kernel, last.lagUS)
			}
		}
		*last = arrival{atUS: at, read: read, lagUS: ev.LagUS(), came: true, joined: joined}
		if lags != nil {
			lags.AddOne(ev.LagUS())
		}
		bin.add(tl.DueUS+at, portions.next(ev.Tokens()))
		lastUS = at
	}
	bin.add(tl.DueUS+lastUS, v.aside*tokenOne)
}

// arrival is how the last event of a sequence came.
type arrival struct {
	atUS, read, lagUS int64
	came              bool // there was one
	joined            bool // it shared its read with the one before
}

// coalesced counts an event that came with another. Its lag hid when it came.
func (c *Collector) coalesced(kernel bool, lagUS int64) {
	c.events.coalesced++
	if kernel {
		c.charged.Add(lagUS)
	}
}

// unstreamed spreads the tokens of a whole body over the time it took: when
// each was made is not known, only that the server worked on them.
func (c *Collector) unstreamed(tl *timeline.Timeline, v *Values) {
	n, known := v.OutputTokens.Get()
	e2e, ended := v.E2EMS.Get()
	if known && ended {
		c.bins.spread(max(tl.StartUS, tl.DueUS), tl.DueUS+microseconds(e2e), n)
	}
}
