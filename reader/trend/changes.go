package trend

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Change is a moment at which a figure of a target changed.
type Change struct {
	Target string    `json:"target"`
	Kind   string    `json:"probe"`
	Metric string    `json:"metric"`
	At     time.Time `json:"at"`
	// Known is when what had come showed it.
	Known time.Time `json:"known"`
	// Before and After are typical values: medians of blocks without the cycles of
	// day and week, or shares.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Change is After/Before − 1, of rates After − Before, with its 95 % interval.
	Change float64 `json:"change"`
	Lo     float64 `json:"change_lo"`
	Hi     float64 `json:"change_hi"`
	// Sure is the probability that nothing as large comes by chance, in any series
	// of the target and in all of the time that was looked at.
	Sure float64 `json:"sure"`
	// Beside are events at about the moment: what may be behind it.
	Beside []Event `json:"beside"`
}

// Event is something that is known to have happened.
type Event struct {
	At     time.Time `yaml:"at" json:"at" required:"true" doc:"when, like 2026-11-12T14:00:00Z"`
	Target string    `yaml:"target" json:"target" doc:"whom it was about; default all"`
	Text   string    `yaml:"text" json:"text" required:"true" doc:"what happened: a deploy, a new version"`
}

// Looked is what a search for changes looked through.
type Looked struct {
	Target string  `json:"target"`
	Days   float64 `json:"days"`
	Series []Seen  `json:"series"`
	// Short names those that had too little: three days with values in nine blocks
	// of ten.
	Short []string `json:"too_short"`
}

// Seen is a series that was looked through.
type Seen struct {
	Name string `json:"name"` // probe and metric
	// DayStep is the smallest step that is told within a day, nineteen times of
	// twenty, as a share of the level; null for rates.
	DayStep timeline.Opt[float64] `json:"day_step"`

	plot plot
}

// Confidence is that with which a month of a target is without a false alarm.
const Confidence = 0.95

// month is what the confidence is for.
const month = 30 * 24 * time.Hour

// Changes looks through everything that rows, in order of time, tell of each
// target. Of a target whose month has M blocks in each of S series, one series
// may give a false alarm once in M·S/(1 − Confidence) blocks: so all of them
// together give one in twenty months.
func Changes(rows []Row, events []Event) (changes []Change, looked []Looked) {
	events = append(append([]Event(nil), events...), versions(rows)...)
	type place struct {
		kind   string
		metric int
	}
	type list struct {
		times  []time.Time
		values []float64
	}
	byTarget := map[string]map[place]*list{}
	for i := range rows {
		r := &rows[i]
		all := byTarget[r.Target]
		if all == nil {
			all = map[place]*list{}
			byTarget[r.Target] = all
		}
		for _, m := range judged {
			x, ok := r.Values[m].Get()
			if !isRate(m) {
				ok = ok && x > 0
				x = math.Log(x)
			}
			if !ok {
				continue
			}
			at := place{r.Kind, m}
			if all[at] == nil {
				all[at] = &list{}
			}
			all[at].times, all[at].values = append(all[at].times, r.At), append(all[at].values, x)
		}
	}
	for _, target := range slices.Sorted(maps.Keys(byTarget)) {
		l := Looked{Target: target, Series: []Seen{}, Short: []string{}}
		found := map[string]*series{}
		for at, v := range byTarget[target] {
			name := naming(at.kind, names[at.metric])
			s := newSeries(at.metric, v.times, v.values)
			if s == nil {
				l.Short = append(l.Short, name)
				continue
			}
			s.kind, found[name] = at.kind, s
			l.Days = math.Max(l.Days, v.times[len(v.times)-1].Sub(v.times[0]).Hours()/24)
		}
		slices.Sort(l.Short)
		for _, name := range slices.Sorted(maps.Keys(found)) {
			s := found[name]
			more, step := s.changes(target, len(found), events)
			changes = append(changes, more...)
			l.Series = append(l.Series, Seen{Name: name, DayStep: step, plot: s.plotted(more)})
		}
		looked = append(looked, l)
	}
	sort.SliceStable(changes, func(i, j int) bool { return changes[i].At.Before(changes[j].At) })
	return changes, looked
}

func naming(kind, metric string) string {
	if kind == "" {
		return metric
	}
	return kind + " " + metric
}

// cuts finds where a series changed, as one of many of its target.
func (s *series) cuts(many int) (cuts []cut, x []float64, n noise, limit float64) {
	blocks := float64(month/s.block) * float64(many)
	limit = limitFor(blocks / (1 - Confidence))
	if isRate(s.metric) {
		return s.scanRate(limit), nil, noise{}, limit
	}
	// What may be a change, as one false alarm a month and series would be, is left
	// out of the noise that decides.
	x = s.withoutCycles([]int{0})
	cuts = s.scan(x, s.noiseOf(x, nil, true), limitFor(float64(month/s.block)))
	for range 3 {
		x = s.withoutCycles(starts(cuts))
		n = s.noiseOf(x, starts(cuts)[1:], false)
		last := cuts
		if cuts = s.scan(x, n, limit); alike(last, cuts) {
			break
		}
	}
	return cuts, x, n, limit
}

func starts(cuts []cut) []int {
	out := []int{0}
	for _, c := range cuts {
		out = append(out, c.at)
	}
	return out
}

func alike(a, b []cut) bool {
	return slices.EqualFunc(a, b, func(a, b cut) bool { return a.at == b.at })
}

// mostStep is the largest step that is worth telling of: 1,000 %.
const mostStep = 10

