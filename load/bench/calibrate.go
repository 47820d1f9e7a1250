package bench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/timeline"
)

// maxDrift is how far the server's count of input tokens may be from the asked
// length before a run makes no sense.
const maxDrift = 0.05

// refinements is how many prompts more a calibration is made better with.
const refinements = 3

// probes is how many short prompts tell a template from a tokenizer.
const probes = 2

// lengths is what the warm-up taught about lengths.
type lengths struct {
	overhead    timeline.Opt[float64] // tokens that the server's template adds to a request
	compensated float64               // of these, left out of our text
}

// calibrate corrects the number of words a prompt when the server counts them
// otherwise, and makes sure, with one more request, that it helped. What a chat
// template adds is measured and reported, and only made up for when that was
// asked. Lengths that were asked for and can't be had are an error.
func (r *runner) calibrate(ctx context.Context, ph *phase, answers []warmAnswer) error {
	made, isMade := r.work.(workload.Calibrated)
	if !isMade {
		return nil
	}
	met := corporaOf(answers)
	for _, corpus := range made.Corpora() {
		if !slices.Contains(met, corpus) && anyOK(answers) {
			more, err := r.unmet(ctx, ph, made, corpus)
			if err != nil {
				return err
			}
			answers = append(answers, more...)
		}
	}
	for _, corpus := range corporaOf(answers) {
		if err := r.fit(ctx, ph, made, corpus, &answers); err != nil {
			return err
		}
	}
	off, says, _ := drifted(answers)
	switch {
	case math.Abs(off) <= maxDrift:
		return nil
	case r.plan.AllowISLDrift || r.plan.defaultInput:
		r.log.warn("%s", says)
		return nil
	}
	return &TargetError{URL: r.plan.Client.BaseURL, What: says,
		Hint: "the lengths would mean nothing; name the server's tokenizer with --tokenizer, give real prompts with --prompts, or go on with --allow-isl-drift"}
}

// fitTrace learns how the server counts the texts that are made for a trace. It
// sends none of the trace's own prompts: a prefix cache would know them then.
func (r *runner) fitTrace(ctx context.Context) error {
	if !toFit(r.work) {
		return nil
	}
	ph, end := r.begin(ctx, timeline.Warmup)
	defer end()
	made := r.work.(workload.Calibrated)
	for _, corpus := range made.Corpora() {
		if made.Exact(corpus) {
			continue
		}
		answers, err := r.unmet(ctx, ph, made, corpus)
		if err != nil {
			return err
		}
		if c, ok := workload.Fit(observed(answers, corpus)); ok {
			made.Calibrate(corpus, c)
			r.fitted(c)
		}
	}
	return nil
}

func (r *runner) fitted(c workload.Calibration) {
	r.log.notice("prompts_fitted", timeline.Some(c.PerWord),
		"The server counts %.3g tokens a word: prompts were fitted to the asked lengths.", c.PerWord)
}

// toFit reports whether a workload makes prompts whose lengths only the server's
// own count can tell.
func toFit(work workload.Workload) bool {
	made, ok := work.(workload.Calibrated)
	return ok && slices.ContainsFunc(made.Corpora(), func(corpus string) bool { return !made.Exact(corpus) })
}

