package historytest

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
)

// faulty is a store whose writes fail at random: before the commit, or after
// it, so that the writer does not know that it was done.
type faulty struct {
	history.Store
	random    *rand.Rand
	awayUntil time.Time
	now       *time.Time
}

var errFault = errors.New("a fault")

func (f *faulty) Write(ctx context.Context, b history.Batch) error {
	if f.now.Before(f.awayUntil) {
		return errFault
	}
	switch p := f.random.Float64(); {
	case p < 0.02:
		return errFault
	case p < 0.04:
		if err := f.Store.Write(ctx, b); err != nil {
			return err
		}
		return errFault // the answer is lost
	case p < 0.0405:
		f.awayUntil = f.now.Add(time.Duration(f.random.Int64N(int64(10 * time.Minute))))
		return errFault
	}
	return f.Store.Write(ctx, b)
}

// FaultsAndRestarts holds a store to hours in virtual time: an event a second, a
// write every thirty, faults of the store and restarts at random moments.
// Nothing that was acknowledged is lost, nothing is there twice, and what is
// shown never shrinks.
func FaultsAndRestarts(t *testing.T, hours int, place string, open OpenAt) {
	objectives, _, err := slo.Load("x.yaml", []byte("objectives: [{name: up, objective: availability >= 99%, window: 7d}]"))
	if err != nil {
		t.Fatal(err)
	}
	up := objectives[0]
	k := slo.Key{Hash: up.Hash, Source: slo.Live}
	random := rand.New(rand.NewPCG(7, 7))
	now := begin
	var acknowledged, restarts, faults int64
	start := func() (*history.Recorder, *faulty, func()) {
		d, err := open(place)
		if err != nil {
			t.Fatal(err)
		}
		f := &faulty{Store: d, random: random, now: &now}
		r, err := history.NewRecorder(t.Context(), f, objectives, now, slo.Live)
		if err != nil {
			t.Fatal(err)
		}
		return r, f, func() { d.Close() }
	}
	r, f, stop := start()
	var before slo.Counts
	sent := int64(0) // since the store was opened, acknowledged ones before included
	for end := begin.Add(time.Duration(hours) * time.Hour); now.Before(end); {
		for range 30 {
			sent++
			c := slo.Counts{Valid: 1, Good: 1}
			if random.Float64() < 0.005 {
				c.Good = 0
			}
			r.Count(slo.Increment{Key: k, At: now, Counts: c})
			now = now.Add(time.Second)
		}
		if err := r.Flush(t.Context(), now); err == nil {
			acknowledged = sent
		} else if faults++; !errors.Is(err, errFault) {
			t.Fatal(err)
		}
		if now.Unix()%300 < 30 {
			if err := f.Compact(t.Context(), now); err != nil {
				t.Fatal(err)
			}
		}
		shown := r.Totals()[k]
		if shown.Valid < before.Valid || shown.Good < before.Good {
			t.Fatalf("%s: the counter went from %+v to %+v", now, before, shown)
		}
		before = shown
		if random.Float64() < 1./120 { // about once an hour
			restarts++
			stop()
			now = now.Add(time.Duration(random.Int64N(int64(5 * time.Minute))))
			r, f, stop = start()
			total := r.Totals()[k].Valid
			if total < acknowledged || total > sent {
				t.Fatalf("%s: after a restart there are %d; %d were acknowledged, %d sent", now, total, acknowledged, sent)
			}
			sent, acknowledged, before = total, total, r.Totals()[k]
		}
	}
	defer stop()
	for r.Flush(t.Context(), now) != nil {
		now = now.Add(time.Minute)
	}
	total := r.Totals()[k]
	if total.Valid != sent {
		t.Errorf("%d of %d", total.Valid, sent)
	}
	result := up.Evaluate(r.Memory(), slo.Live, nil, now)
	if result.Counts != total {
		t.Errorf("the window has %+v, the counter %+v", result.Counts, total)
	}
	// A reader that loads it anew sees the same.
	memory, err := history.Load(t.Context(), f.Store, now)
	if err != nil {
		t.Fatal(err)
	}
	if again := up.Evaluate(memory, slo.Live, nil, now); again.Counts != total {
		t.Errorf("loaded anew: %+v, want %+v", again.Counts, total)
	}
	t.Logf("%d events, %d faults, %d restarts", total.Valid, faults, restarts)
}
