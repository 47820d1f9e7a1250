package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// warmup sends requests that do not count: caches, connections and compiled
// shapes are made by them. It uses the run's own shapes, and learns from the
// answers: the name of the length field, and how the server counts words.
func (r *runner) warmup(ctx context.Context) error {
	w := r.plan.Warmup
	if w.Requests == 0 && w.Duration == 0 {
		if w.Off || r.plan.Trace == nil {
			return nil
		}
		return r.fitTrace(ctx)
	}
	ph, end := r.begin(ctx, timeline.Warmup)
	defer end()
	item := r.warmFirst
	defer r.watch(ph)()
	disarm := ph.expire(w.Duration, r.plan.Grace)
	defer disarm()
	if most := r.plan.WarmupMost; most > 0 {
		defer time.AfterFunc(most, func() { ph.cancel(errWarmupMost) }).Stop()
	}
	if r.plan.open() {
		loop := r.plan.openLoop()
		loop.Requests, loop.Duration, loop.Ramp, loop.Tail = int64(w.Requests), w.Duration, 0, 0
		if r.plan.Trace != nil || len(loop.Stages) > 0 {
			loop.Stages, loop.Rate, loop.Arrival = nil, max(r.plan.Stages.Max(), warmupRate), "constant"
		}
		r.open(ph, loop, item, 1, r.plan.Concurrency, 0)
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
	if err := r.warmedUp(answers, context.Cause(ph.ctx) == errWarmupMost); err != nil {
		return err
	}
	return r.calibrate(ctx, ph, answers)
}

// prime brings the server to where items begin in the middle. Without it they would not
// be what they are said to be, so what fails here ends the run.
func (r *runner) prime(ctx context.Context, work workload.Primed) error {
	ph, end := r.begin(ctx, timeline.Warmup)
	defer end()
	defer r.watch(ph)()
	before := r.rec.of(timeline.Warmup).failed
	var all sync.WaitGroup
	for i := range work.Primes() {
		item, any := work.Prime(int64(i))
		if !any {
			continue
		}
		all.Go(func() {
			p := r.playing(ph, item, timeline.Warmup, 0)
			p.play(r.clk.US())
			p.ended()
		})
	}
	all.Wait()
	if err := r.ended(ctx, ph); err != nil {
		return err
	}
	if c := r.rec.of(timeline.Warmup); c.failed > before {
		return r.targetFailed(c, fmt.Sprintf("requests failed that bring sessions to where they begin: %d", c.failed-before))
	}
	return nil
}

// errWarmupMost is the end of a warm-up that took too long.
var errWarmupMost = fmt.Errorf("the warm-up took too long: %w", client.ErrRunEnd)

// warmupRate is the rate of a warm-up where the load has none of its own.
const warmupRate = 1

// warmItem makes the next item of the warm-up. Measured items count up from 0,
// these down from −1, so that no measured prompt was seen before.
func (r *runner) warmItem(int64) workload.Item { return r.work.Item(-r.warm.Add(1)) }

// warmFirst makes an item of a warm-up of its own, which sends requests and does
// not converse.
func (r *runner) warmFirst(int64) workload.Item {
	item := r.warmItem(0)
	item.More = nil
	return item
}

// ended says why a phase that is over can't be followed by another, or nil.
func (r *runner) ended(ctx context.Context, ph *phase) error {
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case r.rec.failure() != nil:
		return r.rec.failure()
	}
	why := ph.stopped()
	if why == errSilent {
		return r.targetFailed(r.rec.of(timeline.Warmup), "the server answered nothing")
	}
	return why
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

// warmedUp fails when every request of the warm-up failed in a way that no
// waiting mends: a wrong address, key, model or path. What may pass by (503, 429,
// a reset) is for the run itself to show.
func (r *runner) warmedUp(answers []warmAnswer, cut bool) error {
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
	case c.failed > int64(refused(answers)) && (ok > 0 || c.lasting < c.failed):
		r.log.notice("warmup_failed", timeline.Some(float64(c.failed)),
			"%d of %d warm-up requests failed, the first: %s.", c.failed, c.done, c.firstError.Message)
	}
	switch {
	case ok > 0 || r.plan.KeepGoing:
		return nil
	case c.lasting > 0 && c.lasting == c.failed:
		return r.targetFailed(c, "every warm-up request failed")
	case c.failed == c.unanswered && cut:
		return r.targetFailed(c, fmt.Sprintf("no warm-up request was answered within %v", r.plan.WarmupMost))
	}
	return nil
}

// targetFailed puts the first failure into words.
func (r *runner) targetFailed(c tally, what string) *TargetError {
	e := &TargetError{URL: r.plan.Client.BaseURL, What: what}
	e.Own = c.failed > 0 && c.own == c.failed
	if c.firstError != nil {
		e.Class = c.firstError.Class
		e.What = fmt.Sprintf("%s; the first: %s", what, c.firstError.Message)
	}
	switch c.firstStatus {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Hint = "check --api-key-env or --api-key-file"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		if e.Hint = r.otherAPI(); e.Hint == "" && !strings.Contains(strings.ToLower(e.What), "model") { // else the path was found
			e.Hint = r.elsewhere()
		}
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		if strings.Contains(e.What, "stream_options") {
			e.Hint = `the server knows no stream_options: leave them out with --parameters '{"stream_options": null}', and give its --tokenizer to count tokens`
		}
	}
	return e
}

// elsewhere is where requests went, when that was made of the URL's path.
func (r *runner) elsewhere() string {
	base, path := r.plan.Client.BaseURL, r.plan.Client.API.Path
	asked, err := client.JoinURL(base, path)
	given, _ := client.JoinURL(base+"#", path)
	if noPath := strings.Count(strings.TrimSuffix(given, "/"), "/") < 3; err != nil || noPath || asked == given {
		return ""
	}
	return "asked was " + asked + ": where the URL that was given is the endpoint as it stands, write # behind it"
}

// otherAPI is what to try when the server has no such path but its model list
// is that of another API; else nothing.
func (r *runner) otherAPI() string {
	if len(r.speaks) == 0 || slices.Contains(r.speaks, r.plan.Client.API.Name) {
		return ""
	}
	return fmt.Sprintf("the server answers GET %s like %s: leave --api out, or give --api %s",
		r.plan.below(modelsPath), r.speaks[0], r.speaks[0])
}
