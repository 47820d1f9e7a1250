package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"tokenmeter/wire/api"
)

// route is a Route that is in use.
type route struct {
	Route
	api     *api.API // nil: the path tells
	rules   []pathRule
	targets []*target
	mu      sync.Mutex    // of the targets' credits
	inUse   *atomic.Int64 // requests in flight, those of the route before a reload among them
}

// target is an upstream's share of a route.
type target struct {
	up     *upstream
	weight int
	credit int
}

// pick returns the next upstream in turn, by weight, sparing sick ones and
// those that were tried. When all are sick the least bad one is taken: a
// request must never fail because of a suspicion.
func (r *route) pick(now int64, tried []*upstream) *upstream {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, healthy := range []bool{true, false} {
		var best *target
		total := 0
		for _, t := range r.targets {
			if t.weight <= 0 || slices.Contains(tried, t.up) || healthy && !t.up.healthy(now) {
				continue
			}
			total += t.weight
			t.credit += t.weight
			if best == nil || t.credit > best.credit {
				best = t
			}
		}
		if best != nil {
			best.credit -= total
			return best.up
		}
	}
	return nil
}

// matches a path or a model against a pattern, in which each * stands for any text,
// at its beginning for one without //, which may name another host.
func matches(pattern, s string) bool {
	rest, anyPrefix := strings.CutPrefix(pattern, "*")
	if anyPrefix && rest != "" && strings.Contains(s, "//") {
		return false
	}
	part, pattern, more := strings.Cut(pattern, "*")
	if !more {
		return part == s
	}
	s, ok := strings.CutPrefix(s, part)
	for ok && more {
		if part, pattern, more = strings.Cut(pattern, "*"); more {
			_, s, ok = strings.Cut(s, part)
		}
	}
	return ok && strings.HasSuffix(s, part)
}

func matchesAny(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, s) })
}

// routeOf is the first of the routes that takes the model. What is no completion
// and names no model goes to the first one. Where all have models, a route takes what
// can mean none but those.
func (c *call) routeOf(routes []*route) *route {
	gate := !slices.ContainsFunc(routes, func(r *route) bool { return len(r.Models) == 0 })
	takes := func(r *route) bool {
		what, besides := besides{}, false
		if gate {
			what, besides = c.barred(r)
		}
		if besides {
			c.besides = what
		}
		return !besides
	}
	for _, r := range routes {
		if len(r.Models) == 0 || c.asked.of(r.Models) && takes(r) {
			return r
		}
	}
	if c.api == nil && c.asked.model == "" && !c.asked.vague && takes(routes[0]) {
		return routes[0]
	}
	return nil
}

// of reports whether all that may be the model is among these; * is any.
func (a *asked) of(models []string) bool {
	return slices.Contains(models, "*") || !a.vague && matchesAny(models, a.model) &&
		!slices.ContainsFunc(a.also, func(name string) bool { return !matchesAny(models, name) })
}

// badPath reports whether a path, decoded, could mean another one to the upstream than
// to the allow-list: it has segments that lead elsewhere, what ends a path, a line or a
// text where it is decoded too early or by another rule, or what is encoded still, or
// drops out. Some servers decode what they have decoded, and drop parameters behind a
// semicolon, and blanks and dots at the end of a segment.
func badPath(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, `\?#%;`) || !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		if strings.TrimRight(segment, ". ") != segment {
			return true
		}
	}
	return false
}

// inUseOf is the count of a route's requests: that of the route of the same name
// before, or a new one.
func (p *Proxy) inUseOf(name string) *atomic.Int64 {
	if p != nil {
		for _, r := range p.routes {
			if r.Name == name {
				return r.inUse
			}
		}
	}
	return new(atomic.Int64)
}

// newRoute checks a route and ties it to its upstreams.
func newRoute(cfg Route, upstreams map[string]*upstream, inUse *atomic.Int64) (*route, error) {
	r := &route{Route: cfg, inUse: inUse}
	r.Usage, r.Leave = cmp.Or(r.Usage, UsageStrip), cmp.Or(r.Leave, LeaveCancel)
	r.MaxBody = cmp.Or(r.MaxBody, 32<<20)
	r.DrainTime, r.DrainBytes = cmp.Or(r.DrainTime, defaultDrain), cmp.Or(r.DrainBytes, 16<<20)
	if len(r.Paths) == 0 {
		r.Paths = DefaultPaths()
	}
	for _, text := range r.Paths {
		rule, err := parsePath(text)
		if err != nil {
			return nil, fmt.Errorf("route %q: %w", cfg.Name, err)
		}
		r.rules = append(r.rules, rule)
	}
	if cfg.API != "" {
		a, err := api.ByName(cfg.API)
		if err != nil {
			return nil, fmt.Errorf("route %q: %w", cfg.Name, err)
		}
		r.api = a
	}
	for _, s := range cfg.Upstreams {
		up := upstreams[s.Upstream]
		if up == nil {
			return nil, fmt.Errorf("route %q: there is no upstream %q", cfg.Name, s.Upstream)
		}
		r.targets = append(r.targets, &target{up: up, weight: s.Weight})
	}
	if !slices.ContainsFunc(r.targets, func(t *target) bool { return t.weight > 0 }) {
		return nil, fmt.Errorf("route %q has no upstream with a weight above 0", cfg.Name)
	}
	return r, nil
}
