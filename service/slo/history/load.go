package history

import (
	"context"
	"time"

	"tokenmeter/service/slo"
)

// Load reads the history of a store into memory, as far back as it is kept.
func Load(ctx context.Context, s Reader, now time.Time) (*slo.Memory, error) {
	return LoadUntil(ctx, []Reader{s}, now, time.Time{})
}

// LoadUntil is Load of several stores together, and of what was known at a
// moment. Of a time whose counts are kept in longer steps, the step in which it
// lies is left out.
func LoadUntil(ctx context.Context, stores []Reader, now, until time.Time) (*slo.Memory, error) {
	return load(ctx, stores, now, until, Redate{})
}

// load is LoadUntil where what lies in the future is seen as redated, if it is.
func load(ctx context.Context, stores []Reader, now, until time.Time, r Redate) (*slo.Memory, error) {
	memory := &slo.Memory{Until: until}
	oldest, newest := now.Add(-slo.Tiers[len(slo.Tiers)-1].Keep), now.Add(ahead)
	if r.By > 0 {
		newest = farthest
	}
	since := map[slo.Key]time.Time{}
	for _, s := range stores {
		err := s.Cells(ctx, oldest, newest, func(c Cell) error {
			memory.Add(c.Key, r.Of(c.At), c.Step, c.Counts)
			return nil
		})
		if err != nil {
			return nil, err
		}
		begun, err := counting(ctx, s, now)
		if err != nil {
			return nil, err
		}
		for k, at := range begun {
			if first, known := since[k]; !known || at.Before(first) {
				since[k] = at
			}
		}
		watched, err := s.Watched(ctx)
		if err != nil {
			return nil, err
		}
		for source, list := range watched {
			for _, i := range list {
				if i = r.interval(i); i.From.Before(newest) {
					memory.Watch(source, i.From, i.To)
				}
			}
		}
	}
	memory.Counting(since)
	return memory, nil
}

// Ahead is how far the histories go on beyond a moment, which is to be now: by so much the
// clock of a daemon that writes them is ahead of this machine's, or was when it wrote. 0 where
// that is no more than two flushes may be apart.
func Ahead(ctx context.Context, stores []Reader, now time.Time) (time.Duration, error) {
	latest := now
	for _, s := range stores {
		watched, err := s.Watched(ctx)
		if err != nil {
			return 0, err
		}
		for _, list := range watched {
			for _, i := range list {
				if i.To.After(latest) {
					latest = i.To
				}
			}
		}
	}
	if by := latest.Sub(now); by > Tolerated {
		return by, nil
	}
	return 0, nil
}

// ahead is how far in the future what was stored may lie: another host's clock.
// What lies beyond was written while a clock was wrong.
const ahead = time.Hour

// farthest is after all that any clock may say.
var farthest = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
