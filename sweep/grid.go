package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"tokenmeter/bench"
	"tokenmeter/random"
	"tokenmeter/run"
	"tokenmeter/sweep/result"
)

// The other variables of a sweep.
const (
	InputTokens  = "input_tokens"
	OutputTokens = "output_tokens"
)

// Grid measures every value of a list, in random order: what changes with time
// then looks like noise and not like an effect of the load.
type Grid struct {
	// Plan is what every point has in common; the variable and the folder are
	// replaced.
	Plan     bench.Plan
	Variable string // Rate, Concurrency, InputTokens or OutputTokens
	Values   []float64
	Repeats  int // default 1
	// SettleTime is how long the server may take to come to rest before a point;
	// default 1 min, below 0 none.
	SettleTime time.Duration
	// Begins hears of a point before it is made, Told when it is over; nil: nobody.
	Begins func(value float64, made, planned int)
	Told   func(p result.Point)
}

// Run measures the points into the sweep's folder, which Create has made, and
// saves sweep.json after each. The error of the target ends it only when nothing
// could be measured.
func (g Grid) Run(ctx context.Context, s *result.Sweep) error {
	g.Repeats = max(g.Repeats, 1)
	order := g.order()
	s.Variable, s.Planned = g.Variable, len(order)
	rest := &Server{Plan: g.Plan, Dir: s.Dir, SettleTime: g.SettleTime}
	for n, i := range order {
		value, repeat := g.Values[i/g.Repeats], i%g.Repeats+1
		if g.Begins != nil {
			g.Begins(value, n, len(order))
		}
		p, err := g.point(ctx, rest, n+1, value, repeat, s)
		if p.Run != "" {
			s.Insert(p)
			s.Conclude()
			if err := Save(s); err != nil {
				return err
			}
			if g.Told != nil {
				g.Told(p)
			}
		}
		if err != nil {
			return err
		}
	}
	now := time.Now().UTC().Round(0)
	s.Finished, s.Partial = &now, false
	return Save(s)
}

// order is each repeat's values in an order of its own.
func (g *Grid) order() []int {
	var order []int
	rng := random.New(g.Plan.Seed, 0x5357)
	for r := range g.Repeats {
		block := make([]int, len(g.Values))
		for i := range block {
			block[i] = i*g.Repeats + r
		}
		for i := len(block) - 1; i > 0; i-- {
			j := rng.Between(0, int64(i))
			block[i], block[j] = block[j], block[i]
		}
		order = append(order, block...)
	}
	return order
}

// point makes one run.
func (g *Grid) point(ctx context.Context, rest *Server, n int, value float64, repeat int, s *result.Sweep) (result.Point, error) {
	unsettled, err := rest.settle(ctx)
	if err != nil {
		return result.Point{}, err
	}
	text := strconv.FormatFloat(value, 'g', 6, 64)
	name := fmt.Sprintf("%03d-%s-%s", n, g.Variable, text)
	if g.Repeats > 1 {
		name += "-r" + strconv.Itoa(repeat)
	}
	plan := g.plan(value, text)
	plan.Out = filepath.Join(s.Dir, name)
	plan.KeepGoing = rest.alive
	if plan.Name == "" {
		plan.Name = g.Variable + " " + text
	}
	done, err := bench.Run(ctx, plan)
	if done == nil {
		return result.Point{}, err
	}
	p := PointOf(done, value)
	p.Text, p.Repeat, p.Run, p.Unsettled = text, repeat, name, unsettled
	rest.alive = rest.alive || done.Requests.OK > 0
	if s.Target == (run.Target{}) {
		s.Target = done.Target
	}
	var target *bench.TargetError
	if errors.As(err, &target) {
		p.Error = target.Error()
		if rest.alive {
			err = nil
		}
	}
	return p, err
}

// plan puts the value in its place.
func (g *Grid) plan(value float64, text string) bench.Plan {
	p := g.Plan
	switch g.Variable {
	case Rate:
		p.Rate = value
	case Concurrency:
		p.Concurrency = int(value)
	case InputTokens:
		p.InputTokens = text
	case OutputTokens:
		p.OutputTokens = text
	}
	return p
}
