package metric

import (
	"math"
	"slices"
)

// findSteady finds the steady window: in a closed loop from the first to the
// last moment at which every planned stream was busy; in an open loop from the
// moment the load first reached its median to the last arrival.
func (w *windows) findSteady(opts *CollectorOpts) {
	if w.n == 0 {
		return
	}
	steps := w.steps()
	w.maxInFlight = mostOf(steps)
	w.capWasReached = opts.Concurrency > 0 && w.maxInFlight >= opts.Concurrency
	level, until := opts.Concurrency, int64(math.MaxInt64)
	switch {
	case opts.OpenLoop:
		level, until = medianInFlight(steps, w.firstStart, w.lastStart), w.lastStart
	case level == 0:
		level = w.maxInFlight
	}
	from, to, ok := busy(steps, level, until)
	if opts.OpenLoop {
		to = until
	}
	if !ok {
		return
	}
	w.from, w.to = -binOf(-from)*binUS, binOf(to)*binUS
	w.steady = w.from < w.to
}

// mostOf is the largest number in flight at once.
func mostOf(steps []step) (most int64) {
	var inFlight int64
	for _, s := range steps {
		inFlight += s.delta
		most = max(most, inFlight)
	}
	return most
}

// busy returns the first moment at which level requests were in flight and the
// end of the last such span.
func busy(steps []step, level, until int64) (from, to int64, ok bool) {
	var inFlight int64
	for i, s := range steps {
		if s.at > until {
			break
		}
		inFlight += s.delta
		if level < 1 || inFlight < level {
			continue
		}
		if !ok {
			from, ok = s.at, true
		}
		if i+1 < len(steps) {
			to = steps[i+1].at
		}
	}
	return from, to, ok
}

// medianInFlight weighs the number in flight by the time it held.
func medianInFlight(steps []step, from, to int64) int64 {
	held := map[int64]int64{}
	var inFlight, total int64
	for i, s := range steps {
		inFlight += s.delta
		if i+1 == len(steps) {
			break
		}
		if span := min(steps[i+1].at, to) - max(s.at, from); span > 0 {
			held[inFlight] += span
			total += span
		}
	}
	levels := make([]int64, 0, len(held))
	for level := range held {
		levels = append(levels, level)
	}
	slices.Sort(levels)
	var upto int64
	for _, level := range levels {
		if upto += held[level]; 2*upto >= total {
			return max(level, 1)
		}
	}
	return 1
}
