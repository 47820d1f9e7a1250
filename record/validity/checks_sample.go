package validity

import (
	"fmt"
	"math"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// coalesced asks whether tokens arrived one by one. What came together has one
// time for several tokens: the pace inside is not known.
func coalesced(r *Rule, f *Facts) (Check, bool) {
	together, ok := f.CoalescedShare.Get()
	if !ok {
		return r.judge(opt{}, "Nothing was streamed."), true
	}
	bursts := f.BurstShare.Or(0)
	if bursts > 0 && bursts >= together { // a client that reads late makes no bursts of whole streams
		return r.judge(f.BurstShare, fmt.Sprintf("%s of the streams came in bursts.", percent(bursts))).
			advise("A proxy on the way holds tokens back, or the server's kernel (Nagle's algorithm): switch buffering off, or TCP_NODELAY on. TTFT and gaps are not the model's, E2E is right."), true
	}
	c := r.judge(f.CoalescedShare, fmt.Sprintf("%s of the events came together with another.", percent(together)))
	if gap, ok := f.MedianGapMS.Get(); ok && f.ChargedLagP99MS.Or(0) > 0.1*gap {
		return c.advise("The client read too late to tell them apart: use fewer streams, or a quieter machine."), true
	}
	if !r.beyond(bursts, r.Suspect) {
		c.Figures = []string{ITL} // the first and the last of a reply have their own times
	}
	return c.advise("The server, its kernel (Nagle's algorithm, without TCP_NODELAY) or a proxy before it sends several at once: E2E and TPOT are right, gaps between tokens are not known."), true
}

// drift asks whether the server was the same from start to end.
func drift(r *Rule, f *Facts) (Check, bool) {
	if len(f.Drifts) == 0 {
		return r.judge(opt{}, "Too few requests in each half of the run to compare them."), true
	}
	if c, untold := untested(r, f.Drifts); untold {
		return c, true
	}
	worst, inside := 0, 0
	for i, d := range f.Drifts {
		if !d.Tested {
			continue
		}
		if !f.Drifts[inside].Tested {
			worst, inside = i, i
		}
		if d.Beyond && (!f.Drifts[worst].Beyond || math.Abs(d.Change) > math.Abs(f.Drifts[worst].Change)) {
			worst = i
		}
		if math.Abs(d.Change) > math.Abs(f.Drifts[inside].Change) {
			inside = i
		}
	}
	if d := f.Drifts[worst]; d.Beyond {
		verb := "rose"
		if d.Change < 0 {
			verb = "fell"
		}
		c := r.judge(timeline.Some(math.Abs(d.Change)),
			fmt.Sprintf("The median of %s %s by %s from the first half of the run to the second (%s to %s).",
				title(d), verb, percent(math.Abs(d.Change)), ms(d.First), ms(d.Second)))
		c.Figures = drifted(r, f.Drifts)
		return c.advise("%s, run for longer, or look for what changed: a cache filling, a queue growing, heat.", warmUp(d)), true
	}
	d := f.Drifts[inside]
	c := r.judge(timeline.Some(math.Abs(d.Change)),
		fmt.Sprintf("The halves of the run agree: %s %s and %s, no more apart than it wanders by itself.", title(d), ms(d.First), ms(d.Second)))
	// A difference that chance explains is no drift, however large it looks.
	c.Verdict, c.Limit = Valid, timeline.Some(r.Suspect)
	return c, true
}

// drifted are the families of figures that moved from half to half: the figure itself,
// and what is made of it.
func drifted(r *Rule, drifts []metric.Drift) []string {
	moved := map[string]bool{}
	for _, d := range drifts {
		if d.Tested && d.Beyond && r.beyond(math.Abs(d.Change), r.Suspect) {
			moved[FigureOf(d.Metric)] = true
		}
	}
	var list []string
	for _, figure := range r.Bears {
		if moved[figure] || figure == ITL && moved[TPOT] || figure == E2E || figure == Throughput {
			list = append(list, figure)
		}
	}
	return list
}

// warmUp is how much of the run its own figures call a beginning.
func warmUp(d metric.Drift) string {
	if d.Beginning == 0 {
		return "Warm up for longer (--warmup)"
	}
	return fmt.Sprintf("Warm up for longer (the first %d requests differ from the rest: --warmup %d more)", d.Beginning, d.Beginning)
}

// untested says that no figure could be told from wandering.
func untested(r *Rule, drifts []metric.Drift) (Check, bool) {
	for _, d := range drifts {
		if d.Tested {
			return Check{}, false
		}
	}
	d := drifts[0]
	says := fmt.Sprintf("%d requests, worth %.0f independent ones, can't tell drift from wandering: %s was %s in the first half of the run and %s in the second.",
		d.Requests, d.Worth, title(d), ms(d.First), ms(d.Second))
	return r.judge(opt{}, fmt.Sprintf("%s A run about %s times as long would tell.", says, metric.Significant(max(d.NeedFactor, 1.1), 2))), true
}

// title is what people call the metric: TTFT, TPOT.
func title(d metric.Drift) string { return strings.ToUpper(metric.WithoutUnit(d.Metric)) }

// prefixHits asks whether prompts that were meant to be new met a warm cache.
func prefixHits(r *Rule, f *Facts) (Check, bool) {
	if !f.PromptsUnique {
		return Check{}, false
	}
	hits, ok := f.PrefixHits.Get()
	if !ok {
		return r.judge(opt{}, "The server does not tell how many prompt tokens came from its cache."), true
	}
	return r.judge(f.PrefixHits,
		fmt.Sprintf("%s of the prompt tokens came from the server's prefix cache.", percent(hits))).
		advise("Prompts were meant to be new: change --seed or the salt, or the server's cache was warm from a run before. A shared system prompt counts too, and a chat template that could not be measured."), true
}

// oslShortfall asks whether answers had the length that was asked for.
func oslShortfall(r *Rule, f *Facts) (Check, bool) {
	short, ok := f.OSLShortfall.Get()
	if ok && -short > r.Invalid {
		c := r.judge(timeline.Some(short), fmt.Sprintf("Answers had %s of the tokens that were asked for: the server keeps no limit, or counts reasoning beside it.", percent(1-short)))
		c.Verdict, c.Limit = Suspect, timeline.Some(-r.Invalid)
		return c.advise("This is the load of longer answers: ask for the --output-tokens that come, or for less reasoning."), true
	}
	if !ok || f.OutputIsCap && !(r.beyond(short, r.Invalid) && f.PromptsMade) {
		return Check{}, false
	}
	if f.OutputIsCap {
		// Answers of their own length to made prompts are no fault, but another load.
		c := r.judge(timeline.Some(short), because(fmt.Sprintf("Answers had %s of the tokens that were asked for, as a cap.", percent(1-short)), f.OSLWhy))
		c.Verdict, c.Limit = Suspect, timeline.Some(r.Invalid)
		return c.advise("This is the load of shorter answers: ask for the --output-tokens that come. %s", f.OSLDo), true
	}
	return r.judge(timeline.Some(short),
		because(fmt.Sprintf("Answers had %s of the tokens that were asked for.", percent(1-short)), f.OSLWhy)).
		advise("%s", f.OSLDo), true
}

// because adds a sentence that gives the reason, where one is known.
func because(says, why string) string {
	if why == "" {
		return says
	}
	return says + " " + why
}

// islError asks whether prompts had the length that was asked for.
func islError(r *Rule, f *Facts) (Check, bool) {
	asked, ok := f.InputAsked.Get()
	if !ok {
		return Check{}, false
	}
	off, ok := f.ISLError.Get()
	if !ok {
		return r.judge(opt{}, "The server does not tell how long the prompts were."), true
	}
	why := f.ISLWhy
	if !r.beyond(off, r.Suspect) {
		why = "" // a length that was kept has no reason
	}
	c := r.judge(f.ISLError,
		because(fmt.Sprintf("The mean prompt length in tokens is off by %s: %s.", percent(off), metric.AskedWords(asked, f.TemplateAdds)), why)).
		advise("%s", f.ISLDo)
	switch {
	case c.Verdict != Invalid:
	case f.AllowISLDrift:
		c.Verdict, c.Limit = Suspect, timeline.Some(r.Suspect)
	default: // elsewhere the flag changes nothing
		c = c.advise("Where other lengths are meant, --allow-isl-drift makes the run suspect at worst.")
	}
	return c, true
}

// errorShare asks whether enough requests succeeded for the figures to stand
// for the load.
func errorShare(r *Rule, f *Facts) (Check, bool) {
	if f.Requests == 0 {
		c := r.judge(opt{}, "No request ended: there is nothing to judge.")
		c.Verdict = Invalid
		return c, true
	}
	share := float64(f.Failed) / float64(f.Requests)
	says := fmt.Sprintf("%d of %s failed.", f.Failed, metric.Plural(f.Requests, "request"))
	if f.Failed == 0 {
		says = "No request failed."
	}
	c := r.judge(timeline.Some(share), says)
	if f.Failed == f.Requests {
		return c.advise("See the line failed below; there are no latencies."), true
	}
	return c.advise("See the line failed below; latencies are those of the others only."), true
}

// silence asks whether answers came until the end. The rates are of the time until the
// last token, and an answer that never began has no latency.
func silence(r *Rule, f *Facts) (Check, bool) {
	if share, ok := f.SilentShare.Get(); !ok || !r.beyond(share, r.Suspect) {
		return Check{}, false
	}
	return r.judge(f.SilentShare, fmt.Sprintf("Nothing came for the last %s s of the load (%s of it), though requests waited.", metric.Significant(f.SilentS, 3), percent(f.SilentShare.Or(0)))).
		advise("The server, or what stands before it, stopped answering: the figures are those of the time before. --ttft-timeout makes failures of such requests."), true
}
