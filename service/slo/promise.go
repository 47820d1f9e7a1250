package slo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tokenmeter/record/objective"
	"tokenmeter/service/traffic"
)

// promise reads the objective's text, and what it makes of target and slice.
func (c *compiler) promise(s *ObjectiveSpec, o *Objective, path string) bool {
	if f, ok := parseFigure(s.Objective); ok {
		o.Figure = f
		return c.figure(s, o, path)
	}
	parsed, err := objective.ParseAll([]string{s.Objective})
	if err != nil {
		c.badText(err, path)
		return false
	}
	main := slices.IndexFunc(parsed, func(p objective.Objective) bool { return !p.Criterion })
	switch {
	case len(parsed) == 1 && main < 0: // ttft:500 alone is every request's limit
		main = 0
	case main < 0:
		parsed = append([]objective.Objective{{Metric: "goodput", Text: "goodput"}}, parsed...)
		main = 0
		if s.Target == nil {
			c.fail(path+".objective", "limits need a target: write goodput > 99%% before them, or add target")
			return false
		}
	}
	parsed[0], parsed[main] = parsed[main], parsed[0]
	p := parsed[0]
	if len(parsed) > 1 && p.Metric != "goodput" {
		c.fail(path+".objective", "one objective has one promise; make several objectives, or a goodput of several limits")
		return false
	}
	o.Promises, o.Text = parsed, s.textOf(parsed)
	if f, ok := figureOf(p); ok {
		o.Figure, o.Promises = f, nil
		return c.figure(s, o, path)
	}
	if !p.OfRequests() && p.Metric != "task_success" {
		c.fail(path+".objective", "%s has no error budget: it is no share of requests and no figure of a slice", p.Metric)
		return false
	}
	return c.target(s, o, p, path)
}

// textOf is the normalised text of a promise and its criteria.
func (s *ObjectiveSpec) textOf(parsed []objective.Objective) string {
	texts := make([]string, len(parsed))
	for i, p := range parsed {
		texts[i] = p.Text
	}
	return strings.Join(texts, " and ")
}

func (c *compiler) badText(err error, path string) {
	var list objective.Errors
	if errors.As(err, &list) {
		for _, e := range list {
			c.badText(e, path)
		}
		return
	}
	var e *objective.Error
	if errors.As(err, &e) {
		what := e.What
		if e.Hint != "" {
			what += "; " + e.Hint
		}
		c.fail(path+".objective", "%s", what)
		return
	}
	c.fail(path+".objective", "%v", err)
}

// has0 reports whether a limit of 0 means something: a share of nothing.
func has0(p objective.Objective) bool { return p.Metric == "error_rate" }

// target works out which share must be good.
func (c *compiler) target(s *ObjectiveSpec, o *Objective, p objective.Objective, path string) bool {
	promised, has := p.Target()
	if p.Stat == "mean" {
		c.fail(path+".objective", "a mean has no error budget; promise a percentile, like p95 %s %s …", p.Metric, p.Op)
		return false
	}
	if p.Op == "<" && p.Limit == 0 && !has0(p) {
		c.fail(path+".objective", "nothing is below 0, so this can never be met")
		return false
	}
	promised = decimal(promised)
	has = has && p.Op != "" // limits without a promise get their target from elsewhere
	if p.Metric == "itl" || p.Metric == "icl" {
		o.Kind = Tokens
	} else {
		o.Kind = Events
	}
	if s.Slice > 0 && p.Metric == "task_success" {
		c.fail(path+".slice", "a task has no slice; leave it out, or make slices of requests, like availability >= 99%%")
		return false
	}
	if s.Slice > 0 {
		o.Kind, o.SliceShare = Slices, promised
		if !has {
			o.SliceShare = 1
		}
		if !c.sliced(s, path) {
			return false
		}
		has = false
	} else if s.Idle != "" {
		c.fail(path+".idle", "only slices can be idle; add slice, like slice: 1m")
	}
	o.Target = promised
	switch {
	case s.Target != nil && has && decimal(float64(*s.Target)) != promised && p.Stat != "max" && p.Stat != "min":
		c.fail(path+".target", "the objective says %s already; leave out target, or write the limit without %s", percent(promised), p.Stat)
		return false
	case s.Target != nil:
		o.Target = float64(*s.Target)
	case !has && c.doc.Failed(c.path(path+".target")): // told already
		return false
	case !has:
		c.fail(path+".objective", "which share must be good? Write a percentile, like p99 %s, or add target: 99%%", strings.TrimPrefix(o.Text, p.Stat+" "))
		return false
	}
	if o.Target >= 1 || o.Target <= 0 {
		where := path + ".target"
		if s.Target == nil {
			where = path + ".objective"
		}
		c.fail(where, "a target of %s has no error budget; promise more than 0 and less than 100 %%", percent(o.Target))
		return false
	}
	return true
}

