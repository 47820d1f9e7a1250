package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tokenmeter/bench"
	"tokenmeter/random"
	"tokenmeter/run"
	"tokenmeter/sweep/result"
)

// The other variables of a sweep that have a name of their own.
const (
	InputTokens  = "input_tokens"
	OutputTokens = "output_tokens"
)

// Cell is a point to measure: a whole plan, and what it is called.
type Cell struct {
	Value    float64 // of the variable
	Text     string  // the same as it was asked for
	Settings []result.Setting
	Plan     bench.Plan // its folder is replaced
}

// Grid measures every cell, in random order: what changes with time then looks
// like noise and not like an effect of the load.
type Grid struct {
	Variable string
	Cells    []Cell
	Repeats  int // default 1
	// Ordered measures the cells as they stand, and asks Next, where there is one,
	// for a further cell once they are done: nil ends the sweep.
	Ordered bool
	Next    func(made []result.Point) *Cell
	Seed    uint64 // of the order
	// SettleTime is how long the server may take to come to rest before a point;
	// default 1 min, below 0 none.
	SettleTime time.Duration
	// Begins hears of a point before it is made, Told when it is over; nil: nobody.
	Begins func(c *Cell, made, planned int)
	Told   func(p result.Point)

	rest map[string]*Server // by server and model
}

// Run measures the points into the sweep's folder, which Create has made, and
// saves sweep.json after each. The error of the target ends it only when nothing
// could be measured.
func (g *Grid) Run(ctx context.Context, s *result.Sweep) error {
	g.Repeats = max(g.Repeats, 1)
	g.rest = map[string]*Server{}
	order := g.order()
	s.Variable, s.Planned = g.Variable, len(order)
	var made []result.Point
	for n := 0; ; n++ {
		if n == len(order) {
			more := g.more(made)
			if !more {
				break
			}
			order = append(order, (len(g.Cells)-1)*g.Repeats)
			s.Planned = len(order)
		}
		i := order[n]
		cell, repeat := &g.Cells[i/g.Repeats], i%g.Repeats+1
		if g.Begins != nil {
			g.Begins(cell, n, len(order))
		}
		p, err := g.point(ctx, n+1, i/g.Repeats, repeat, s)
		if err = g.spared(&p, cell, i/g.Repeats, err); p.Run != "" || p.Error != "" {
			made = append(made, p)
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
	if err := g.nothing(made); err != nil {
		return err
	}
	now := time.Now().UTC().Round(0)
	s.Finished, s.Partial = &now, false
	return Save(s)
}

// spared keeps the failure of one of several servers as a point of its own: the
// others can be measured all the same.
func (g *Grid) spared(p *result.Point, cell *Cell, place int, err error) error {
	var target *bench.TargetError
	if !errors.As(err, &target) || !g.several() {
		return err
	}
	if p.Run == "" {
		*p = result.Point{Value: cell.Value, Text: cell.Text, Settings: cell.Settings, Place: place + 1, Repeat: 1}
	}
	p.Error = target.Error()
	return nil
}

// several reports whether the cells are on more than one server or model.
func (g *Grid) several() bool {
	for i := range g.Cells {
		if serverOf(&g.Cells[i].Plan) != serverOf(&g.Cells[0].Plan) {
			return true
		}
	}
	return false
}

func serverOf(p *bench.Plan) string { return p.Client.BaseURL + " " + p.Model }

// nothing is an error when several servers all failed.
func (g *Grid) nothing(made []result.Point) error {
	for i := range made {
		if made[i].Requests.OK > 0 || made[i].Error == "" {
			return nil
		}
	}
	if len(made) == 0 {
		return nil
	}
	return &bench.TargetError{What: "no server answered; the first: " + made[0].Error}
}

// more adds the next cell, if there is one.
func (g *Grid) more(made []result.Point) bool {
	if g.Next == nil {
		return false
	}
	c := g.Next(made)
	if c == nil {
		return false
	}
	g.Cells = append(g.Cells, *c)
	return true
}

// order is each repeat's cells in an order of its own.
func (g *Grid) order() []int {
	var order []int
	rng := random.New(g.Seed, 0x5357)
	for r := range g.Repeats {
		block := make([]int, len(g.Cells))
		for i := range block {
			block[i] = i*g.Repeats + r
		}
		for i := len(block) - 1; i > 0 && !g.Ordered; i-- {
			j := rng.Between(0, int64(i))
			block[i], block[j] = block[j], block[i]
		}
		order = append(order, block...)
	}
	return order
}

// server knows what the server of a plan is like at rest.
func (g *Grid) server(p *bench.Plan, s *result.Sweep) *Server {
	key := serverOf(p)
	if g.rest[key] == nil {
		g.rest[key] = &Server{Plan: *p, Dir: s.Dir, SettleTime: g.SettleTime}
	}
	return g.rest[key]
}

// point makes one run.
func (g *Grid) point(ctx context.Context, n, place, repeat int, s *result.Sweep) (result.Point, error) {
	cell := &g.Cells[place]
	rest := g.server(&cell.Plan, s)
	unsettled, _, err := rest.settle(ctx)
	if err != nil {
		return result.Point{}, err
	}
	name := fmt.Sprintf("%03d-%s-%s", n, run.Slug(g.Variable), slug(cell.Text))
	if g.Repeats > 1 {
		name += "-r" + strconv.Itoa(repeat)
	}
	plan := cell.Plan
	plan.Out = filepath.Join(s.Dir, name)
	plan.KeepGoing = rest.alive
	if plan.Name == "" {
		plan.Name = cell.name(g.Variable)
	}
	done, err := bench.Run(ctx, plan)
	if done == nil {
		return result.Point{}, err
	}
	rest.rest.after(done)
	p := PointOf(done, cell.Value)
	p.Text, p.Repeat, p.Run, p.Unsettled = cell.Text, repeat, name, unsettled
	p.Settings, p.Place = cell.Settings, place+1
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

// slug keeps what a folder may be called, numbers as they are.
func slug(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return run.Slug(text)
}

func (c *Cell) name(variable string) string {
	parts := []string{variable + " " + c.Text}
	for _, s := range c.Settings {
		if s.Name != variable {
			parts = append(parts, s.Name+" "+s.Value)
		}
	}
	return strings.Join(parts, ", ")
}
