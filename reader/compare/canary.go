package compare

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// CanaryState says what a canary shows so far.
type CanaryState string

// The states. All but Continue are final in their error guarantee: the chance
// that a canary ever says Worse or Better of equal populations, or Same of ones
// further apart than the margin, is at most Alpha, however often it is asked.
// A difference that does not matter is neither better nor worse.
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
	// Objectives decide which requests are good; without, those that did not fail.
	Objectives []objective.Objective
}

// Canary compares two live populations, A (the old one) and B, while requests
// end, and may be asked after every one of them. Requests share a queue, so the
// requests of a side tell of each other; what is watched allows for that:
//
// Means (of log latencies, of the share of good requests) by a confidence
// sequence on the difference (Robbins' normal mixture), whose variance is the
// long-run variance of the means of blocks of 20 requests. It is asymptotic,
// so it says nothing before 48 blocks a side, nor where they are worth fewer
// than 24 independent ones.
//
// The share of good requests also by bets on the difference of blocks of 50
// requests a side, which hold for any number of them and so find within some
// hundred requests that a side fails. What they need is that blocks are not
// related; bursts of failures longer than a block weaken that.
//
// Memory is bounded. Not safe for concurrent use.
type Canary struct {
	opts    CanaryOptions
	share   shareWatch
	watched []*meansWatch
	judged  [2]int64
	ends    [2]ends
	alpha   float64 // of each figure, and of silence
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
	list, err := chosen(o.Metrics)
	if err != nil {
		return nil, err
	}
	c := &Canary{opts: o}
	if len(o.Metrics) == 0 {
		list = nil
	}
	// Every figure gets an equal part of the chance of a false alarm, and so does silence.
	alpha := o.Alpha / float64(len(list)+2)
	c.alpha, c.ends = alpha, [2]ends{newEnds(), newEnds()}
	c.share = newShareWatch(alpha, o.WithinShare)
	for _, m := range list {
		if m.value == nil {
			continue
		}
		c.watched = append(c.watched, &meansWatch{measure: m, alpha: alpha, within: math.Log1p(o.Within), better: m.better, kappa: kappaOf(math.Log1p(o.Expect)), state: Continue})
	}
	return c, nil
}

// Add takes a request that has ended. Cancelled and warm-up requests are left
// out.
func (c *Canary) Add(side int, r *metric.Record) {
	if side != SideA && side != SideB || !r.Phase.Counts() {
		return
	}
	g, judged := objective.GoodOf(c.opts.Objectives, r).Get()
	if r.Outcome.Cancelled() && !judged { // by then it had not waited longer than any limit
		return
	}
	c.judged[side]++
	good := r.Outcome == timeline.OK
	if len(c.opts.Objectives) > 0 {
		if good = g; !judged {
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
