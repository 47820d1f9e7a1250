package compare

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Pareto places several sides by several figures: a side is dominated when
// another one is at least as good in all of them and better in one.
type Pareto struct {
	Axes   []Axis  `json:"axes"`
	Points []Point `json:"points"`
}

// Axis is one of the figures that sides are placed by, with its unit and its better
// direction.
type Axis struct {
	Metric string        `json:"metric"`
	Stat   string        `json:"stat"`
	Unit   string        `json:"unit"`
	Better metric.Better `json:"better"`
	Title  string        `json:"title"`

	of func(Group) opt
}

// Point is one side. A side that lacks a figure is not placed: it neither
// dominates nor is dominated.
type Point struct {
	Name        string   `json:"name"`
	Values      []opt    `json:"values"` // in the order of the axes
	Placed      bool     `json:"placed"`
	Dominated   bool     `json:"dominated"`
	DominatedBy []string `json:"dominated_by"`
}

// costs are the axes that a run's own prices give.
var costs = []struct {
	name, title string
	of          func(*metric.Cost) opt
}{
	{"usd_per_m_output", "USD per M output", func(c *metric.Cost) opt { return c.USDPerMOutput }},
	{"usd_per_m_total", "USD per M tokens", func(c *metric.Cost) opt { return c.USDPerMTotal }},
	{"usd_per_request", "USD per request", func(c *metric.Cost) opt { return c.USDPerRequest }},
}

// aliases of axes.
var aliases = map[string]string{"usd": "usd_per_m_output", "cost": "usd_per_m_output", "check": "check_pass",
	"errors": "error_rate", "throughput": "system_output_tps"}

// ParseAxes reads "check,decode_tps,usd", "p99 ttft, decode_tps".
func ParseAxes(text string) ([]Axis, error) {
	var axes []Axis
	for _, part := range strings.Split(text, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		if part == "" {
			continue
		}
		a, err := parseAxis(part)
		if err != nil {
			return nil, err
		}
		axes = append(axes, a)
	}
	if len(axes) < 2 {
		return nil, fmt.Errorf("pareto %q: name at least two figures, like check,decode_tps,usd", text)
	}
	return axes, nil
}

func parseAxis(part string) (Axis, error) {
	name, stat := part, ""
	if words := strings.Fields(part); len(words) == 2 {
		stat, name = words[0], words[1]
		if _, ok := percentileOf(name); ok || name == statMean {
			stat, name = name, stat
		}
	}
	if full, ok := aliases[name]; ok {
		name = full
	}
	for _, c := range costs {
		if c.name == name {
			return Axis{Metric: c.name, Unit: "USD", Better: metric.Lower, Title: c.title, of: func(g Group) opt { return costOf(g, c.of) }}, nil
		}
	}
	list, err := chosen([]string{name})
	if err != nil {
		return Axis{}, err
	}
	m := list[0]
	switch {
	case m.kind == ofShare:
		stat = statShare
	case m.kind == ofRate:
		stat = statRate
	case stat == "":
		stat = "p50"
	}
	if err := wrongStat(stat, stat, m); err != nil {
		return Axis{}, err
	}
	return Axis{Metric: m.key, Stat: stat, Unit: m.unit, Better: m.better, Title: m.title,
		of: func(g Group) opt { return valueOf(g, m, stat) }}, nil
}

// costOf is the mean cost of a side's runs; null when one of them has none.
func costOf(g Group, of func(*metric.Cost) opt) opt {
	sum := 0.0
	for _, r := range g.Runs {
		v, ok := of(&r.Facts.Prices).Get()
		if !ok {
			return opt{}
		}
		sum += v
	}
	return timeline.Maybe(sum/float64(len(g.Runs)), len(g.Runs) > 0)
}

func valueOf(g Group, m *measure, stat string) opt {
	v, _ := figureOf(g.Runs, m, stat)
	return v
}

// NewPareto places the sides.
func NewPareto(groups []Group, axes []Axis) *Pareto {
	p := &Pareto{Axes: axes}
	for _, g := range groups {
		pt := Point{Name: g.Name, Placed: true, DominatedBy: []string{}}
		for _, a := range axes {
			v := a.of(g)
			pt.Values = append(pt.Values, v)
			pt.Placed = pt.Placed && v.OK()
		}
		p.Points = append(p.Points, pt)
	}
	for i := range p.Points {
		for j := range p.Points {
			if i != j && p.dominates(&p.Points[j], &p.Points[i]) {
				p.Points[i].Dominated = true
				p.Points[i].DominatedBy = append(p.Points[i].DominatedBy, p.Points[j].Name)
			}
		}
	}
	return p
}

func (p *Pareto) dominates(a, b *Point) bool {
	if !a.Placed || !b.Placed {
		return false
	}
	better := false
	for i, axis := range p.Axes {
		x, y := a.Values[i].Or(0), b.Values[i].Or(0)
		if axis.Better == metric.Lower {
			x, y = -x, -y
		}
		if x < y {
			return false
		}
		better = better || x > y
	}
	return better
}

// Front are the names of the placed sides that nothing dominates.
func (p *Pareto) Front() []string {
	var list []string
	for _, pt := range p.Points {
		if pt.Placed && !pt.Dominated && !slices.Contains(list, pt.Name) {
			list = append(list, pt.Name)
		}
	}
	return list
}
