package metric

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tokenmeter/record/timeline"
)

// noted collects warnings in a fixed order.
type noted []Warning

func (w *noted) add(when bool, name string, value float64, says string, args ...any) {
	if when {
		*w = append(*w, Warning{name, timeline.Some(value), fmt.Sprintf(says, args...)})
	}
}

// warnings are the facts that a reader of the figures should know. They judge
// nothing: that is package validity's part.
func (c *Collector) warnings(s *Summary, f *Facts) []Warning {
	w := noted(slices.Clone(c.Opts.Warnings))
	if w == nil {
		w = noted{}
	}
	c.sampleWarnings(&w, s)
	c.loadWarnings(&w, s, f)
	c.lengthWarnings(&w, f)
	c.streamWarnings(&w, s, f)
	unreadWarning(&w, s.Requests.Unread)
	return w
}

func (c *Collector) sampleWarnings(w *noted, s *Summary) {
	n := s.Requests.OK
	w.add(n > 0 && n < 100, "low_n", float64(n),
		"p99 needs 100 requests at the very least, 551 independent ones for an interval; there are %d. Raise --requests or --duration.", n)
	if len(s.Requests.TokenSources) > 1 {
		var parts []string
		for _, source := range []TokenSource{FromUsage, FromIDs, FromTokenizer, FromChunks, "unknown"} {
			if k := s.Requests.TokenSources[string(source)]; k > 0 {
				parts = append(parts, fmt.Sprintf("%d from %s", k, source))
			}
		}
		w.add(true, "mixed_token_sources", float64(len(parts)),
			"Token counts come from different sources: %s. Give --tokenizer for one count of all.", strings.Join(parts, ", "))
	}
	if models := c.served.mixed(); len(models) > 0 {
		w.add(true, "served_models", float64(len(models)),
			"Several models answered for one that was asked for: %s. They differ in speed, in tokens and in price, so these figures are of a mixture.", strings.Join(asNamed(models), ", "))
	}
	if tiers := s.Requests.ServiceTiers; len(tiers) > 1 {
		parts := asNamed(tiers)
		w.add(true, "service_tiers", float64(len(parts)),
			"The server gave different classes of service: %s. They differ in speed and in price, so these figures are of a mixture.", strings.Join(parts, ", "))
	}
	estimated := s.Requests.TokenSources[string(FromTokenizer)] + s.Requests.TokenSources[string(FromChunks)]
	w.add(estimated > 0, "estimated_tokens", float64(estimated),
		"The server told no usage for %d of %s; their tokens are counted here.", estimated, Plural(int64(n), "request"))
	w.add(c.tokens.unknown > 0, "unknown_tokens", float64(c.tokens.unknown),
		"Successful requests without a token count: %d of %d; they add nothing to the throughput. Give --tokenizer.", c.tokens.unknown, n)
	bad := s.Requests.Flags["usage_inconsistent"] + s.Requests.Flags["token_count_mismatch"]
	w.add(bad > 0, "inconsistent_counts", float64(bad),
		"Records whose token counts cannot all be right: %d (see their flags).", bad)
}

// asNamed says of each name how many requests were served as it.
func asNamed(counts map[string]int64) (parts []string) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d as %q", counts[name], name))
	}
	return parts
}

// unreadWarning names what of the answers is in no figure.
func unreadWarning(w *noted, unread map[string]int64) {
	var parts []string
	most := int64(0)
	for _, name := range slices.Sorted(maps.Keys(unread)) {
		parts = append(parts, fmt.Sprintf("%s in %d", name, unread[name]))
		most = max(most, unread[name])
	}
	w.add(most > 0, "unread_parts", float64(most),
		"Of the answers this is not read, because the names are not known: %s. Tokens, times and outcomes may lack it.", strings.Join(parts, ", "))
}

func (c *Collector) loadWarnings(w *noted, s *Summary, f *Facts) {
	ratio, known := f.AchievedOverOffered.Get()
	late := f.SendLateP99MS.Or(0)
	delay := s.Metrics["delay_ms"].Max.Or(0)
	w.add(known && ratio < 0.99 || (f.CapReached || f.PrefillCap > 0) && delay > 5, "rate_not_sustained", f.BegunPerS.Or(0),
		"%s%s. The wait is part of the latency.", f.RateKept(), capWords(f))
	w.add(f.OpenLoop && late > 10, "client_limited", late,
		"1 of 100 requests left %s ms late or later through the client's own doing. Use more --workers or a quieter machine.", Significant(late, 3))
	c.steadyWarning(w, s)
	sent := s.Requests.Total - s.Requests.Unsent() + s.Requests.Warmup + s.Requests.Cooldown
	if unique, ok := c.Opts.UniquePrompts.Get(); ok && unique < sent {
		w.add(true, "prompt_reuse", float64(unique),
			"Different prompts in %d requests: %d%s. A prefix cache answers repeats faster than users would see.",
			sent, unique, cacheWords(f))
	}
	var opened, ended, again int64
	for _, r := range c.rows {
		if r.again {
			again++
		}
		if r.newConnection {
			opened++
		}
		if r.hungUp {
			ended++
		}
	}
	// Every slot needs one, those of the warm-up, ramp and cooldown may be others, a few
	// may be replaced, and so is what we end ourselves.
	aside := c.mostAside()
	expected := max(c.Opts.Concurrency, f.MaxInFlight+aside)*11/10 + 4 + ended
	w.add(!c.Opts.ManyConnects && opened > expected, "connections_opened", float64(opened),
		"%d connections were opened for at most %s in flight%s: the server or a proxy closes them, and each new one costs time.",
		opened, Plural(max(f.MaxInFlight, aside), "request"), endedWords(ended))
	w.add(again > 0, "connections_lost", float64(again),
		"Requests that found the connection that was kept for them ended, and went on another: %d of %d; so do idle connections that a server closes, and requests that it drops.",
		again, len(c.rows))
	retries := s.Requests.Attempts - (s.Requests.Total - s.Requests.Unsent())
	w.add(retries > 0, "retries", float64(retries), "Repeated tries: %d; the wait is part of the latency.", retries)
}

