package compare

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// CanaryState says what a canary shows so far.
type CanaryState string

// The states. All but Continue are final in their error guarantee: the chance
// that a canary ever says Worse or Better of equal populations, or Same of ones
// further apart than the margin, is at most Alpha, however often it is asked.
const (
	Continue     CanaryState = "continue"
	CanaryBetter CanaryState = "better"
	CanaryWorse  CanaryState = "worse"
	CanarySame   CanaryState = "same" // every figure lies within its margin
)

// CanaryOptions of a canary. The zero value watches TTFT and TPOT.
type CanaryOptions struct {
	// Alpha is the chance of a false alarm, over all figures and for ever.
	// 0: 0.05.
	Alpha float64
	// Metrics whose logarithms are watched, without unit. nil: ttft, tpot.
	Metrics []string
	// Within is the factor of a latency that does not matter. 0: 3 %.
	Within float64
	// WithinShare is the same for the share of good requests. 0: 0.01.
	WithinShare float64
	// Expect is the difference that is worth finding, as a share; the bounds are
	// tightest there. 0: 5 %.
	Expect float64
	// Batch is how many consecutive requests of a side are averaged, so that
	// what one tells of the next stays inside. 0: 20.
	Batch int
	// Objectives decide which requests are good; without, those that did not fail.
	Objectives []objective.Objective
}

// Canary compares two live populations, A (the old one) and B, while requests
// end, and may be asked after every one of them. It holds two kinds of tests:
//
// Of the share of good requests, e-values for two Bernoulli streams; their
// guarantee is exact for any number of requests, given that the requests of a
// side are alike over time.
//
// Of log latencies, a normal-mixture confidence sequence on the difference of
// the means of batches. Its guarantee is asymptotic, so it says nothing before
// 20 batches a side; its error is checked by simulation.
//
// Memory does not grow. Not safe for concurrent use.
type Canary struct {
	opts    CanaryOptions
	share   shareWatch
	watched []*latencyWatch
	judged  [2]int64
}

// Which of the two populations a request belongs to.
const (
	SideA = 0
	SideB = 1
)

// NewCanary returns a canary. Unknown metrics are an error.
func NewCanary(o CanaryOptions) (*Canary, error) {
	if o.Alpha == 0 {
		o.Alpha = Level
	}
	if o.Metrics == nil {
		o.Metrics = []string{"ttft", "tpot"}
	}
	if o.Within == 0 {
		o.Within = DefaultWithin
	}
	if o.WithinShare == 0 {
		o.WithinShare = DefaultWithinShare
	}
	if o.Expect == 0 {
		o.Expect = 0.05
	}
	if o.Batch == 0 {
		o.Batch = 20
	}
	list, err := chosen(o.Metrics)
	if err != nil {
		return nil, err
	}
	c := &Canary{opts: o}
	if len(o.Metrics) == 0 {
		list = nil
	}
	// Every figure gets an equal part of the chance of a false alarm.
	alpha := o.Alpha / float64(len(list)+1)
	c.share = newShareWatch(alpha, o.WithinShare)
	for _, m := range list {
		if m.value == nil {
			continue
		}
		c.watched = append(c.watched, newLatencyWatch(m, alpha, &o))
	}
	return c, nil
}

// Add takes a request that has ended. Cancelled and warm-up requests are left
// out.
func (c *Canary) Add(side int, r *metric.Record) {
	if side != SideA && side != SideB || r.Outcome.Cancelled() || !r.Phase.Counts() {
		return
	}
	c.judged[side]++
	good := r.Outcome == timeline.OK
	if len(c.opts.Objectives) > 0 {
		g, judged := objective.GoodOf(c.opts.Objectives, r).Get()
		good = g
		if !judged {
			return
		}
	}
	c.share.add(side, good)
	if r.Outcome != timeline.OK {
		return
	}
	for _, w := range c.watched {
		if v, ok := w.measure.value(r).Get(); ok && v > 0 {
			w.add(side, math.Log(v))
		}
	}
}

// CanaryFigure is what is known of one figure.
type CanaryFigure struct {
	Metric string      `json:"metric"`
	State  CanaryState `json:"state"`
	// Diff is the candidate's difference: of latencies in percent, of the share
	// in points of one; CI holds it at any time with the figure's confidence.
	// Null before there is enough.
	Diff opt         `json:"diff"`
	CI   *[2]float64 `json:"ci"`
	N    [2]int64    `json:"n"`
	// Needs is how many requests a side it wants before it says anything; 0 when
	// it has them.
	Needs int64 `json:"needs"`
}

// State is the verdict so far: worse as soon as any figure is worse.
func (c *Canary) State() CanaryState {
	better, same, all := false, 0, 0
	for _, f := range c.Figures() {
		all++
		switch f.State {
		case CanaryWorse:
			return CanaryWorse
		case CanaryBetter:
			better = true
			same++
		case CanarySame:
			same++
		}
	}
	switch {
	case better && same == all:
		return CanaryBetter
	case same == all:
		return CanarySame
	}
	return Continue
}

// Figures lists what is known of each figure.
func (c *Canary) Figures() []CanaryFigure {
	list := []CanaryFigure{c.share.figure()}
	for _, w := range c.watched {
		list = append(list, w.figure())
	}
	return list
}