func (c *compiler) figure(s *ObjectiveSpec, o *Objective, path string) bool {
	o.Kind, o.Text = Slices, o.Figure.text
	switch {
	case s.Slice == 0:
		c.fail(path+".objective", "%s is judged in slices of time: add slice, like slice: 1m, and target, like target: 99%%", o.Figure.Name)
		return false
	case s.Target == nil:
		c.fail(path+".slice", "which share of the slices must be good? Add target, like target: 99%%")
		return false
	case *s.Target <= 0 || *s.Target >= 1:
		c.fail(path+".target", "promise more than 0 and less than 100 %%")
		return false
	}
	if why := o.Figure.impossible(); why != "" {
		c.fail(path+".objective", "%s", why)
		return false
	}
	o.Target = float64(*s.Target)
	if o.Figure.OfGPUs() && !c.ofGPUs(s, o, path) {
		return false
	}
	return c.sliced(s, path)
}

// ofGPUs checks what readings of GPUs can be told apart by: they are nobody's
// requests.
func (c *compiler) ofGPUs(s *ObjectiveSpec, o *Objective, path string) bool {
	ok := true
	if !slices.Equal(o.Sources, []Source{Live}) {
		c.fail(path+".sources", "readings of GPUs count as live; leave out sources")
		ok = false
	}
	for i, by := range s.By {
		if by != "upstream" {
			c.fail(fmt.Sprintf("%s.by[%d]", path, i), "readings of GPUs have no %s; judge them by upstream", by)
			ok = false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Where)) {
		if name != "upstream" {
			c.fail(path+".where."+name, "readings of GPUs have no %s; restrict them to an upstream", name)
			ok = false
		}
	}
	return ok
}

// sliced checks the length of slices: they must fit the tiers of history.
func (c *compiler) sliced(s *ObjectiveSpec, path string) bool {
	d := time.Duration(s.Slice)
	if d < 10*time.Second || d > time.Hour || time.Hour%d != 0 || d%(10*time.Second) != 0 {
		c.fail(path+".slice", "%s: choose 10s, 30s, 1m, 5m, 10m, 15m, 30m or 1h", span(d))
		return false
	}
	return true
}

// hash names the counters that the objective reads.
func (o *Objective) hash() {
	text := o.Text
	if o.Kind != Slices && o.Promises[0].Stat != "" && o.Kind == Tokens {
		text += "\ngaps"
	}
	for _, name := range slices.Sorted(maps.Keys(o.Where)) {
		text += "\n" + name + "=" + o.Where[name]
	}
	if len(o.By) > 0 {
		text += "\nby " + strings.Join(o.By, ",")
	}
	o.Hash = traffic.Hash(text)
	if o.Kind == Slices {
		o.Raw = traffic.Hash(text + "\nraw")
		o.Hash = traffic.Hash(fmt.Sprintf("%s\nslices of %s, idle %s", text, o.Slice, o.Idle))
	}
}
