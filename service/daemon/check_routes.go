package daemon

import (
	"fmt"
	"slices"

	"tokenmeter/base/clock"
	"tokenmeter/base/spelling"
	"tokenmeter/service/proxy"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
)

// DefaultPaths are let through by a route that names none.
func DefaultPaths() []string { return proxy.DefaultPaths() }

func (c *checker) routes() {
	cfg := &c.p.Config
	seen := map[string]bool{}
	for i := range cfg.Routes {
		r, at := &cfg.Routes[i], fmt.Sprintf("routes[%d]", i)
		c.once(seen, at, "a route", r.Name, r.Name)
		for k, name := range r.Listeners {
			if !slices.ContainsFunc(cfg.Listeners, func(l Listener) bool { return l.Name == name }) {
				c.addf(fmt.Sprintf("%s.listeners[%d]", at, k), "there is no listener %q%s", name, spelling.Meant(name, namesOf(cfg.Listeners, func(l Listener) string { return l.Name })))
			}
		}
		for k, p := range r.Paths {
			if err := proxy.CheckPath(p); err != nil {
				c.addf(fmt.Sprintf("%s.paths[%d]", at, k), "%v", err)
			}
		}
		c.shares(at, r)
		if r.API != "" {
			if _, err := api.ByName(r.API); err != nil {
				c.addf(at+".api", "%v", err)
			}
		}
		c.positive(at+".drain.time", r.Drain.Time)
		c.positive(at+".limits.time", r.Limits.Time)
		c.notNegative(at+".limits.streams", r.Limits.Streams)
	}
	for i, l := range cfg.Listeners {
		if len(cfg.Routes) > 0 && !slices.ContainsFunc(cfg.Routes, func(r Route) bool { return on(&r, l.Name) }) {
			c.addf(fmt.Sprintf("listeners[%d]", i), "no route is on this listener")
		}
	}
}

func on(r *Route, listener string) bool {
	return len(r.Listeners) == 0 || slices.Contains(r.Listeners, listener)
}

func (c *checker) shares(at string, r *Route) {
	any := false
	for k, s := range r.Upstreams {
		place := fmt.Sprintf("%s.upstreams[%d]", at, k)
		if s.Name != "" && !c.hasUpstream(s.Name) {
			c.addf(place+".name", "there is no upstream %q%s", s.Name, spelling.Meant(s.Name, namesOf(c.p.Config.Upstreams, func(u Upstream) string { return u.Name })))
		}
		weight := given(s.Weight, 1)
		if weight < 0 {
			c.addf(place+".weight", "a weight below 0")
		}
		any = any || weight != 0
	}
	if !any && c.doc.Has(at+".upstreams") {
		c.addf(at+".upstreams", "no upstream has a weight above 0")
	}
}

func namesOf[T any](list []T, name func(T) string) []string {
	var names []string
	for _, x := range list {
		names = append(names, name(x))
	}
	return names
}

// proxyConfig is the configuration of one listener's proxy.
func (p *Plan) proxyConfig(listener string, clk *clock.Clock, sink traffic.Sink) proxy.Config {
	cfg := proxy.Config{Listener: listener, Upstreams: p.upstreams, Models: p.Config.Models, Clock: clk, Sink: sink,
		Session: proxy.Identity(p.Config.Identity.Session), Task: proxy.Identity(p.Config.Identity.Task), Parent: proxy.Identity(p.Config.Identity.Parent), Probe: p.Config.Identity.probe(), Secret: p.secret, Keep: given(p.Config.Keep, 0.01)}
	for _, l := range p.listeners {
		if l.Name == listener {
			cfg.Keys, cfg.Hosts = l.keys, l.Hosts
			if cfg.Hosts == nil && local(l.Listen) {
				cfg.Hosts = []string{}
			}
			cfg.MaxStreams, cfg.BodyTimeout, cfg.ReaderTimeout = l.Streams, l.BodyTimeout, l.ReaderTimeout
		}
	}
	for i := range p.Config.Routes {
		r := &p.Config.Routes[i]
		if !on(r, listener) {
			continue
		}
		made := proxy.Route{Name: r.Name, Paths: r.Paths, Models: r.Models, API: r.API, Usage: proxy.Usage(r.Usage), Leave: proxy.Leave(r.Leave),
			DrainTime: r.Drain.Time, DrainBytes: int64(r.Drain.Size), MaxStreams: r.Limits.Streams, MaxBody: int64(r.Limits.Body), Timeout: r.Limits.Time,
			KeepHost: r.KeepHost, HideClient: r.HideClient, KeepEncoding: r.KeepCoding}
		for _, s := range r.Upstreams {
			made.Upstreams = append(made.Upstreams, proxy.Share{Upstream: s.Name, Weight: given(s.Weight, 1)})
		}
		cfg.Routes = append(cfg.Routes, made)
	}
	return cfg
}