// steadyWarning is of an open loop whose requests were all sent before most had ended. As
// many as rate × E2E are in flight once a rate has held for as long (Little's law), and here
// never were: the server seems to give no more than was asked of it.
func (c *Collector) steadyWarning(w *noted, s *Summary) {
	n, first, last := int64(0), int64(0), int64(0)
	for _, r := range c.rows {
		if r.warmup || r.unsent || r.later {
			continue
		}
		if n == 0 {
			first, last = r.start, r.start
		}
		first, last = min(first, r.start), max(last, r.start)
		n++
	}
	e2e, known := s.Metrics["e2e_ms"].P50.Get()
	span := float64(last-first) / 1000
	w.add(c.Opts.OpenLoop && known && n > 1 && span > 0 && span < e2e && s.Requests.Warmup < n && s.Requests.Cooldown == 0, "never_steady", span/1000,
		"All %d requests were sent within %s s, and half took longer than %s s: the rate never was a steady load, and the tokens/s may tell how few requests there were, not what the server can do. Raise --requests or --duration to several times as long.",
		n, Significant(span/1000, 3), Significant(e2e/1000, 3))
}

func endedWords(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d that we ended", n)
}

func capWords(f *Facts) string {
	switch {
	case f.CapReached:
		return fmt.Sprintf(", held back by the cap of %d in flight", f.Concurrency)
	case f.PrefillCap > 0:
		return fmt.Sprintf(", held back by the cap of %d without a first token", f.PrefillCap)
	}
	return ""
}

func cacheWords(f *Facts) string {
	if hits, ok := f.PrefixHits.Get(); ok {
		return fmt.Sprintf("; %s %% of the input tokens came from the cache", Significant(hits*100, 3))
	}
	return ""
}

func (c *Collector) lengthWarnings(w *noted, f *Facts) {
	t := &c.tokens
	short, known := f.OSLShortfall.Get()
	asked := 0.05
	if c.Opts.OutputIsCap {
		asked = FarShort
	}
	w.add(known && (t.far > 0 || short > asked || !c.Opts.OutputIsCap && t.short > 0), "osl_mismatch", short,
		"Answers have %s tokens on average, %s were asked for; %d of %d are over 5 %% short, %d too long.%s",
		per(t.got, t.askedN), per(t.asked, t.askedN), t.short, t.askedN, t.far, sentence(f.OSLWhy))
	off, known := f.ISLError.Get()
	w.add(known && off > 0.05, "isl_mismatch", off,
		"Prompts have %s tokens on average as the server counts, %s.%s",
		Significant(mean(c.samples["input_tokens"]).Or(0), 4), AskedWords(c.Opts.AskedInput.Or(0), c.Opts.AskedTemplate), sentence(f.ISLWhy))
}

// sentence is a further one, if there is any.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

// FarShort is the share by which answers may stay below a length that is a cap
// before a run says so: what would be invalid where they were made to reach it.
const FarShort = 0.20

func per(sum, n int64) string { return Significant(float64(sum)/float64(max(n, 1)), 4) }

func (c *Collector) streamWarnings(w *noted, s *Summary, f *Facts) {
	bursts, coalesced := f.BurstShare.Or(0), f.CoalescedShare.Or(0)
	w.add(bursts > 0.05, "bursts", bursts,
		"%s %% of the streams came in bursts: something on the way holds tokens back, so gaps are not the model's.", Significant(bursts*100, 3))
	w.add(coalesced > 0.05, "coalesced", coalesced,
		"%s %% of the events shared a read with another, so their own times are not known.", Significant(coalesced*100, 3))
	for _, x := range []struct{ flag, says string }{
		{"stream_ignored", "Answers that came as one body although a stream was asked for: %d; they have an E2E only."},
		{"clock_step", "Requests during which the wall clock was set: %d; times are monotonic and not affected."},
		{"malformed_event", "Streams that held events that are no JSON: %d; these were skipped."},
		{"arrivals_capped", "Requests of which not every arrival was kept: %d."},
	} {
		n := s.Requests.Flags[x.flag]
		w.add(n > 0, x.flag, float64(n), x.says, n)
	}
}
