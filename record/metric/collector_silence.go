package metric

import "tokenmeter/record/timeline"

// silence is how long, in seconds, nothing came at the end though the load went on, and
// its share of the time under load. The window of the rates ends with the last token, so
// it has nothing of it. Only requests that never came to their end tell of it: in a
// closed loop while they hold every stream, in an open loop until the last one was due.
// What waits on when no more is sent, as the grace of one that hangs, is no load. Nor is it
// silence where another request waited as long and was answered: then it was the end of
// the run that kept these from it.
func (w *windows) silence(opts *CollectorOpts) (seconds float64, share timeline.Opt[float64]) {
	if !w.anyToken {
		return 0, share
	}
	var hung windows
	var waited int64 // the longest for an answer that came
	for _, r := range w.rows {
		switch {
		case r.ok && r.ttft >= 0:
			waited = max(waited, r.due+int64(1000*r.ttft)-r.start)
		case r.ok:
			waited = max(waited, r.end-r.start)
		case !r.unsent && r.end > w.lastToken:
			hung.rows = append(hung.rows, r)
		}
	}
	level, until := w.maxInFlight, int64(1<<62)
	switch {
	case opts.OpenLoop:
		level, until = 1, w.lastDue
	case opts.Concurrency > 0:
		level = min(level, opts.Concurrency)
	}
	from, to, ok := busy(hung.steps(), level, until)
	from, to = max(from, w.lastToken), min(to, until)
	if !ok || to-from <= waited {
		return 0, share
	}
	return float64(to-from) / 1e6, timeline.Some(float64(to-from) / float64(to-w.firstDue))
}
