package workload

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"tokenmeter/record/timeline"
)

// maxSession bounds how many requests one session has.
const maxSession = 10_000

// group gathers the entries of a file into sessions, in the order in which these
// begin. An entry that names no session is one of its own. The whole file is
// read for it; four bytes an entry are kept.
func (s *source) group() error {
	of := map[string]int{} // sessions by name; of bailian by each of their records
	for i := int64(0); ; i++ {
		e, err := s.at(i)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = s.certain(i, &e)
		}
		if err != nil {
			return err
		}
		if len(e.turns) > 0 {
			return fmt.Errorf("%s: record %d is a conversation of several turns, no request of a session: leave out sessions, and give turns", s.file.Name, i+1)
		}
		name := "s" + e.session
		if e.chat != "" {
			name = "c" + e.parent
		}
		k, known := of[name]
		if !known || name == "s" {
			k = len(s.sessions)
			s.sessions = append(s.sessions, nil)
			of[name] = k
		}
		if e.chat != "" {
			of["c"+e.chat] = k
			if !known {
				delete(of, name) // a parent that is not in the file is shared by chance
			}
		}
		if s.sessions[k] = append(s.sessions[k], uint32(i)); len(s.sessions[k]) > maxSession {
			return errors.New("a session of more than 10,000 records: is the column the right one?")
		}
	}
	if len(s.sessions) == 0 {
		return errors.New("there is no record")
	}
	return nil
}

// adds reports whether a record is what its session's conversation goes on with. AIPerf
// adds up those of Mooncake's form; one whose blocks begin with the whole blocks of the
// record before it has the whole prompt all the same. A last block that isn't full has
// another id in the next record, where it is longer.
func (e *entry) adds(before *entry, block int64) bool {
	if e.context != contextUnsaid {
		return e.context == addsToContext
	}
	n := len(before.hashes)
	if tokens, known := before.input.Get(); known && block > 0 && n > 1 {
		n = max(1, min(n, int(tokens/block)))
	}
	again := n > 0 && len(e.hashes) >= n && slices.Equal(e.hashes[:n], before.hashes[:n])
	return (e.grows || e.delay.OK()) && !again
}

// goesOn makes step k of a session go on with the one before it and its answer.
func (c *class) goesOn(steps []Step, k int, index int64) {
	s, before := &steps[k], &steps[k-1]
	s.Continue = timeline.Some(k - 1)
	s.Units, s.Corpus = 0, ""
	own, known := s.InputTokens.Get()
	sum, all := before.InputTokens.Get()
	s.InputTokens = timeline.Opt[int64]{}
	if len(s.Messages) > 0 && s.Messages[0].Role == "assistant" {
		s.Replays = true
	} else if n := before.MaxTokens.Or(defaultAnswer); !c.live {
		before.Answer = c.maker.make(c.salt^answerKey, index, c.maker.units(n))
		if known && all {
			s.InputTokens = timeline.Some(sum + n + own)
		}
	}
}

// session makes the requests of a session: each is due at its recorded time, or
// when the one before has ended, whichever is later; one with a delay so long after that.
func (c *class) session(it *Item) {
	n := int64(len(c.source.sessions))
	entries := c.source.sessions[around(it.Index, n)]
	var zero timeline.Opt[time.Duration]
	steps := make([]Step, 0, len(entries))
	list := make([]entry, 0, len(entries))
	for _, i := range entries {
		e, err := c.source.at(int64(i))
		if err != nil {
			it.Err = err
			return
		}
		list = append(list, e)
	}
	if !slices.ContainsFunc(list, func(e entry) bool { return e.delay.OK() }) {
		sort.SliceStable(list, func(i, j int) bool { return list[i].at.Or(0) < list[j].at.Or(0) })
	}
	speed := cmp.Or(c.source.speed, 1)
	for k := range list {
		e := &list[k]
		if k > 0 && e.adds(&list[k-1], c.source.block) {
			e.context = addsToContext
		} else {
			e.context = wholeContext
		}
		one := Item{Index: it.Index<<20 | int64(k)}
		c.entry(&one, e)
		s := one.Step
		if k == 0 {
			zero = e.at
		} else {
			s.After = []int{k - 1}
			first, timed := zero.Get()
			if d, ok := e.delay.Get(); ok {
				s.Wait = time.Duration(float64(d) / speed)
			}
			if at, ok := e.at.Get(); ok && timed {
				s.At = timeline.Some(time.Duration(float64(at-first) / speed))
			}
		}
		if steps = append(steps, s); e.context == addsToContext {
			c.goesOn(steps, k, one.Index)
		}
	}
	it.fill(steps)
	if len(steps) > 1 {
		it.Kind = Conversation
	}
}

// Speed says how fast the times of sessions are played; the schedule has its own.
func (l *Loaded) Speed(x float64) {
	for _, c := range l.classes {
		if c.source != nil {
			c.source.speed = x
		}
		if c.recording != nil {
			c.recording.speed = x
		}
	}
}
