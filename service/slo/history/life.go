package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/kept"
	"tokenmeter/service/traffic"
)

// LifeState is the name under which a store keeps its Life. Without it another
// one begins.
const LifeState = "slo.counters"

// Life is one life of a store's counters as those see it who scrape them: they
// begin at zero with its Run and never fall, over restarts too. A store that is
// copied to another place begins another one, or two daemons would show two
// counters under one name. Safe for concurrent use.
type Life struct {
	store Store

	mu    sync.Mutex
	kept  life
	base  map[slo.Key]slo.Counts
	shown map[slo.Key]bool
	dirty bool
	word  error // what could not be read, for Keep
}

// life is a Life as it is kept.
type life struct {
	Run   string       `json:"run"`
	Place string       `json:"place"`
	Base  []baseCounts `json:"base"`  // what was counted before it
	Shown []slo.Key    `json:"shown"` // what a page has had
}

type baseCounts struct {
	slo.Key
	slo.Counts
}

// OpenLife goes on with the life that a store has, or begins one with what has
// been counted so far as its zero: in a new store, in one of an older version,
// in one that lies in another place than before, and in one that counted less
// than when the life began. One that can't be read is kept aside, and Keep says
// so. place is the host and the path.
func OpenLife(ctx context.Context, s Store, place string, totals map[slo.Key]slo.Counts, now time.Time) (*Life, error) {
	l := &Life{store: s, base: map[slo.Key]slo.Counts{}, shown: map[slo.Key]bool{}}
	var err error
	l.kept, _, err = kept.Read[life](ctx, s, LifeState, now, nil)
	if damaged := (*kept.Damaged)(nil); errors.As(err, &damaged) {
		l.word = fmt.Errorf("the exported counters begin at zero under another run: %w", err)
	} else if err != nil {
		return nil, err
	}
	goesOn := l.kept.Run != "" && l.kept.Place == place
	for _, b := range l.kept.Base {
		l.base[b.Key] = b.Counts
		now := totals[b.Key]
		goesOn = goesOn && now.Good >= b.Good && now.Bad() >= b.Bad() && now.Excluded >= b.Excluded
	}
	if goesOn {
		for _, k := range l.kept.Shown {
			l.shown[k] = true
		}
		return l, nil
	}
	l.kept = life{Run: traffic.NewRun(), Place: place}
	clear(l.base)
	for k, c := range totals {
		if !c.IsZero() {
			l.base[k] = c
			l.kept.Base = append(l.kept.Base, baseCounts{k, c})
		}
	}
	l.dirty = true // Keep saves it, and tells why it can't
	return l, nil
}

// Run names the life.
func (l *Life) Run() string { return l.kept.Run }

// Counted is what a series has counted in this life, of what it has in all.
func (l *Life) Counted(k slo.Key, total slo.Counts) slo.Counts {
	b := l.base[k]
	return slo.Counts{Good: total.Good - b.Good, Valid: total.Valid - b.Valid, Excluded: total.Excluded - b.Excluded}
}

// Shown reports whether a page has had a series in this life.
func (l *Life) Shown(k slo.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown[k]
}

// Show notes that a page has a series.
func (l *Life) Show(k slo.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.shown[k] {
		l.shown[k] = true
		l.kept.Shown = append(l.kept.Shown, k)
		l.dirty = true
	}
}

// Save writes what is new into the store.
func (l *Life) Save(ctx context.Context) error {
	l.mu.Lock()
	if !l.dirty {
		l.mu.Unlock()
		return nil
	}
	text, err := json.Marshal(l.kept)
	l.dirty = false
	l.mu.Unlock()
	if err == nil {
		err = l.store.PutState(ctx, LifeState, text)
	}
	if err != nil {
		l.mu.Lock()
		l.dirty = true
		l.mu.Unlock()
	}
	return err
}

// Keep saves what is new every second, until the context ends; then once more.
func (l *Life) Keep(ctx context.Context, told func(error)) {
	if l.word != nil {
		told(l.word)
	}
	ticker := time.NewTicker(FlushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			if err := l.Save(last); err != nil {
				told(err)
			}
			return
		case <-ticker.C:
			if err := l.Save(ctx); err != nil && ctx.Err() == nil {
				told(err)
			}
		}
	}
}
