package sessions

import (
	"slices"
	"testing"
	"time"
)

// Of the example: the turns are at 0 and 3.5 s, the sub-agent's at 5.2 and 6.6 s, the
// last at 8.1 s, after it and the second have ended, at 7.5 and 5 s.
func TestSince(t *testing.T) {
	s := sessionOf(t, "testdata/weka.json", "")
	for _, c := range []struct {
		at     time.Duration
		before int
		left   []int // of all calls
		after  [][]int
		gap    []time.Duration
		hits   []int
	}{
		{0, 0, []int{0, 1, 2, 3, 4}, [][]int{nil, {0}, {1}, {2}, {1, 3}}, []time.Duration{0, 1500, 200, 400, 600}, []int{0, 4, 0, 3, 7}},
		// The second turn is on its way: the sub-agent and the last turn go on.
		{4000 * msec, 1, []int{1, 2, 3, 4}, [][]int{nil, nil, {1}, {2}}, []time.Duration{0, 1200, 400, 600}, []int{0, 0, 3, 7}},
		{6000 * msec, 2, []int{1, 2, 3, 4}, [][]int{nil, nil, nil, {2}}, []time.Duration{0, 0, 600, 600}, []int{0, 0, 3, 7}},
		{7000 * msec, 1, []int{1, 4}, [][]int{nil, nil}, []time.Duration{0, 1100}, []int{0, 7}},
	} {
		rest, before := s.Since(c.at)
		if before != c.before || len(rest.Calls) != len(c.left) || len(rest.Agents) != len(s.Agents) {
			t.Errorf("%v: %d before, %+v", c.at, before, rest.Calls)
			continue
		}
		if hits := rest.Ideal(); !slices.Equal(hits, c.hits) {
			t.Errorf("%v: hits %v, want %v", c.at, hits, c.hits)
		}
		for i, k := range c.left {
			g, w := rest.Calls[i], s.Calls[k]
			slices.Sort(g.After)
			if g.Agent != w.Agent || g.Input != w.Input || g.Output != w.Output || !slices.Equal(rest.IDs(i), s.IDs(k)) ||
				!slices.Equal(g.After, c.after[i]) || g.Gap != c.gap[i]*time.Millisecond {
				t.Errorf("%v, call %d: %+v after %v, want %v and a gap of %d ms", c.at, i, g, g.After, c.after[i], c.gap[i])
			}
		}
	}
	if rest, _ := s.Since(6 * time.Second); rest.Calls[3].Continues != 0 || rest.Calls[2].Continues != 1 {
		t.Errorf("the last turn goes on with the second: %+v", rest.Calls)
	}
}

// Starts lie 3.5, 1.7, 1.4 and 1.5 s apart; nothing is answered from 2 to 3.5 s, from
// 5 to 5.2, from 6.2 to 6.6 and from 7.5 to 8.1 s.
func TestCut(t *testing.T) {
	s := sessionOf(t, "testdata/weka.json", "")
	for _, c := range []struct {
		idle   Idle
		starts []int // ms
		gaps   []int
	}{
		{Idle{Most: 10 * time.Second, Starts: true}, []int{0, 3500, 5200, 6600, 8100}, []int{0, 1500, 200, 400, 600}},
		{Idle{Most: 1500 * msec, Starts: true}, []int{0, 1500, 3000, 4400, 5900}, []int{0, 0, 0, 400, 600}},
		{Idle{Most: 500 * msec}, []int{0, 2500, 4200, 5600, 7000}, []int{0, 500, 200, 400, 500}},
	} {
		cut := s.Cut(c.idle)
		for i := range cut.Calls {
			g := &cut.Calls[i]
			want := time.Duration(c.starts[i]) * msec
			if g.Start != want || g.End-g.Start != s.Calls[i].End-s.Calls[i].Start || g.Gap != time.Duration(c.gaps[i])*msec {
				t.Errorf("%+v: call %d begins at %v after a gap of %v, want %v and %d ms", c.idle, i, g.Start, g.Gap, want, c.gaps[i])
			}
		}
		if s.Calls[4].Start != 8100*msec {
			t.Fatal("the session itself was changed")
		}
	}
}
