package workload

import (
	"errors"
	"slices"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/load/workload/sessions"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// Primed is a workload whose first items begin in the middle: a server is brought to
// where they do before anything is measured.
type Primed interface {
	// Primes is how many items need it.
	Primes() int
	// Prime is what item i sends for it, all at once. It has no request where nothing
	// is to be sent.
	Prime(i int64) (Item, bool)
}

// Midway says where sessions begin that a benchmark finds in full swing.
type Midway struct {
	// Sessions is how many begin in the middle: the first ones. Those after them begin
	// at their beginning.
	Sessions int
	// From and To bound where: a share of the time from a session's first request to its
	// last, which is drawn by the seed.
	From, To float64
	// PrimeTokens is how long the answer of a prime is; 0: as it was recorded.
	PrimeTokens int64
	// Idle cuts pauses; its zero value keeps them.
	Idle sessions.Idle
}

// Midway plays the recorded sessions of a workload from the middle.
func (l *Loaded) Midway(m Midway) (Workload, error) {
	c := l.classes[0]
	switch {
	case len(l.classes) > 1 || c.recording == nil:
		return nil, errors.New("what is sent must be recorded sessions of agents")
	case c.live:
		return nil, errors.New("a session that begins in the middle has no live history: leave history: live out")
	}
	return &midway{Loaded: l, Midway: m, class: c}, nil
}

type midway struct {
	*Loaded
	Midway
	class *class
}

const midwayKey = 0x6d6964776179

// of is the session of item i, from where it begins, and how many of its requests are
// primes.
func (m *midway) of(i int64) (*sessions.Session, int, error) {
	s, err := m.class.recording.of(i)
	if err != nil {
		return nil, 0, err
	}
	if m.Idle.Most > 0 {
		s = s.Cut(m.Idle)
	}
	if i < 0 || i >= int64(m.Sessions) {
		return s, 0, nil
	}
	src := random.New(m.class.seed, midwayKey, uint64(i))
	share := m.From + float64((m.To-m.From)*src.Float64())
	rest, before := s.Since(time.Duration(float64(share * float64(s.LastStart()))))
	return rest, before, nil
}

// Item implements Workload.
func (m *midway) Item(i int64) Item {
	it := Item{Index: i, Class: m.class.name, Kind: Session}
	s, before, err := m.of(i)
	if err != nil {
		it.Err = err
		return it
	}
	steps := m.class.recording.steps(m.class, s, i)
	primes, steps := steps[:before], steps[before:]
	for k := range steps {
		st := &steps[k]
		st.After = slices.Clone(st.After) // of a whole session they are the recording's
		for j := range st.After {
			st.After[j] -= before
		}
		switch base, continues := st.Continue.Get(); {
		case !continues:
		case base >= before:
			st.Continue = timeline.Some(base - before)
		default:
			st.follow(&primes[base])
		}
	}
	it.fill(steps)
	m.class.complete(&it)
	return it
}

// Prime implements Primed.
func (m *midway) Prime(i int64) (Item, bool) {
	it := Item{Index: i, Class: m.class.name, Kind: Session}
	s, before, err := m.of(i)
	switch {
	case err != nil:
		it.Err = err
		return it, true
	case before == 0:
		return it, false
	}
	steps := m.class.recording.steps(m.class, s, i)[:before]
	if m.PrimeTokens > 0 {
		for k := range steps {
			steps[k].MaxTokens = timeline.Some(m.PrimeTokens)
		}
	}
	it.fill(steps)
	m.class.complete(&it)
	return it, true
}

// follow makes a step's conversation begin with that of a step which its item has not.
func (st *Step) follow(base *Step) {
	first, then := *base, *st
	st.Continue, st.Replays, st.Messages = timeline.Opt[int]{}, false, nil
	st.Make = func(last bool) []api.Message {
		return merge(slices.Concat(first.messages(false), then.messages(last)))
	}
}

// Primes implements Primed.
func (m *midway) Primes() int { return m.Sessions }
