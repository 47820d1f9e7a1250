package daemon

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/record/cost"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history/postgres"
	"tokenmeter/service/slo/notify"
	"tokenmeter/wire/api"
	"tokenmeter/wire/scrape"
)

// slo checks the part of the file that is about objectives with budgets.
func (c *checker) slo() {
	c.prices()
	c.store()
	spec := c.p.Config.SLO
	if spec == nil {
		return
	}
	c.p.SLO = slo.Compile(spec, c.doc, "slo")
	c.p.receivers = nil
	for i, n := range spec.Notify {
		receiver, err := notify.New(n, notify.Options{Env: c.env})
		if err != nil {
			c.addf(fmt.Sprintf("slo.notify[%d]", i), "%v", err)
			continue
		}
		c.p.receivers = append(c.p.receivers, receiver)
	}
	for i, o := range c.p.SLO {
		at := fmt.Sprintf("slo.objectives[%d]", i)
		if k := slices.Index(o.Sources, slo.Probe); k >= 0 && c.p.Config.Identity.probe() == "" && c.p.Config.Probes == nil {
			c.addf(fmt.Sprintf("%s.sources[%d]", at, k), "no request is a probe, as identity.probe says; leave out one of the two")
		}
		if slices.Contains(o.Sources, slo.Live) || slices.Contains(o.Sources, slo.Probe) {
			c.where(at, o.Where)
			c.occurs(at, o)
		}
	}
}

// store checks where the history is kept.
func (c *checker) store() {
	cfg := &c.p.Config
	switch {
	case postgres.Is(cfg.Store):
		if err := postgres.Check(cfg.Store); err != nil {
			c.addf("store", "%v", err)
		}
		if _, err := postgres.Name(cfg.StoreName); err != nil {
			c.addf("store_name", "%v", err)
		}
	case strings.Contains(cfg.Store, "://"):
		c.addf("store", "write the name of a file, or postgres://USER@HOST/DATABASE") // it may hold a password
	case cfg.StoreName != "":
		c.addf("store_name", "only a store in PostgreSQL has daemons with names; leave it out")
	}
}

// prices reads the price file.
func (c *checker) prices() {
	file := c.p.Config.Prices
	if file == "" {
		return
	}
	f, err := limitio.Open(file)
	if err != nil {
		c.addf("prices", "%v", err)
		return
	}
	defer f.Close()
	pricing, err := cost.Read(f, file)
	if err != nil {
		c.addf("prices", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	c.p.pricing = &pricing
}

// where says which restrictions no request can ever meet.
func (c *checker) where(at string, where map[string]string) {
	cfg := &c.p.Config
	known := map[string]func(name string) bool{
		"upstream": c.hasUpstream,
		"listener": func(name string) bool {
			return slices.ContainsFunc(cfg.Listeners, func(l Listener) bool { return l.Name == name })
		},
		"route": func(name string) bool {
			return slices.ContainsFunc(cfg.Routes, func(r Route) bool { return r.Name == name })
		},
		"api": func(name string) bool { _, err := api.ByName(name); return err == nil },
		"model": func(name string) bool {
			return len(cfg.Models) == 0 || name == "other" || slices.Contains(cfg.Models, name) ||
				slices.ContainsFunc(cfg.Routes, func(r Route) bool { return slices.Contains(r.Models, name) })
		},
	}
	for name, value := range where {
		if is := known[name]; is != nil && !is(value) {
			c.addf(at+".where."+name, "there is no %s %q, so this would never count anything", name, value)
		}
	}
}

// occurs says which objectives live traffic can't decide as it is configured.
func (c *checker) occurs(at string, o *slo.Objective) {
	cfg := &c.p.Config
	if f := o.Figure; f != nil {
		switch {
		case f.OfGPUs():
			c.ofGPUs(at, o)
		case f.OfDollars() && c.p.pricing == nil:
			if cfg.Prices == "" {
				c.addf(at+".objective", "what things cost is not known; name a price file in prices")
			}
		case f.OfDollars() && !c.p.pricing.Priced() && (len(o.By) > 0 || len(o.Where) > 0):
			c.addf(at, "GPU hours can't be shared out among requests; leave out by and where, or give prices of tokens")
		case f.Name == "goodput_per_s" && len(c.p.Objectives) == 0:
			c.addf(at+".objective", "what makes a request good is not said; write limits in objectives, like p95 ttft < 500ms")
		}
		return
	}
	if len(o.Promises) == 0 {
		return
	}
	switch o.Promises[0].Metric {
	case "check_pass":
		c.addf(at+".objective", "nobody checks the answers to live requests; say sources: [run], and hold runs against it")
	case "task_success":
		if cfg.Identity.Task == "" {
			c.addf(at+".objective", "which requests are one task is not said; name a header in identity.task")
		}
	}
}

// ofGPUs checks that somebody reads the GPUs, and often enough.
func (c *checker) ofGPUs(at string, o *slo.Objective) {
	read := false
	for i := range c.p.Config.Scrape {
		s := &c.p.Config.Scrape[i]
		if up := o.Where["upstream"]; up != "" && up != s.Upstream {
			continue
		}
		read = true
		if s.every() > o.Slice {
			c.addf(at+".slice", "a slice of %s is shorter than the %s between readings of %s", o.Slice, s.every(), s.called())
		}
	}
	if !read {
		c.addf(at+".objective", "nobody reads these GPUs; name an exporter in scrape, like url: http://127.0.0.1:9400/metrics for %s", scrape.DefaultMetric)
	}
}
