package slo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tokenmeter/base/config"
	"tokenmeter/base/pattern"
)

// DefaultWindow is the window of objectives that name none.
const DefaultWindow = 28 * 24 * time.Hour

// Dimensions are what objectives can be restricted to or judged by. Their
// values come from the configuration, so they are few.
func Dimensions() []string { return []string{"api", "listener", "model", "route", "upstream"} }

// Compile turns a specification into objectives. What is wrong is added to the
// document, at the place where the specification stands in it ("slo", or "" for
// a file of its own).
func Compile(spec *Spec, doc *config.Document, at string) []*Objective {
	c := compiler{spec: spec, doc: doc, at: at, zone: time.UTC}
	if spec.Timezone != "" {
		zone, err := time.LoadLocation(spec.Timezone)
		if err != nil || spec.Timezone == "Local" {
			c.fail("timezone", "%q is no time zone; write one like Europe/Berlin", spec.Timezone)
		} else {
			c.zone = zone
		}
	}
	if len(spec.Objectives) == 0 && (c.has("objectives") || at != "" || doc.Err() == nil) {
		c.fail("objectives", "there is no objective")
	}
	var all []*Objective
	names := map[string]bool{}
	for i := range spec.Objectives {
		path := fmt.Sprintf("objectives[%d]", i)
		o := c.objective(&spec.Objectives[i], path)
		if o.Name != "" && names[o.Name] {
			c.fail(path+".name", "there are two objectives called %q", o.Name)
		}
		names[o.Name] = true
		all = append(all, o)
	}
	c.corrections(all)
	c.notify()
	return all
}

type compiler struct {
	spec *Spec
	doc  *config.Document
	at   string
	zone *time.Location
}

func (c *compiler) path(p string) string {
	if c.at == "" {
		return p
	}
	return c.at + "." + p
}

func (c *compiler) fail(path, format string, args ...any) {
	c.doc.Addf(c.path(path), format, args...)
}

func (c *compiler) has(path string) bool { return c.doc.Has(c.path(path)) }

var nameForm = pattern.Lazy(`^[a-z0-9][a-z0-9._-]{0,62}$`)

func (c *compiler) objective(s *ObjectiveSpec, path string) *Objective {
	o := &Objective{Name: s.Name, About: s.About, Slice: time.Duration(s.Slice), Idle: s.Idle, StaleAfter: 10 * time.Minute}
	if s.Name != "" && !nameForm().MatchString(s.Name) {
		c.fail(path+".name", "%q is no name; use small letters, digits, dots, dashes and underscores", s.Name)
	}
	if s.StaleAfter > 0 {
		o.StaleAfter = time.Duration(s.StaleAfter)
	}
	o.Idle = cmp.Or(o.Idle, "exclude")
	c.window(s, o, path)
	c.population(s, o, path)
	switch {
	case s.Name == "" && s.Objective == "" && !c.has(path+".name") && !c.has(path+".objective"):
		c.fail(path, "there is nothing in it; an objective has a name and an objective")
	case s.Name == "" && c.has(path+".name"):
		c.fail(path+".name", "the name is empty")
	}
	if s.Objective == "" {
		if c.has(path + ".objective") {
			c.fail(path+".objective", "the objective is empty; write one like p99 tpot < 120ms")
		}
		return o
	}
	if !c.promise(s, o, path) {
		return o
	}
	for i := range o.Promises {
		if o.Promises[i].OfProxies() && slices.Contains(o.Sources, Run) {
			c.fail(path+".objective", "runs have no %s, only live requests; say sources: [live], or ttft", o.Promises[i].Metric)
		}
	}
	o.Budget = decimal(1 - o.Target)
	o.MinEvents = s.MinEvents
	switch {
	case s.MinEvents < 0:
		c.fail(path+".min_events", "it can't be negative")
	case s.MinEvents == 0:
		o.MinEvents = fewestEvents(o.Budget)
	}
	o.hash()
	c.alerts(s, o, path)
	return o
}

func (c *compiler) window(s *ObjectiveSpec, o *Objective, path string) {
	o.Window = Window{Rolling: DefaultWindow, Location: c.zone}
	switch {
	case s.Calendar != "" && s.Window > 0:
		c.fail(path+".window", "a window is rolling or of the calendar, not both; leave out one of the two")
	case s.Calendar != "":
		o.Window = Window{Calendar: Calendar(s.Calendar), Location: c.zone}
	case s.Window > 0:
		o.Window.Rolling = time.Duration(s.Window)
		if o.Window.Rolling < time.Hour {
			c.fail(path+".window", "it must be at least 1h")
		}
	}
}

func (c *compiler) population(s *ObjectiveSpec, o *Objective, path string) {
	o.Sources = c.sources(s.Sources, path)
	if len(o.Sources) == 0 {
		o.Sources = []Source{Live}
	}
	for i, by := range s.By {
		if !slices.Contains(Dimensions(), by) || slices.Contains(s.By[:i], by) {
			c.fail(fmt.Sprintf("%s.by[%d]", path, i), "%q: choose among %s, each once", by, strings.Join(Dimensions(), ", "))
		}
	}
	o.By, o.Where = s.By, s.Where
	for _, name := range slices.Sorted(maps.Keys(s.Where)) {
		if !slices.Contains(Dimensions(), name) {
			c.fail(path+".where."+name, "%q: choose among %s", name, strings.Join(Dimensions(), ", "))
		}
	}
}

func (c *compiler) sources(names []string, path string) []Source {
	var list []Source
	for i, name := range names {
		if !slices.Contains(Sources(), Source(name)) || slices.Contains(list, Source(name)) {
			c.fail(fmt.Sprintf("%s.sources[%d]", path, i), "%q: choose among live, probe and run, each once", name)
			continue
		}
		list = append(list, Source(name))
	}
	return list
}
