package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"
)

// Trace is an open loop whose moments were recorded. Request i is the trace's
// record i.
type Trace struct {
	// Times yields when each record was due, since the trace's start, in order.
	// It is called once for each worker.
	Times func() iter.Seq2[time.Duration, error]
	Speed float64 // 2 plays it in half the time; 0 means 1
	// From and To cut a window out of the trace, in the trace's own time since its start.
	// What is due at From is sent at once. To 0: to the end.
	From, To time.Duration

	Requests int64         // bound; 0: none
	Duration time.Duration // bound, in the time of the run; 0: none
	Tail     time.Duration // after the bound the trace goes on for so long

	// Failed is told why the times could not be read on; nil: nobody is.
	Failed func(error)
}

// Check returns what is wrong with the settings.
func (t Trace) Check() error {
	switch {
	case !(t.Speed >= 0) || math.IsInf(t.Speed, 0) || t.Speed > 0 && t.Speed < 1e-6 || t.Speed > 1e6:
		return fmt.Errorf("speed %v: want a number above 0, like 2 for twice as fast", t.Speed)
	case t.From < 0 || t.To < 0 || t.To > 0 && t.To <= t.From:
		return fmt.Errorf("the part of the trace from %v to %v is empty", t.From, t.To)
	}
	return t.bounds().check()
}

func (t Trace) bounds() bounds {
	return bounds{requests: t.Requests, duration: t.Duration, tail: t.Tail}
}

// Arrivals yields the share's requests in order of their due times. It ends
// with the trace, or early when its times can't be read or run backwards.
func (t Trace) Arrivals(share Share) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		speed := cmp.Or(t.Speed, 1)
		b := t.bounds()
		i, last := int64(-1), time.Duration(0)
		for at, err := range t.Times() {
			i++
			if err == nil && at < last {
				err = fmt.Errorf("record %d of the trace is due %v before the one in front of it: sort the file by time", i+1, last-at)
			}
			if err != nil {
				if t.Failed != nil {
					t.Failed(err)
				}
				return
			}
			last = at
			if at < t.From {
				continue
			}
			if t.To > 0 && at >= t.To {
				return
			}
			due := nanoseconds(float64(at-t.From) / speed)
			part, over := b.part(due)
			if over || share.Has(i) && !yield(Arrival{i, due, part}) {
				return
			}
		}
	}
}

// Preview reads the times that would be played. Of what is measured it returns the first
// record, how many there are, and when the first of them, most at most, are due. The error
// is why the times can't be played: a record that can't be read, one that is due before the
// one in front of it, or none that is measured.
func (t Trace) Preview(most int64) (first, n int64, at []time.Duration, err error) {
	if err := t.Check(); err != nil {
		return 0, 0, nil, err
	}
	t.Failed = func(why error) { err = why }
	for x := range t.Arrivals(Share{}) {
		if x.Part != Main {
			continue
		}
		if n == 0 {
			first = x.Index
		}
		if n++; n <= most {
			at = append(at, x.At)
		}
	}
	if err == nil && n == 0 {
		err = errors.New("no record of the file is due in the part of the trace that is played")
	}
	return first, n, at, err
}
