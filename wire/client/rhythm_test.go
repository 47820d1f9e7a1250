package client

import "testing"

// beat plays streams to a rhythm for a while: each has a token every gap, and
// the reactor looks as the rhythm says. Tokens of one stream that come within
// one look are read together. sender joins tokens k by k.
type beat struct {
	r     rhythm
	now   int64
	gap   func(i int64) int64 // ns before the i-th token of a stream
	k     int64
	next  []int64 // when each stream's next token comes
	count []int64
	last  []int64 // when the last token of each arrived
}

func newBeat(streams int, gap func(i int64) int64) *beat {
	b := &beat{r: newRhythm(), gap: gap, k: 1, now: 1,
		next: make([]int64, streams), count: make([]int64, streams), last: make([]int64, streams)}
	for i := range b.next {
		b.next[i] = b.now + gap(0)*int64(i)/int64(streams)
	}
	b.r.sent(b.now)
	return b
}

// play goes on for a while and returns the naps that were in force, by length.
func (b *beat) play(ns int64) map[int64]int {
	naps := map[int64]int{}
	for end := b.now + ns; b.now < end; {
		look := b.now + b.r.napNS
		if b.r.napNS == 0 { // at the next token
			look = b.next[0]
			for _, at := range b.next {
				look = min(look, at)
			}
		}
		b.now = max(look, b.now+1)
		for i := range b.next {
			came, at := int64(0), int64(0)
			for b.next[i] <= b.now {
				came, at = came+b.k, b.next[i]
				b.count[i]++
				b.next[i] += max(b.gap(b.count[i]), 1)
			}
			if came > 0 {
				gap := int64(0)
				if b.last[i] > 0 {
					gap = at - b.last[i]
				}
				b.last[i] = at
				b.r.read(came, gap)
			}
		}
		b.r.settle(b.now)
		naps[b.r.napNS]++
	}
	return naps
}

const msec = int64(1_000_000)

func every(ns int64) func(int64) int64 { return func(int64) int64 { return ns } }

func TestRhythmNapsWhereTokensAreFarApart(t *testing.T) {
	for name, tc := range map[string]struct {
		streams  int
		gap      func(int64) int64
		reply    int64
		min, max int64
	}{
		"many streams, 20 ms":        {500, every(20 * msec), 5000 * msec, 2 * msec, 2 * msec},
		"4 ms between tokens":        {500, every(4 * msec), 5000 * msec, 700_000, msec},
		"1 ms between tokens":        {100, every(msec), 5000 * msec, 170_000, 250_000},
		"short replies":              {500, every(20 * msec), 60 * msec, 500_000, 600_000},
		"replies of a few ms":        {500, every(20 * msec), 4 * msec, 0, 0},
		"few tokens a second":        {4, every(20 * msec), 5000 * msec, 0, 0},
		"one gap in ten is short":    {500, func(i int64) int64 { return map[bool]int64{true: msec, false: 20 * msec}[i%10 == 0] }, 5000 * msec, 170_000, 250_000},
		"one gap in 200 is short":    {500, func(i int64) int64 { return map[bool]int64{true: msec, false: 20 * msec}[i%200 == 0] }, 5000 * msec, 2 * msec, 2 * msec},
		"gaps too short to nap in":   {100, every(60_000), 5000 * msec, 0, 0},
		"every second comes at once": {500, func(i int64) int64 { return map[bool]int64{true: 30_000, false: 20 * msec}[i%2 == 0] }, 5000 * msec, 0, 0},
	} {
		b := newBeat(tc.streams, tc.gap)
		b.r.ended(tc.reply)
		b.play(600 * msec)
		if nap := b.r.napNS; nap < tc.min || nap > tc.max {
			t.Errorf("%s: a nap of %d µs, want %d to %d", name, nap/1000, tc.min/1000, tc.max/1000)
		}
	}
}

// Tokens that the sender joins are no reason to read promptly: that would not
// part them.
func TestRhythmBearsWithASenderThatJoins(t *testing.T) {
	b := newBeat(500, every(20*msec))
	b.k = 3
	b.r.ended(5000 * msec)
	b.play(600 * msec)
	want(t, "nap", b.r.napNS, 2*msec)
	want(t, "joined anyway", b.r.anyway, 1)
}

// When naps begin to join what would come apart, they become shorter.
func TestRhythmStopsJoining(t *testing.T) {
	gap := 20 * msec
	b := newBeat(300, func(int64) int64 { return gap })
	b.r.ended(5000 * msec)
	b.play(600 * msec)
	want(t, "nap", b.r.napNS, 2*msec)
	gap = 400_000 // the server is faster now
	b.play(1000 * msec)
	if nap := b.r.napNS; nap > 110_000 {
		t.Errorf("a nap of %d µs between tokens 400 µs apart", nap/1000)
	}
	gap = 20 * msec
	b.play(6000 * msec)
	want(t, "nap after", b.r.napNS, 2*msec)
}

// Until a reply has ended, the time since the first request stands for its length.
func TestRhythmBeginsPromptly(t *testing.T) {
	b := newBeat(500, every(20*msec))
	b.play(150 * msec)
	if nap := b.r.napNS; nap > 1500_000 {
		t.Errorf("a nap of %d µs after 150 ms", nap/1000)
	}
	b.play(600 * msec)
	want(t, "nap", b.r.napNS, 2*msec)
}

func TestSizes(t *testing.T) {
	for _, ns := range []int64{1, 2, 3, 4, 5, 6, 7, 8, 1000, 1500, 1 << 40} {
		size := sizeOf(ns)
		if least, above := leastOf(size), leastOf(size+1); ns < least || ns >= above && above > least {
			t.Errorf("%d has size %d, which is from %d to %d", ns, size, least, above)
		}
	}
}
