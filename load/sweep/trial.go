package sweep

import (
	"fmt"
	"math"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// decision is what a probe says of a load.
type decision int

const (
	unclear decision = iota
	holds
	fails
)

func (d decision) String() string { return [...]string{"unclear", "holds", "fails"}[d] }

// trial judges one probe while its requests come in. Requests are taken in the
// order in which they were due, up to the first whose fate is open: in the
// order of their ends the fast ones would come first, and they are the good.
type trial struct {
	tests []*test
	open  bool            // an open loop: requests come whatever the server does
	above bool            // it is more than the server did when it fell behind
	below bool            // it is clearly less than the server did when it fell behind
	grow  float64         // the share of the load by which a queue may grow that has to be felt
	idle  float64         // seconds to the first token of an idle server; 0: not known
	early map[int64]entry // known, but an earlier one is open
	next  int64           // place of the first request that is open

	due, ttft, e2e []float64 // seconds; of e2e and ttft only what was measured
	slowest        float64   // seconds that the slowest request took that ended well
	streams        bool      // answers come in pieces
	unanswered     int       // refused, failed, broken off or not finished
	flights        flights

	looked int // requests at the last look
	last   look
	// Of each test at the last look: its autocorrelation time and what it saw.
	times []float64
	own   []pool
}

// entry is a request that waits for its turn.
type entry struct {
	rec        *metric.Record
	due        float64 // seconds since the probe began
	waited     float64 // seconds until it ended or was cut off
	unfinished bool    // cut off by the end of the probe
}

func newTrial(tests []*test, open bool) *trial {
	fresh := make([]*test, len(tests))
	for i, t := range tests {
		fresh[i] = &test{o: t.o, all: t.all, target: t.target}
	}
	return &trial{tests: fresh, open: open, early: map[int64]entry{}}
}

// take adds a request.
func (t *trial) take(s Seen) {
	rec := *s.Record
	t.early[s.Index] = entry{rec: &rec, due: s.DueS, waited: s.EndS - s.DueS, unfinished: rec.Outcome == timeline.CancelledRunEnd}
	if rec.Outcome == timeline.OK {
		t.slowest = math.Max(t.slowest, s.EndS-s.DueS)
		t.streams = t.streams || rec.TTFTMS.OK()
	}
	if !rec.Outcome.Cancelled() {
		t.flights.add(s.EndS, s.InFlight)
	}
	for {
		e, ok := t.early[t.next]
		if !ok {
			return
		}
		delete(t.early, t.next)
		t.add(e)
	}
}

func (t *trial) add(e entry) {
	at := int(t.next)
	t.next++
	if e.rec == nil || e.rec.Outcome == timeline.CancelledUser {
		return // it says nothing
	}
	t.due = append(t.due, e.due)
	t.ttft = append(t.ttft, e.rec.TTFTMS.Or(math.NaN())/1e3)
	t.e2e = append(t.e2e, e.rec.E2EMS.Or(math.NaN())/1e3)
	if e.unfinished || e.rec.Outcome != timeline.OK {
		t.unanswered++
	}
	for _, test := range t.tests {
		test.add(at, &e, t)
	}
}

// close counts what waits for an earlier request at the end of a probe that nothing
// decided. One that was never heard of was never sent: its user was still thinking.
func (t *trial) close() {
	most := int64(-1)
	for i := range t.early {
		most = max(most, i)
	}
	for t.next <= most {
		t.add(t.early[t.next])
	}
	t.early = nil
}

// look is the state of a trial.
type look struct {
	decision decision
	grows    bool    // the server falls behind
	n        int     // requests that count, after the start
	from     int     // the first that counts
	share    float64 // of good requests under that objective; NaN for one on a mean
	score    float64 // of the objective nearest to its limit
	slack    float64
	time     float64 // autocorrelation time
	worth    float64 // independent requests that those tell as much as
	counts   float64 // of them as many as count for a load to hold
	enough   bool    // so much was seen that more would hardly decide
	rising   bool    // it would hold, but became worse and worse
	far      bool    // every request stayed far from every limit
	distant  bool    // an objective holds by its distance from the limit
	early    bool    // it would hold, but a queue would not have shown yet
	untold   string  // an objective on which no request says anything
	// The weakest evidence of an objective that it holds, and the strongest that one
	// fails: logarithms of odds.
	holds, fails float64
	worst        string // the objective that decides
}

// open says why nothing was decided.
func (l *look) open() string {
	switch {
	case l.n < fewest:
		return "too few requests came in"
	case l.untold != "":
		return fmt.Sprintf("none of the %d requests says anything on %q", l.n, l.untold)
	case l.early:
		return "it held, but not for long enough to tell that no queue grows"
	case l.rising:
		return "it held, but less and less: requests came nearer to the limit, or piled up"
	case l.counts < l.worth/2:
		return fmt.Sprintf("so near what the server can do a queue comes and goes more slowly than that: %d requests count as %.0f independent ones", l.n, l.counts)
	case l.worth < float64(l.n)/2:
		return fmt.Sprintf("one request tells of the next: %d are worth %.0f independent ones, too few to decide", l.n, l.worth)
	case l.enough:
		return "too near to the edge"
	}
	return "too few requests to decide"
}

// dueLook reports whether enough has come in since the last look for another one:
// looks are a tenth further apart each, so that long probes cost no more.
func (t *trial) dueLook() bool {
	return len(t.due) >= t.looked+max(4, t.looked/10)
}

// judge looks at the trial: does the evidence reach what a decision needs
// (the logarithm of the odds)? The budget is a factor on how much is plenty.
func (t *trial) judge(a aim, budget float64) look {
	t.looked = len(t.due)
	l := look{from: t.start(), score: math.Inf(1), worth: math.Inf(1), counts: math.Inf(1), time: 1, share: math.NaN(), fails: math.Inf(-1), holds: math.Inf(1)}
	l.n = len(t.due) - l.from
	if l.n < fewest {
		l.holds, l.fails = 0, 0
		t.last = l
		return l
	}
	all, any, moments := true, false, t.moments(l.from)
	l.enough, l.far = true, true
	t.times, t.own = t.times[:0], t.own[:0]
	for _, test := range t.tests {
		w := test.weigh(l.from)
		l.time = math.Max(l.time, w.time)
		w.own.moments = math.Min(w.effective, moments)
		t.times, t.own = append(t.times, w.time), append(t.own, w.own)
		if w.n == 0 {
			all, l.far, l.untold = false, false, test.o.Text
			continue
		}
		if w.score < l.score {
			l.score, l.slack, l.worst, l.share = w.score, w.slack, test.o.Text, test.shareOf(w)
		}
		l.far = l.far && w.far
		l.holds, l.fails = math.Min(l.holds, w.holds), math.Max(l.fails, w.fails)
		l.enough = l.enough && w.effective*w.known >= test.plenty()*budget
		l.worth, l.counts = math.Min(l.worth, w.effective), math.Min(l.counts, w.effective*w.known)
		far := w.holds < a.pass && !(a.repeat && a.short) && test.distant(w.own, a.pass)
		l.distant = l.distant || far
		all = all && (far || w.holds >= a.pass)
		any = any || w.fails >= a.fail+math.Log(float64(len(t.tests)))
	}
	if math.IsInf(l.holds, 1) {
		l.holds, l.fails = 0, 0 // nothing was judged
	}
	l.grows = t.flights.grow(a.fail, t.due, t.ttft)
	switch {
	case any || l.grows:
		l.decision = fails
	case all && t.rising(l.from):
		l.rising = true
	case all && !t.keepsUp(l.from, a):
		l.early = true
		// What is plenty for a tail is not for a queue: more requests can show it.
		l.enough = l.enough && feelNoQueue(t.tests) && (t.above || a.grow == 0 || float64(l.n)*a.grow*a.grow >= queueWanders)
	case all:
		l.decision = holds
	}
	t.last = l
	return l
}

// fewest is how many requests count at least.
const fewest = 8

// start is the first request that counts. A server that was at rest is kinder
// to the first ones: those due in the first three request times are left out,
// and those that the correlation ties to them, but never more than a quarter.
func (t *trial) start() int {
	n := len(t.due)
	if n < 2*fewest {
		return 0
	}
	times := slices.DeleteFunc(slices.Clone(t.e2e[:n/2]), math.IsNaN)
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	until := t.due[0] + 3*times[len(times)/2]
	from, _ := slices.BinarySearch(t.due, until)
	from = max(from, int(2*math.Min(t.last.time, float64(n))))
	return min(from, n/4)
}

// rising reports whether the second half is clearly worse than the first: what
// holds so far need not hold for long then.
func (t *trial) rising(from int) bool {
	for _, test := range t.tests {
		if test.worsens(from) {
			return true
		}
	}
	return t.flights.drift() > 2
}

// worsens compares the halves by how near their requests came to the limit.
func (t *test) worsens(from int) bool {
	first := len(t.at)
	for i, at := range t.at {
		if at >= from {
			first = i
			break
		}
	}
	near := t.near[first:]
	n := len(near) / 2
	if n < fewest {
		return false
	}
	a, b := near[:n], near[n:]
	var ma, mb, va, vb float64
	for _, x := range a {
		ma += x / float64(len(a))
	}
	for _, x := range b {
		mb += x / float64(len(b))
	}
	for _, x := range a {
		va += (x - ma) * (x - ma)
	}
	for _, x := range b {
		vb += (x - mb) * (x - mb)
	}
	time := correlationTime(near)
	se := math.Sqrt((va/float64(len(a)*len(a)) + vb/float64(len(b)*len(b))) * time)
	return mb-ma > 3*se && mb > 1.2*ma
}