// changes are the cuts in words that people use.
func (s *series) changes(target string, many int, events []Event) (out []Change, step timeline.Opt[float64]) {
	cuts, x, n, limit := s.cuts(many)
	if n.variance > 0 {
		// A day of blocks against a long time before; the limit is passed nineteen
		// times of twenty by what lies 1.645 errors beyond it.
		// In the first days hardly any step would be: then there is no figure.
		if v := math.Expm1((n.asStudent(limit) + 1.6449) * math.Sqrt(n.variance/float64(s.days(1)))); v < mostStep {
			step = timeline.Some(v)
		}
	}
	for i, c := range cuts {
		from, to := 0, len(s.n)
		if i > 0 {
			from = cuts[i-1].at
		}
		from = max(from, c.at-s.days(mostDays))
		if i+1 < len(cuts) {
			to = cuts[i+1].at
		}
		ch := Change{Target: target, Kind: s.kind, Metric: names[s.metric], Known: s.at(c.seen),
			Sure: 1 - chance(c.z, float64(len(s.n))*float64(many)), Beside: []Event{}}
		if isRate(s.metric) {
			s.rates(&ch, from, c.at, to)
		} else {
			s.levels(&ch, x, n, from, c.at, to)
		}
		for _, e := range events {
			// Within a block or two of a moment that is known to a block or two.
			if d := e.At.Sub(ch.At); (e.Target == "" || e.Target == target) && d <= 2*s.block && d >= -3*s.block {
				ch.Beside = append(ch.Beside, e)
			}
		}
		out = append(out, ch)
	}
	return out, step
}

// levels fills in the size of a change of level, and its moment.
func (s *series) levels(ch *Change, x []float64, n noise, from, at, to int) {
	before, nb := meanOf(x[from:at])
	after, na := meanOf(x[at:to])
	se := math.Sqrt(n.variance * (1/nb + 1/na))
	margin := stat.StudentQuantile(0.975, n.df) * se
	ch.Before, ch.After = math.Exp(before), math.Exp(after)
	ch.Change, ch.Lo, ch.Hi = math.Expm1(after-before), math.Expm1(after-before-margin), math.Expm1(after-before+margin)
	// Within the blocks at the change: the values that split best into the levels.
	ch.At = s.at(at)
	shift := func(i int) float64 { return s.level[i] - x[i] } // the cycle there
	cost, best := 0.0, 0.0
	for i, t := range s.times {
		b := s.of(t)
		if b < max(at-1, from) || b > min(at, to-1) || math.IsNaN(x[b]) {
			continue
		}
		v := s.values[i] - shift(b)
		if cost == 0 && best == 0 {
			ch.At = t
		}
		cost += (v-before)*(v-before) - (v-after)*(v-after)
		if cost < best && i+1 < len(s.times) {
			best, ch.At = cost, s.times[i+1]
		}
	}
}

// rates fills in shares, with the failures as they were.
func (s *series) rates(ch *Change, from, at, to int) {
	var hits, n [2]float64
	first := true
	for i, t := range s.times {
		b := s.of(t)
		if b < from || b >= to {
			continue
		}
		side := 0
		if b >= at {
			side = 1
			if first && s.values[i] > 0 {
				ch.At, first = t, false
			}
		}
		n[side]++
		hits[side] += s.values[i]
	}
	ch.Before, ch.After = hits[0]/n[0], hits[1]/n[1]
	if first || ch.After < ch.Before {
		ch.At = s.at(at)
	}
	ch.Change = ch.After - ch.Before
	ch.Lo, ch.Hi, _ = stat.NewcombeDifference(hits[0], n[0], hits[1], n[1], 0.95)
}

func meanOf(x []float64) (mean, n float64) {
	for _, v := range x {
		if !math.IsNaN(v) {
			mean += v
			n++
		}
	}
	return mean / n, n
}

// forgotten is after how long what a target called itself counts as new again.
// Behind one address several versions may answer in turns.
const forgotten = 24 * time.Hour

// namesADay is how many new names of a target are told of a day: a gateway may call
// itself something else in every answer.
const namesADay = 3

// versions are the moments from which on a target called itself what it did not
// within a day before: at a start of the measurement, or in its answers.
func versions(rows []Row) (events []Event) {
	type name struct {
		target, said string
		answers      bool
	}
	type subject struct {
		target  string
		answers bool
	}
	type told struct {
		day  string
		n    int    // new names on it
		text string // of the last event
		at   int    // that
	}
	seen, last, tolds := map[name]time.Time{}, map[subject]string{}, map[subject]told{}
	for i := range rows {
		r := &rows[i]
		for k, said := range [...]string{r.Server, r.AnsweredBy} {
			if said == "" {
				continue
			}
			n, s := name{r.Target, said, k > 0}, subject{r.Target, k > 0}
			was, before := last[s], seen[n]
			if was != "" && was != said && r.At.Sub(before) > forgotten {
				day, t := r.At.UTC().Format(time.DateOnly), tolds[s]
				if t.day != day {
					t = told{day: day}
				}
				if t.n++; t.n <= namesADay {
					t.text, t.at = "the server calls itself "+said+", no longer "+was, len(events)
					events = append(events, Event{At: r.At, Target: r.Target, Text: t.text})
				} else {
					events[t.at].Text = fmt.Sprintf("%s, and then by %d more new names that day", t.text, t.n-namesADay)
				}
				tolds[s] = t
			}
			seen[n], last[s] = r.At, said
		}
	}
	return events
}
