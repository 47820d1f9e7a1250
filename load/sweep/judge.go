package sweep

import (
	"fmt"
	"math"
	"slices"

	"tokenmeter/record/stat"
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

const (
	// fewest is how many requests a look rests on at least: a percentile of fewer has no
	// distribution to speak of.
	fewest = 8
	// moments is how many independent moments a probe must hold to say that a load holds;
	// with fewer, runs look steadier than they are (docs/statistics.md).
	moments = 50
	// start is the part of a probe's time that is left out: a server that was at rest is
	// kinder to the first requests.
	start = 0.1
)

// trial judges one probe while its requests come in. Requests are taken in the
// order in which they were due, up to the first whose fate is open: in the
// order of their ends the fast ones would come first, and they are the good.
type trial struct {
	tests []*test
	rate  bool    // an open loop: requests come whatever the server does
	timeS float64 // the planned time
	// mayPile is the share of requests that may pile up where a load holds; 0: the
	// objectives tell.
	mayPile float64
	early   map[int64]entry // known, but an earlier one is open
	next    int64           // place of the first request that is open

	due, end []float64 // seconds since the probe began
	slowest  float64   // seconds that the slowest request took that ended well
	streams  bool      // answers come in pieces
	answered int
	looked   int // looks so far
}

func newTrial(tests []*test, rate bool, timeS float64) *trial {
	t := &trial{rate: rate, timeS: timeS, early: map[int64]entry{}}
	for _, of := range tests {
		t.tests = append(t.tests, &test{o: of.o, all: of.all, allowed: of.allowed})
	}
	return t
}

// take adds a request.
func (t *trial) take(s Seen) {
	rec := *s.Record
	t.early[s.Index] = entry{rec: &rec, due: s.DueS, waited: s.EndS - s.DueS, unfinished: rec.Outcome == timeline.CancelledRunEnd}
	if rec.Outcome == timeline.OK {
		t.answered++
		t.slowest = math.Max(t.slowest, s.EndS-s.DueS)
		t.streams = t.streams || rec.TTFTMS.OK()
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
	t.next++
	if e.rec == nil || e.rec.Outcome == timeline.CancelledUser {
		return // it says nothing
	}
	for _, test := range t.tests {
		test.add(len(t.due), &e, t)
	}
	t.due, t.end = append(t.due, e.due), append(t.end, e.due+e.waited)
}

// close counts what waits for an earlier request at the end of a probe. One that was
// never heard of was never sent: its user was still thinking.
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

// dueLook reports whether the time of the next look has come.
func (t *trial) dueLook() bool {
	n := len(t.due)
	if n == 0 || t.due[n-1] < float64(t.looked+1)*t.timeS/looks {
		return false
	}
	t.looked = int(t.due[n-1] / t.timeS * looks)
	return true
}

// look is what a trial shows.
type look struct {
	decision decision
	grows    bool // the server falls behind
	piles    bool // it may: all else holds
	pile     pile
	n        int
	worst    string  // the objective nearest to its limit, or beyond it
	share    float64 // of good ones under it; NaN for a mean
	over     bool    // more than allowed were bad, or the mean was beyond the limit: as it came, without any evidence
	moments  float64 // independent ones in the probe
	longer   float64 // how many times as long a probe might decide; +Inf: none would
	untold   string  // an objective on which no request says anything
	answered bool    // every request was, in full
	series   []*sample
}

// judge looks at the trial. wrong is the chance of error in one direction; ended says
// that the planned time is over, without which no load holds.
func (t *trial) judge(wrong float64, ended bool) look {
	l := look{n: len(t.due), share: math.NaN()}
	if l.n < fewest {
		l.longer = fewest / math.Max(1, float64(l.n))
		return l
	}
	skip, _ := slices.BinarySearch(t.due, start*t.timeS)
	skip = min(skip, l.n/4)
	flight := t.inFlight()
	for _, test := range t.tests {
		l.series = append(l.series, test.from(skip, flight))
	}
	l.weigh(wrong)
	if !ended && l.decision == holds {
		l.decision = unclear
	}
	if !t.rate || l.decision == fails {
		return l
	}
	// Half of the chance of error is for the end, where growth shows most, the rest for the
	// looks before.
	l.pile = pileOf(flight, skip)
	filling, slower := t.pace()
	switch {
	case ended:
		l.pile.filling = filling
		l.keepsUp(wrong/2, t.mayPile)
	case !filling && !slower && l.pile.grows(wrong/2/(looks-1)):
		l.grows, l.decision = true, fails
	}
	return l
}

// keepsUp takes back that a load holds, or says that it fails, by the requests that piled up.
func (l *look) keepsUp(wrong, mayPile float64) {
	switch l.grows = l.pile.grows(wrong) && !l.pile.filling; {
	case l.grows:
		l.decision = fails
	case l.decision == holds && (l.pile.grows(0.05) || mayPile > 0 && l.pile.most(wrong) > mayPile):
		l.decision, l.piles = unclear, true
	}
}

// weigh decides by the series.
func (l *look) weigh(wrong float64) {
	all, nearest := true, math.Inf(-1)
	l.moments, l.longer = math.Inf(1), 1
	for _, one := range l.series {
		if len(one.near) == 0 {
			all, l.untold = false, one.o.Text
			continue
		}
		s := one.judge(wrong, wrong/looks/float64(len(l.series)))
		if s.fails {
			l.decision = fails
		}
		all = all && s.holds
		l.over = l.over || s.distance > 0
		l.moments, l.longer = math.Min(l.moments, s.moments), math.Max(l.longer, s.longer)
		if s.distance > nearest {
			nearest, l.worst, l.share = s.distance, one.o.Text, s.share
		}
	}
	if all && l.decision != fails {
		l.decision = holds
	}
}

// seems is what a step on the way suggests; it is no evidence: more bad ones than allowed,
// or so many that one in ten steps at the limit had them, were they independent.
func (t *trial) seems() look {
	l := t.judge(0.1, true)
	if l.n < fewest || l.untold != "" {
		l.decision = unclear
		return l
	}
	bad := l.pile.grows(0.05) // whether it is a queue or a server that fills up
	for _, s := range l.series {
		n, share := float64(len(s.near)), s.ratio(1).share
		switch {
		case s.allowed == 0:
			bad = bad || l.over
		case share > 0:
			bad = bad || stat.BetaQuantile(0.1, n*share, n*(1-share)+1) > s.allowed
		}
	}
	if l.decision = holds; bad {
		l.decision = fails
	}
	return l
}

// alone reports whether requests that met no other were bad too often, as they would be
// under any load. Like all that a step suggests it is no evidence.
func (l *look) alone() bool {
	for _, s := range l.series {
		n, bad, beyond := 0.0, 0.0, 0.0
		for i, others := range s.flight {
			if others == 0 {
				n, bad, beyond = n+1, bad+s.bad[i]/s.weight[i], beyond+s.value[i]
			}
		}
		switch {
		case n < fewest:
		case s.allowed == 0 && beyond > 0, s.allowed > 0 && bad > 0 && stat.BetaQuantile(0.1, bad, n-bad+1) > s.allowed:
			return true
		}
	}
	return false
}

// why says what kept a probe from deciding.
func (l *look) why() string {
	switch {
	case l.decision != unclear:
		return ""
	case l.n < fewest:
		return "too few requests came in"
	case l.untold != "":
		return fmt.Sprintf("no request says anything on %q", l.untold)
	case l.over && l.moments < moments:
		return fmt.Sprintf("beyond the limit, but %d requests are worth %.0f independent ones, as each tells of the next: a slow spell would look the same", l.n, l.moments)
	case l.moments < moments:
		return fmt.Sprintf("%d requests count as only %.0f independent ones, for those close in time are alike: too few to say that it holds", l.n, l.moments)
	case l.piles:
		return "all objectives hold, but requests may pile up behind them"
	case l.over:
		return "beyond the limit, but not by enough to be sure"
	}
	return "within the limit, but not by enough to be sure"
}