// unmet sends prompts of two lengths of a corpus that the warm-up did not send.
func (r *runner) unmet(ctx context.Context, ph *phase, made workload.Calibrated, corpus string) (answers []warmAnswer, err error) {
	for _, units := range []int{64, 256} {
		r.closed(ph, schedule.Closed{Concurrency: 1, Requests: 1}, func(int64) workload.Item {
			return made.Probe(corpus, -r.warm.Add(1), units)
		}, 1)
		answers = append(answers, r.rec.warmed()...)
		if err := r.ended(ctx, ph); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func anyOK(answers []warmAnswer) bool {
	return slices.ContainsFunc(answers, func(a warmAnswer) bool { return a.succeeded })
}

// fit learns how the server counts one corpus.
func (r *runner) fit(ctx context.Context, ph *phase, made workload.Calibrated, corpus string, answers *[]warmAnswer) error {
	seen := observed(*answers, corpus)
	exact := made.Exact(corpus)
	if !exact && workload.Ambiguous(seen) {
		more, err := r.probes(ctx, ph, made, corpus, seen[0].Words/4)
		if err != nil {
			return err
		}
		seen = append(seen, more...)
	}
	var now workload.Calibration
	if c, ok := workload.Fit(seen); ok && !exact {
		was, _, _ := drifted(*answers)
		made.Calibrate(corpus, c)
		again, err := r.again(ctx, ph)
		if err != nil {
			return err
		}
		if is, _, n := drifted(again); n > 0 && math.Abs(is) > maxDrift && math.Abs(is) < math.Abs(was)/2 {
			// One prompt is no measure of all where words are of different lengths.
			if c, again, err = r.refine(ctx, ph, made, corpus, c, again); err != nil {
				return err
			}
		}
		if is, _, n := drifted(again); n == 0 || math.Abs(is) > max(maxDrift, math.Abs(was)/2) {
			made.Calibrate(corpus, workload.Calibration{}) // it did not help
			return nil
		}
		*answers, now = again, c
		r.fitted(c)
	}
	overhead, ok := workload.Template(seen, now.PerWord)
	if !ok {
		return nil
	}
	r.lengths.overhead = timeline.Some(max(overhead, r.lengths.overhead.Or(0)))
	if overhead = math.Round(overhead); r.plan.CompensateTemplate && overhead > 0 {
		now.Overhead = overhead
		made.Calibrate(corpus, now)
		r.lengths.compensated = overhead
		again, err := r.again(ctx, ph)
		*answers = again
		return err
	}
	return nil
}

// refine corrects a calibration that helped but did not do, by some more prompts.
func (r *runner) refine(ctx context.Context, ph *phase, made workload.Calibrated, corpus string, c workload.Calibration, seen []warmAnswer) (workload.Calibration, []warmAnswer, error) {
	for range refinements {
		more, err := r.again(ctx, ph)
		if err != nil {
			return c, seen, err
		}
		seen = append(seen, more...)
	}
	off, _, n := drifted(seen)
	if math.Abs(off) <= maxDrift || n < refinements {
		return c, seen, nil
	}
	c.PerWord *= 1 + off
	made.Calibrate(corpus, c)
	seen = nil
	for range refinements {
		more, err := r.again(ctx, ph)
		if err != nil {
			return c, seen, err
		}
		seen = append(seen, more...)
	}
	return c, seen, nil
}

// again sends one more request of the warm-up.
func (r *runner) again(ctx context.Context, ph *phase) ([]warmAnswer, error) {
	r.closed(ph, schedule.Closed{Concurrency: 1, Requests: 1}, r.warmFirst, 1)
	return r.rec.warmed(), r.ended(ctx, ph)
}

// probes sends short prompts of a corpus.
func (r *runner) probes(ctx context.Context, ph *phase, made workload.Calibrated, corpus string, units int) ([]workload.Observed, error) {
	r.closed(ph, schedule.Closed{Concurrency: 1, Requests: probes}, func(int64) workload.Item {
		return made.Probe(corpus, -r.warm.Add(1), max(units, 1))
	}, 1)
	return observed(r.rec.warmed(), corpus), r.ended(ctx, ph)
}

// corporaOf lists what the prompts of the answers were made of.
func corporaOf(answers []warmAnswer) (names []string) {
	for _, a := range answers {
		if a.words > 0 && !slices.Contains(names, a.corpus) {
			names = append(names, a.corpus)
		}
	}
	return names
}

// drifted says by which share the counted input lengths miss the asked ones.
func drifted(answers []warmAnswer) (off float64, says string, n int) {
	var asked, counted float64
	for _, a := range answers {
		if a.succeeded && a.asked > 0 && a.input > 0 && a.words > 0 {
			n++
			asked += float64(a.asked)
			counted += float64(a.input)
		}
	}
	if n == 0 {
		return 0, "", 0
	}
	asked, counted = asked/float64(n), counted/float64(n)
	off = workload.Off(asked, counted)
	return off, fmt.Sprintf("the server counts %.0f input tokens where %.0f were asked (%+.1f %%)", counted, asked, 100*off), n
}

func observed(answers []warmAnswer, corpus string) (seen []workload.Observed) {
	for _, a := range answers {
		if a.succeeded && a.corpus == corpus && a.words > 0 {
			seen = append(seen, workload.Observed{Words: a.words, Tokens: a.input})
		}
	}
	return seen
}
