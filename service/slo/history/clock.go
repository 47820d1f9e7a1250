package history

import (
	"context"
	"fmt"
	"maps"
	"time"

	"tokenmeter/service/slo"
)

// stepping is what a Recorder knows of steps of the wall clock. Windows are of
// the wall clock, and what was counted while it was wrong must neither be lost
// nor lie in the future:
//   - It went ahead: what comes is dated by it. When it comes back, that is moved
//     back as far.
//   - It is put back without having gone ahead before, and who knows which is
//     right: what lies in the future is seen as if it had been counted that much
//     earlier. When the clock goes ahead again by as much, nothing has happened;
//     when it has gone on for a while, it is believed.
//   - A process begins, and there are counts of times to come: one before had a
//     clock that was ahead, or this one's is behind, as a machine's may be until
//     it is set from the network. It is as if it had been put back.
type stepping struct {
	ticked  time.Time     // the last tick, by the monotonic clock
	ahead   time.Duration // by how much it went ahead last
	back    *putBack      // it was put back, and is not believed yet
	redated []Redate      // to be written
	stale   bool          // memory is to be read anew
}

type putBack struct {
	Redate
	counts map[cellKey]slo.Counts // written since
	last   time.Time              // of what was found when the process began; zero: the step was seen
}

// undoneBy reports whether the clock, which went ahead by a jump, is where it was.
func (b *putBack) undoneBy(jump time.Duration, now time.Time) bool {
	return b != nil && (near(jump, b.By) || !b.last.IsZero() && now.After(b.last))
}

// settling is how long a clock must have gone on by itself before history is
// changed by it: moved to coarser resolutions, or to other times.
const settling = 10 * time.Minute

// near reports whether a step undoes another one: clocks drift, and flushes are
// some seconds apart.
func near(a, b time.Duration) bool { return (a - b).Abs() < time.Minute }

// step notes how the clock has gone since the last tick, silent by the wall
// clock. The caller holds the lock.
func (r *Recorder) step(now time.Time, silent time.Duration) {
	c := &r.clock
	passed := max(time.Since(c.ticked), 0)
	c.ticked = time.Now()
	switch jump := silent - min(passed, max(silent, 0)); {
	case jump > Tolerated && c.back.undoneBy(jump, now):
		if !c.back.last.IsZero() {
			c.back.By = jump // By spans the time before the start too, in which nobody counted; the jump does not
		}
		r.undo(now)
		r.say("the clock went ahead by %s, to where it was before; what was counted meanwhile is dated by it", jump)
	case jump > Tolerated:
		c.ahead = jump
		r.say("the clock went ahead by %s, or this machine slept: nobody watched meanwhile", jump)
	case silent < -Tolerated:
		r.believe(now)
		view := Redate{After: now, By: -silent}
		if near(view.By, c.ahead) {
			c.redated = append(c.redated, view)
			r.redate(view)
		} else {
			c.back = &putBack{Redate: view, counts: map[cellKey]slo.Counts{}}
			for k, n := range r.counts {
				if k.at > now.Unix() { // counted before: what is not written yet is none of what came since
					c.back.counts[k] = slo.Counts{}.Less(n)
				}
			}
		}
		c.ahead, c.stale = 0, true
		r.say("the clock was put back by %s: what was counted in the time that is to come again counts as that much earlier", view.By)
	case c.back != nil && now.Sub(c.back.After) > settling:
		r.believe(now)
	}
}

func (r *Recorder) say(text string, by time.Duration) {
	r.words = append(r.words, fmt.Errorf(text, by.Round(time.Second)))
}

// sent notes what is written while the clock is not believed.
func (c *stepping) sent(b *Batch) {
	if c.back == nil {
		return
	}
	for _, i := range b.Counts {
		k := cellKey{i.Key, i.At.Unix()}
		c.back.counts[k] = c.back.counts[k].Plus(i.Counts)
	}
}

// move counts as much less in one cell, and more in another.
func (r *Recorder) move(from, to cellKey, n slo.Counts) {
	to.at = time.Unix(to.at, 0).Truncate(slo.Tiers[0].Step).Unix()
	r.counts[from] = r.counts[from].Less(n)
	r.counts[to] = r.counts[to].Plus(n)
}

