package view

import (
	"fmt"
	"math"
	"slices"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/validity"
)

// readingTPS is the pace people read at, in tokens a second.
const readingTPS = 10

// sentences say what a stranger needs to know: how fast for one reader, how
// soon the first token, how many failed.
func sentences(r *run.Run, v *View) []string {
	var list []string
	add := func(s string) {
		if s != "" {
			list = append(list, s)
		}
	}
	add(partial(r))
	switch safe := r.Validity.Safe(); {
	case r.Requests.OK == 0:
	case safe != "":
		add(safe)
	case v.Verdict == Invalid:
		add("Do not use these figures: the measurement itself failed a check.")
	}
	if r.Told != nil {
		add("Another tool's figures of a whole run, by its definitions; its requests are in no file.")
		return list
	}
	switch {
	case r.Requests.Total == 0:
		add("No request was measured.")
		return list
	case r.Requests.OK == 0 && r.Requests.Failed > 0:
		add(allFailed(r, v.Failure))
		return list
	case r.Requests.OK == 1 && r.Requests.Failed == 0:
		add(single(r))
		return list
	}
	add(sharesMachine(r))
	if !slices.ContainsFunc(v.Objectives, func(o ObjectiveLine) bool { return o.State == Missed }) { // no praise beside a miss
		add(readerSees(r))
		add(firstToken(r))
	}
	add(someFailed(r))
	return list
}

// sharesMachine warns, where the machine was busy, that right times may still be those
// of a server that this client slowed.
func sharesMachine(r *run.Run) string {
	busy := slices.ContainsFunc(r.Validity.Checks, func(c validity.Check) bool { return c.Name == "cpu_busy" && c.Verdict != validity.Valid })
	if !busy || !r.Target.Local() {
		return ""
	}
	return "The server shares this busy machine with the client, and may be slower for it."
}

func partial(r *run.Run) string {
	if !r.Partial {
		return ""
	}
	ended := r.Requests.Total
	if n, ok := r.Load.Requests.Get(); ok && n > 0 {
		return fmt.Sprintf("Stopped after %s of %s; figures cover what ended.", typeset.Exact(ended), typeset.Exact(n))
	}
	if s, ok := r.Load.DurationS.Get(); ok && s > 0 {
		return fmt.Sprintf("Stopped after %s, before its %s were over; figures cover what ended.",
			typeset.Plural(ended, "request"), typeset.Span(s*1e3, typeset.Digits{}))
	}
	return fmt.Sprintf("Stopped after %s; figures cover what ended.", typeset.Plural(ended, "request"))
}

func allFailed(r *run.Run, f *Failure) string {
	n := r.Requests.Failed
	text := fmt.Sprintf("All %s requests failed", typeset.Exact(n))
	if n == 1 {
		text = "The only request failed"
	}
	if f == nil || len(f.Classes) == 0 {
		return text + "."
	}
	c := f.Classes[0]
	switch words := metric.AdviceOn(c.Class).Means; {
	case len(f.Classes) == 1:
		return fmt.Sprintf("%s: %s (%s).", text, words, c.Class)
	default:
		return fmt.Sprintf("%s, most because %s (%s).", text, words, f.List())
	}
}

// single is one request: values, no distribution.
func single(r *run.Run) string {
	ttft, hasTTFT := r.Metrics["ttft_ms"].P50.Get()
	tpot, hasTPOT := r.Metrics["tpot_ms"].P50.Get()
	e2e, hasE2E := r.Metrics["e2e_ms"].P50.Get()
	ms := func(v float64) string { return typeset.Digits{}.Value(v) + " ms" }
	switch {
	case hasTTFT && hasTPOT:
		return fmt.Sprintf("One request: the first token after %s, then one every %s.", ms(ttft), ms(tpot))
	case hasTTFT:
		return fmt.Sprintf("One request: the first token after %s.", ms(ttft))
	case hasE2E:
		return fmt.Sprintf("One request: the answer after %s.", ms(e2e))
	}
	return "One request, nothing measured."
}

// readerSees is the speed of one stream, not of the server.
func readerSees(r *run.Run) string {
	tps, ok := r.Metrics["decode_tps"].P50.Get()
	if !ok {
		tpot, known := r.Metrics["tpot_ms"].P50.Get()
		if !known || tpot <= 0 {
			return ""
		}
		tps = 1000 / tpot
	}
	shown := typeset.Digits{}.Value(tps)
	if tps >= 10 {
		shown = typeset.Count(int64(math.Round(tps)))
	}
	switch {
	case tps >= readingTPS*1.05:
		return fmt.Sprintf("One reader gets %s tokens/s, faster than people read (%d).", shown, readingTPS)
	case tps <= readingTPS*0.95:
		return fmt.Sprintf("One reader gets %s tokens/s, slower than people read (%d).", typeset.Digits{}.Value(tps), readingTPS)
	}
	return fmt.Sprintf("One reader gets %s tokens/s, about as fast as people read.", shown)
}

// firstToken says by when most first tokens have come. Failed requests have
// none, so the sentence names whom it speaks of.
func firstToken(r *run.Run) string {
	d := r.Metrics["ttft_ms"]
	v, ok := d.P95.Get()
	whom, p := "95 of 100", 0.95
	if d.N < 20 {
		v, ok = d.P50.Get()
		whom, p = "half", 0.5
	}
	if !ok {
		return ""
	}
	g := typeset.Digits{Limit: limitOf(r, "ttft", p), Round: true}
	if r.Requests.Failed > 0 || d.N < r.Requests.OK {
		whom += " answered requests"
		if p == 0.5 {
			whom = "half of the answered requests"
		}
	} else if p == 0.5 {
		whom = "half of the requests"
	}
	return fmt.Sprintf("The first token comes within %s for %s.", typeset.Span(v, g), whom)
}

// someFailed counts failures in a hundred where that says the same.
func someFailed(r *run.Run) string {
	bad, n := r.Requests.Failed, r.Requests.OK+r.Requests.Failed
	switch {
	case r.Requests.OK == 0 && r.Requests.Unanswered > 0 && bad == 0:
		return fmt.Sprintf("None of %s was answered before the run ended.", typeset.Plural(r.Requests.Unanswered, "request"))
	case bad == 0:
		return "No request failed."
	}
	of100 := float64(bad) / float64(n) * 100
	if n > 100 && near(of100, math.Round(of100)) {
		return fmt.Sprintf("%.0f of 100 requests failed.", of100)
	}
	return fmt.Sprintf("%s of %s requests failed.", typeset.Exact(bad), typeset.Exact(n))
}
