package notify

import (
	"cmp"
	"slices"
	"time"

	"tokenmeter/service/slo"
)

// state is how far a receiver knows of an alert.
type state string

// The states, in the order in which an alert goes through them.
const (
	due    state = "due"    // it fires, and the receiver was not told
	trying state = "trying" // it was sent; whether it came is not known
	told   state = "told"   // the receiver has it
	owed   state = "owed"   // it is over, and the receiver was not told of that
)

// ledger is what one receiver was told and what it is owed, by alert. It is kept
// in the store before and after each attempt, so a process that ends at any
// moment goes on with what may not have come: twice rather than never.
type ledger struct {
	Began   time.Time         `json:"began"` // alerts that began before and are over are none of its business
	Entries map[string]*entry `json:"entries"`
}

// entry is an alert of a ledger, by its ID.
type entry struct {
	Alert slo.Firing `json:"alert"` // as it is now, or was when it ended
	State state      `json:"state"`
	Told  time.Time  `json:"told,omitzero"` // when the receiver was last told that it fires

	next  time.Time     // of an attempt that failed: not again before; by the monotonic clock
	wait  time.Duration // how long after the last one
	alone bool          // it was refused together with others
}

// owedFor is how long a resolution is tried to be told.
const owedFor = 7 * 24 * time.Hour

// put takes what fires now and what is over. wants reports whether the receiver
// is to be told of an alert that is new to it.
func (l *ledger) put(firing, resolved []slo.Firing, wants func(*slo.Firing) bool, now time.Time) (changed bool) {
	fires := map[string]bool{}
	for _, f := range firing {
		id := f.ID()
		fires[id] = true
		e := l.Entries[id]
		switch {
		case e == nil && !wants(&f):
		case e == nil, !e.Alert.Since.Equal(f.Since), e.State == owed:
			// One that fires again before the receiver knew that it was over is news.
			l.Entries[id], changed = &entry{Alert: f, State: due}, true
		default:
			e.Alert = f // its figures; no reason to write
		}
	}
	for _, f := range resolved {
		e := l.Entries[f.ID()]
		switch {
		case fires[f.ID()]:
		case e == nil && (!wants(&f) || f.Since.Before(l.Began)):
		default:
			// Whether it was told or not: what fired is heard of.
			l.Entries[f.ID()], changed = &entry{Alert: f, State: owed}, true
		}
	}
	for id, e := range l.Entries {
		switch {
		case fires[id]:
		case e.State != owed: // the process ended before it was noted
			e.Alert.Resolved, e.Alert.Says = &now, "It is over."
			l.Entries[id], changed = &entry{Alert: e.Alert, State: owed}, true
		case now.Sub(*e.Alert.Resolved) > owedFor && e.wait == lastWait: // and the clock did not just go ahead
			delete(l.Entries, id)
			changed = true
		}
	}
	return changed
}

// ready are the alerts to be told now, by ID, and how long it is until there are
// others. Those that were refused together come alone.
func (l *ledger) ready(now, tick time.Time, repeat time.Duration, batch bool) (list []*entry, wait time.Duration) {
	wait = repeat
	for _, e := range l.Entries {
		rest := e.next.Sub(tick)
		if e.State == told {
			passed := now.Sub(e.Told)
			if passed < 0 { // the clock was put back
				passed = repeat
			}
			rest = max(rest, repeat-passed)
		}
		if rest > 0 {
			wait = min(wait, rest)
			continue
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.Alert.ID(), b.Alert.ID()) })
	if !batch {
		list = list[:min(len(list), 1)]
	} else if i := slices.IndexFunc(list, func(e *entry) bool { return e.alone }); i >= 0 && len(list) > 1 {
		if rest := slices.DeleteFunc(slices.Clone(list), func(e *entry) bool { return e.alone }); len(rest) > 0 {
			list = rest
		} else {
			list = list[i : i+1]
		}
	}
	return list, wait
}

// succeeded notes that a message came. The alert may have gone on meanwhile.
func (l *ledger) succeeded(sent slo.Firing, now time.Time) {
	id := sent.ID()
	e := l.Entries[id]
	if e == nil || !e.Alert.Since.Equal(sent.Since) {
		return
	}
	e.next, e.wait, e.alone = time.Time{}, 0, false
	switch {
	case sent.Resolved != nil && e.State == owed:
		delete(l.Entries, id)
	case sent.Resolved == nil && e.State != owed:
		e.State, e.Told = told, now
	}
}

// The wait after an attempt that failed: three times as long each time.
const (
	firstWait = time.Second
	lastWait  = 5 * time.Minute
)

// failed notes that a message did not come, or not surely, and returns when it
// is sent again.
func (l *ledger) failed(sent slo.Firing, tick time.Time, after time.Duration, together bool) time.Duration {
	e := l.Entries[sent.ID()]
	if e == nil || !e.Alert.Since.Equal(sent.Since) || (e.State == owed) != (sent.Resolved != nil) {
		return 0 // there is other news of it
	}
	e.alone = e.alone || after < 0 && together
	e.wait = min(max(3*e.wait, firstWait), lastWait)
	wait := min(max(e.wait, after), lastWait)
	if e.alone && together {
		wait = 0
	}
	e.next = tick.Add(wait)
	return wait
}