// redate moves what is not written yet.
func (r *Recorder) redate(view Redate) {
	for k, n := range maps.Clone(r.counts) {
		r.move(k, cellKey{k.key, view.Of(time.Unix(k.at, 0)).Unix()}, n)
	}
	for i := range r.watched {
		r.watched[i].Interval = view.interval(r.watched[i].Interval)
	}
}

// believe writes what was seen only until now. What came since stays where it
// is.
func (r *Recorder) believe(now time.Time) {
	b := r.clock.back
	if b == nil {
		return
	}
	r.clock.back = nil
	r.clock.redated = append(r.clock.redated, b.Redate)
	for k, n := range b.counts {
		if k.at > b.After.Unix() {
			r.move(cellKey{k.key, b.Of(time.Unix(k.at, 0)).Truncate(slo.Tiers[0].Step).Unix()}, k, n)
		}
	}
	for _, source := range r.sources {
		r.watched = append(r.watched, Watched{source, slo.Interval{From: b.After, To: now}})
	}
}

// undo dates what came since by a clock that is right again.
func (r *Recorder) undo(now time.Time) {
	b := r.clock.back
	r.clock.back, r.clock.stale = nil, true
	since := maps.Clone(b.counts)
	for k, n := range r.counts {
		since[k] = since[k].Plus(n)
	}
	for k, n := range since {
		r.move(k, cellKey{k.key, min(k.at+int64(b.By/time.Second), now.Unix())}, n)
	}
}

// remember reads memory anew after the clock was set: cells of a time that was
// none would push out those of now.
func (r *Recorder) remember(ctx context.Context, now time.Time) error {
	r.mu.Lock()
	stale, view := r.clock.stale, Redate{}
	if r.clock.back != nil {
		view = r.clock.back.Redate
	}
	r.mu.Unlock()
	if !stale {
		return nil
	}
	memory, err := load(ctx, []Reader{r.store}, now, time.Time{}, view)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, c := range r.counts {
		memory.Add(k.key, view.Of(time.Unix(k.at, 0)), slo.Tiers[0].Step, c)
	}
	for _, w := range r.watched {
		i := view.interval(w.Interval)
		memory.Watch(w.Source, i.From, i.To)
	}
	since := map[slo.Key]time.Time{}
	for k, begun := range r.since {
		if begun.After(now) {
			begun = now
		}
		since[k] = begun
	}
	memory.Counting(since)
	r.begun = r.begun || !maps.Equal(r.since, since)
	r.memory, r.since, r.clock.stale = memory, since, false
	return nil
}

// fromTheFuture finds what a process before has dated in a time that is to come. It is
// shown from when the source was last watched, or else up to now: nobody knows it better.
func (r *Recorder) fromTheFuture(ctx context.Context, now time.Time) error {
	var first, last time.Time
	take := func(from, to time.Time) {
		if first.IsZero() || from.Before(first) {
			first = from
		}
		if to.After(last) {
			last = to
		}
	}
	limit := now.Add(Tolerated)
	if err := r.store.Cells(ctx, limit, farthest, func(c Cell) error {
		take(c.At, c.At.Add(c.Step))
		return nil
	}); err != nil {
		return err
	}
	watched, err := r.store.Watched(ctx)
	if err != nil {
		return err
	}
	var seen time.Time
	for _, list := range watched {
		for _, i := range list {
			if i.From.After(limit) {
				take(i.From, i.To)
			} else if i.To.After(seen) {
				seen = i.To
			}
		}
	}
	if first.IsZero() {
		return nil
	}
	if seen.IsZero() || seen.After(now) {
		seen = now
	}
	view := Redate{After: now, By: max(first.Sub(seen), last.Sub(now))}
	r.clock.back, r.clock.stale = &putBack{Redate: view, counts: map[cellKey]slo.Counts{}, last: last}, true
	r.words = append(r.words, fmt.Errorf("the history has counts of times to come, up to %s: a clock was ahead, or this one is behind; they count as if %s earlier, and are moved there if it goes on so for %s",
		last.UTC().Format(time.RFC3339), view.By.Round(time.Second), settling))
	return nil
}

// Words are what is to be told since the last call: of the clock, and of what
// could not be read in the store.
func (r *Recorder) Words() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	words := append(r.words, r.store.Words()...)
	r.words = nil
	return words
}
