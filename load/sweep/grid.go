package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/load/bench"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// The other variables of a sweep that have a name of their own.
const (
	InputTokens  = "input_tokens"
	OutputTokens = "output_tokens"
	Depth        = "depth" // tokens of context before what is measured
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

	// Searched is the server that a search has loaded into the same sweep: what is
	// known of it at rest still counts. Nil: there was no search.
	Searched *Server

	servers []*Server // one a server and model
}

// Run measures the points into the sweep's folder, which Create has made, and
// saves sweep.json after each. The error of the target ends it only when nothing
// could be measured until then; later ones are points with an Error.
func (g *Grid) Run(ctx context.Context, s *result.Sweep) error {
	g.Repeats = max(g.Repeats, 1)
	g.servers = nil
	before := len(s.Points) // probes of a search
	if g.Searched != nil {
		g.Searched.SettleTime, g.Searched.SettleTotal = g.SettleTime, 0
		g.servers = append(g.servers, g.Searched)
		before = max(before, g.Searched.probes)
	}
	order := g.order()
	s.Variable, s.Planned = g.Variable, len(s.Points)+len(order)
	var made []result.Point
	for n := 0; ; n++ {
		if n == len(order) {
			more := g.more(made)
			if !more {
				break
			}
			order = append(order, (len(g.Cells)-1)*g.Repeats)
			s.Planned++
		}
		place, repeat := order[n]/g.Repeats, order[n]%g.Repeats+1
		if g.Begins != nil {
			g.Begins(&g.Cells[place], n, len(order))
		}
		p, err := g.point(ctx, before+n+1, place, repeat, s)
		if p.Run != "" || p.Error != "" {
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
	for _, known := range g.servers {
		if serverOf(&known.Plan) == serverOf(p) {
			return known
		}
	}
	fresh := &Server{Plan: *p, Dir: s.Dir, SettleTime: g.SettleTime}
	g.servers = append(g.servers, fresh)
	return fresh
}

// settle waits until a server is at rest. Its other models may share the machine: what
// they were left to do has to be over too.
func (g *Grid) settle(ctx context.Context, server *Server) (says string, err error) {
	for _, other := range g.servers {
		if other == server || !other.rest.left || other.Plan.Client.BaseURL != server.Plan.Client.BaseURL {
			continue
		}
		if says, _, err = other.settle(ctx); err != nil {
			return says, err
		}
	}
	own, _, err := server.settle(ctx)
	return cmp.Or(own, says), err
}

// point makes one run. Where one of several servers fails, or one that answered before,
// the point says so, and the others can be measured all the same.
func (g *Grid) point(ctx context.Context, n, place, repeat int, s *result.Sweep) (result.Point, error) {
	cell := &g.Cells[place]
	server := g.server(&cell.Plan, s)
	name := fmt.Sprintf("%03d-%s-%s", n, run.Slug(g.Variable), slug(cell.Text))
	if g.Repeats > 1 {
		name += "-r" + strconv.Itoa(repeat)
	}
	p, err := g.measure(ctx, cell, server, name, s)
	p.Value, p.Text, p.Settings, p.Place, p.Repeat = cell.Value, cell.Text, cell.Settings, place+1, repeat
	var target *bench.TargetError
	if !errors.As(err, &target) {
		if err != nil && p.Run != "" && p.Requests.Total == 0 && !errors.Is(err, bench.ErrInterrupted) {
			p.Error = err.Error()
		}
		return p, err
	}
	spared := server.alive || g.several()
	if spared || p.Run != "" {
		p.Error, p.TargetFailed = target.Error(), !target.Own
	}
	if spared {
		err = nil
	}
	return p, err
}

// measure is the run of a point, in a folder of that name.
func (g *Grid) measure(ctx context.Context, cell *Cell, server *Server, name string, s *result.Sweep) (p result.Point, err error) {
	var probed Probed
	if probed.Unsettled, err = g.settle(ctx, server); err != nil {
		return p, err
	}
	plan := cell.Plan
	plan.Out = filepath.Join(s.Dir, name)
	plan.Name = cmp.Or(plan.Name, cell.name(g.Variable))
	busyStreams(&plan)
	done, err := server.run(ctx, plan, &probed)
	if done == nil {
		return p, err
	}
	p = PointOf(done, cell.Value)
	p.Run, p.Unsettled = name, probed.Unsettled
	neverSteady(s, done, cell.name(g.Variable))
	if s.Target == (run.Target{}) {
		s.Target = done.Target
	}
	if err == nil && server.silent(done) {
		err = &bench.TargetError{URL: plan.Client.BaseURL, What: fmt.Sprintf("the server answered no short request before the first point, and none of %d in it", done.Requests.Total),
			Hint: "look whether it is a model server and is ready"}
	}
	return p, err
}

// neverSteady warns of the points whose load was never the one that they are called after.
func neverSteady(s *result.Sweep, r *run.Run, name string) {
	const warning = "never_steady"
	if !slices.ContainsFunc(r.Warnings, func(w metric.Warning) bool { return w.Name == warning }) {
		return
	}
	i := slices.IndexFunc(s.Warnings, func(w metric.Warning) bool { return w.Name == warning })
	if i < 0 {
		i = len(s.Warnings)
		s.Warnings = append(s.Warnings, metric.Warning{Name: warning, Says: "All requests of these points were sent before most had ended, so that their rate never was a steady load, and their tokens/s may tell how few requests there were, not what the server can do: "})
	} else if strings.Contains(s.Warnings[i].Says, name+".") || strings.Contains(s.Warnings[i].Says, name+";") {
		return
	} else {
		s.Warnings[i].Says = strings.TrimSuffix(s.Warnings[i].Says, ".") + "; "
	}
	s.Warnings[i].Says += name + "."
}

// busyStreams raises the requests of a point to one a stream, or one conversation: with
// fewer, the load that the point is called after would never be there.
func busyStreams(p *bench.Plan) {
	closed := p.Rate == 0 && p.Trace == nil && len(p.Stages) == 0
	p.EveryStream = closed
	if !closed || p.Requests == 0 || p.Requests >= p.Concurrency {
		return
	}
	if p.Log != nil {
		fmt.Fprintf(p.Log, "%s: %s can't keep %d streams busy, so %d are sent\n", p.Name, metric.Plural(int64(p.Requests), "request"), p.Concurrency, p.Concurrency)
	}
	p.Requests = p.Concurrency
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
