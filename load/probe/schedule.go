package probe

import (
	"hash/fnv"
	"time"

	"tokenmeter/base/random"
)

// next is when a kind is due after a moment. The UTC day has PerDay equal parts,
// and one probe at a random moment of each: a pure function of target, kind and
// day, so that a restart neither repeats nor leaves out one, and several targets
// aren't asked at the same moments by design.
func next(target string, k *Kind, after time.Time) time.Time {
	after = after.UTC()
	day := after.Truncate(24 * time.Hour)
	for i := int(after.Sub(day) / k.part()); ; i++ {
		if i >= k.PerDay {
			day, i = day.Add(24*time.Hour), 0
		}
		if at := moment(target, k, day, i); at.After(after) {
			return at
		}
	}
}

// moment is when a kind is due in a part of a day.
func moment(target string, k *Kind, day time.Time, part int) time.Time {
	name := fnv.New64a()
	name.Write([]byte(target + "\x00" + k.Name))
	draw := random.New(name.Sum64(), uint64(day.Unix()), uint64(part))
	within := time.Duration(draw.Float64() * float64(k.part()))
	return day.Add(time.Duration(part)*k.part() + within.Truncate(time.Microsecond))
}

// soonest is the first kind that is due after a moment.
func (t *asked) soonest(after time.Time) (first int, due time.Time) {
	for i := range t.kinds {
		if at := next(t.Name, &t.kinds[i], after); i == 0 || at.Before(due) {
			first, due = i, at
		}
	}
	return first, due
}

// withheld reports whether a probe would wake a server that is to be cold.
func (t *asked) withheld(k *Kind, due time.Time) bool {
	if k.Idle > 0 {
		return false
	}
	for i := range t.kinds {
		if cold := &t.kinds[i]; cold.Idle > 0 && next(t.Name, cold, due).Before(due.Add(cold.Idle)) {
			return true
		}
	}
	return false
}
