package bench

import (
	"context"
	"fmt"
	"math"

	"tokenmeter/schedule"
	"tokenmeter/timeline"
	"tokenmeter/workload"
)

// warmup sends requests that do not count: caches, connections and compiled
// shapes are made by them. It uses the run's own shapes, and learns from the
// answers: the name of the length field, and how the server counts words.
func (r *runner) warmup(ctx context.Context) error {
	w := r.plan.Warmup
	if w.Requests == 0 && w.Duration == 0 {
		return nil
	}
	ph, end := r.begin(ctx, timeline.Warmup)
	defer end()
	item := r.warmItem
	defer r.watch(ph)()
	disarm := ph.expire(w.Duration, r.plan.Grace)
	defer disarm()
	if r.plan.open() {
		loop := r.plan.openLoop()
		loop.Requests, loop.Duration = int64(w.Requests), w.Duration
		r.open(ph, loop, item, 1, r.plan.Concurrency)
	} else {
		streams := r.plan.Concurrency
		if w.Requests > 0 {
			streams = min(streams, w.Requests)
		}
		r.closed(ph, schedule.Closed{Concurrency: streams, Requests: int64(w.Requests), Duration: w.Duration}, item, 1)
	}
	if err := r.ended(ctx, ph); err != nil {
		return err
	}
	answers := r.rec.warmed()
	if again := refused(answers); again > 0 {
		r.closed(ph, schedule.Closed{Concurrency: min(again, max(r.plan.Concurrency, 1)), Requests: int64(again)}, item, 1)
		answers = append(answers, r.rec.warmed()...)
	}
	if err := r.ended(ctx, ph); err != nil {
		return err
	}
	if err := r.warmedUp(answers); err != nil {
		return err
	}
	return r.calibrate(ctx, ph, answers)
}

// warmItem makes the next item of the warm-up. Measured items count up from 0,
// these down from −1, so that no measured prompt was seen before.
func (r *runner) warmItem(int64) workload.Item { return r.work.Item(-r.warm.Add(1)) }

// ended says why a phase that is over can't be followed by another, or nil.
func (r *runner) ended(ctx context.Context, ph *phase) error {
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case r.rec.failure() != nil:
		return r.rec.failure()
	}
	return ph.stopped()
}

// refused counts the answers that would be different under the other name of
// the length field.
func refused(answers []warmAnswer) (n int) {
	for _, a := range answers {
		if a.refused {
			n++
		}
	}
	return n
}

// warmedUp fails when no warm-up request was answered. Being sent away for a
// while (429) is no failure of the target: the run itself will show it.
func (r *runner) warmedUp(answers []warmAnswer) error {
	ok := 0
	for _, a := range answers {
		if a.succeeded {
			ok++
		}
	}
	c := r.rec.of(timeline.Warmup)
	switch {
	case c.limited > 0:
		r.log.notice("warmup_limited", timeline.Some(float64(c.limited)),
			"%d of %d warm-up requests were answered 429 (too many requests).", c.limited, c.done)
	case ok > 0 && c.failed > int64(refused(answers)):
		r.log.notice("warmup_failed", timeline.Some(float64(c.failed)),
			"%d of %d warm-up requests failed, the first: %s.", c.failed, c.done, c.firstError.Message)
	}
	if ok == 0 && c.failed > c.limited && !r.plan.KeepGoing {
		return r.targetFailed(c, "every warm-up request failed")
	}
	return nil
}

// targetFailed puts the first failure into words.
func (r *runner) targetFailed(c tally, what string) *TargetError {
	e := &TargetError{URL: r.plan.Client.BaseURL, What: what}
	if c.firstError != nil {
		e.Class = c.firstError.Class
		e.What = fmt.Sprintf("%s; the first: %s", what, c.firstError.Message)
	}
	if c.firstStatus == 401 || c.firstStatus == 403 {
		e.Hint = "check --api-key-env or --api-key-file"
	}
	return e
}

// maxDrift is how far the server's count of input tokens may be from the asked
// length before a run makes no sense.
const maxDrift = 0.05

// calibrate corrects the number of words a prompt when the server counts them
// otherwise, and makes sure, with one more request, that it helped. Lengths
// that were asked for and can't be had are an error.
func (r *runner) calibrate(ctx context.Context, ph *phase, answers []warmAnswer) error {
	made, isMade := r.work.(*workload.Synthetic)
	if !isMade {
		return nil
	}
	if c, ok := workload.Fit(observed(answers)); ok {
		made.Calibrate(c)
		r.closed(ph, schedule.Closed{Concurrency: 1, Requests: 1}, r.warmItem, 1)
		if err := r.ended(ctx, ph); err != nil {
			return err
		}
		before := answers
		answers = r.rec.warmed()
		if is, _, n := drifted(answers); n == 0 || math.Abs(is) > maxDrift {
			made.Calibrate(workload.Calibration{}) // it did not help
			answers = before
		} else {
			r.log.notice("prompts_fitted", timeline.Some(c.PerWord),
				"The server counts %.3g tokens a word: prompts were fitted to the asked lengths.", c.PerWord)
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
		Hint: "the lengths would mean nothing; give real prompts with --prompts, or go on with --allow-isl-drift"}
}

// drifted says by which share the counted input lengths miss the asked ones.
func drifted(answers []warmAnswer) (off float64, says string, n int) {
	var asked, counted float64
	for _, a := range answers {
		if a.succeeded && a.asked > 0 && a.input > 0 {
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

func observed(answers []warmAnswer) (seen []workload.Observed) {
	for _, a := range answers {
		if a.succeeded {
			seen = append(seen, workload.Observed{Words: a.words, Tokens: a.input})
		}
	}
	return seen
}