// shareWatch tests the share of good requests.
type shareWatch struct {
	alpha, within       float64
	lower, higher       stat.TwoShares // evidence that B's share is lower, higher
	notLower, notHigher stat.TwoShares // evidence that it is not lower, not higher by the margin
	seen                [2]stat.Pair
	block               [2]stat.Pair
}

func newShareWatch(alpha, within float64) shareWatch {
	return shareWatch{alpha: alpha, within: within,
		lower:  stat.TwoShares{},
		higher: stat.TwoShares{Above: true},
		// b − a ≤ −within is refuted by evidence that b is higher than that.
		notLower:  stat.TwoShares{Above: true, Margin: -within},
		notHigher: stat.TwoShares{Margin: within},
	}
}

// add puts a request into the open block, which closes as soon as it has one
// of each side.
func (w *shareWatch) add(side int, good bool) {
	p := one(good)
	w.block[side].Num += p.Num
	w.block[side].Den += p.Den
	if w.block[0].Den == 0 || w.block[1].Den == 0 {
		return
	}
	a, b := w.block[0], w.block[1]
	for _, t := range []*stat.TwoShares{&w.lower, &w.higher, &w.notLower, &w.notHigher} {
		t.Add(int64(a.Num), int64(a.Den), int64(b.Num), int64(b.Den), w.seen)
	}
	for i := range w.seen {
		w.seen[i].Num += w.block[i].Num
		w.seen[i].Den += w.block[i].Den
	}
	w.block = [2]stat.Pair{}
}

func (w *shareWatch) figure() CanaryFigure {
	f := CanaryFigure{Metric: "good", State: Continue, N: [2]int64{int64(w.seen[0].Den), int64(w.seen[1].Den)}}
	if w.seen[0].Den > 0 && w.seen[1].Den > 0 {
		f.Diff = some(w.seen[1].Num/w.seen[1].Den - w.seen[0].Num/w.seen[0].Den)
	}
	// Two sides of a test share its part of the level; so do both ends of the
	// margin, each of which must be refuted on its own.
	switch {
	case w.lower.P() <= w.alpha/2:
		f.State = CanaryWorse
	case w.higher.P() <= w.alpha/2:
		f.State = CanaryBetter
	case w.notLower.P() <= w.alpha && w.notHigher.P() <= w.alpha:
		f.State = CanarySame
	}
	return f
}

// fewestBatches a side before a latency is judged.
const fewestBatches = 20

// latencyWatch tests the mean of the logarithm of a latency.
type latencyWatch struct {
	measure       *measure
	alpha, within float64
	kappa         float64
	batch         int
	open          [2]moments // the batch that fills
	means         [2]moments // of the batches that are full
	state         CanaryState
}

// moments are Welford's running mean and spread.
type moments struct{ n, mean, squares float64 }

func (m *moments) add(v float64) {
	m.n++
	d := v - m.mean
	m.mean += d / m.n
	m.squares += d * (v - m.mean)
}

func newLatencyWatch(m *measure, alpha float64, o *CanaryOptions) *latencyWatch {
	expect := math.Log1p(o.Expect)
	return &latencyWatch{measure: m, alpha: alpha, within: math.Log1p(o.Within), kappa: 1 / (expect * expect), batch: o.Batch, state: Continue}
}

func (w *latencyWatch) add(side int, v float64) {
	w.open[side].add(v)
	if int(w.open[side].n) < w.batch {
		return
	}
	w.means[side].add(w.open[side].mean)
	w.open[side] = moments{}
	w.look()
}

// interval is the confidence sequence of the difference, B less A.
func (w *latencyWatch) interval() (diff, lo, hi float64, ok bool) {
	a, b := &w.means[0], &w.means[1]
	if a.n < fewestBatches || b.n < fewestBatches {
		return 0, 0, 0, false
	}
	diff = b.mean - a.mean
	variance := a.squares/(a.n-1)/a.n + b.squares/(b.n-1)/b.n
	if !(variance > 0) {
		return diff, diff, diff, true
	}
	// Information is the inverse of the variance; the sum diff × information
	// moves like a Brownian motion in it.
	information := 1 / variance
	half := stat.MixtureBound(information, w.kappa, w.alpha) / information
	return diff, diff - half, diff + half, true
}

// look decides once: a state that was reached stays.
func (w *latencyWatch) look() {
	_, lo, hi, ok := w.interval()
	if !ok || w.state != Continue {
		return
	}
	up, down := CanaryWorse, CanaryBetter
	if w.measure.better == metric.Higher {
		up, down = down, up
	}
	switch {
	case lo >= -w.within && hi <= w.within:
		w.state = CanarySame
	case lo > 0:
		w.state = up
	case hi < 0:
		w.state = down
	}
}

func (w *latencyWatch) figure() CanaryFigure {
	f := CanaryFigure{Metric: w.measure.key, State: w.state, N: [2]int64{int64(w.means[0].n) * int64(w.batch), int64(w.means[1].n) * int64(w.batch)}}
	if diff, lo, hi, ok := w.interval(); ok {
		f.Diff = some(100 * math.Expm1(diff))
		f.CI = &[2]float64{100 * math.Expm1(lo), 100 * math.Expm1(hi)}
	} else {
		f.Needs = fewestBatches * int64(w.batch)
	}
	return f
}
