package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"time"

	"tokenmeter/service/proxy"
	"tokenmeter/service/slo"
	"tokenmeter/wire/scrape"
)

// Scrape is an exporter that is read.
type Scrape struct {
	Name     string            `yaml:"name" doc:"what logs and metrics call it; default: host and port of its URL"`
	URL      string            `yaml:"url" required:"true" doc:"a page in Prometheus's text format, like http://127.0.0.1:9400/metrics"`
	Metric   string            `yaml:"metric" doc:"gauge that says how busy a GPU is; default DCGM_FI_DEV_GPU_UTIL"`
	Scale    string            `yaml:"scale" enum:"percent|ratio" doc:"what it shows of a full GPU, 100 or 1; default percent, of DCGM_FI_PROF_… and …_ratio ratio"`
	Labels   map[string]string `yaml:"labels" doc:"only series with these labels, like gpu: 0"`
	Upstream string            `yaml:"upstream" doc:"whose GPUs they are, for objectives by upstream"`
	Every    time.Duration     `yaml:"every" doc:"between readings; default 10s"`
	Timeout  time.Duration     `yaml:"timeout" doc:"of one answer; default 5s"`
	KeyEnv   string            `yaml:"key_env" doc:"environment variable with a bearer token"`
	KeyFile  string            `yaml:"key_file" doc:"file with it"`
	CAFile   string            `yaml:"ca_file" doc:"PEM file of the authority of its certificate"`
}

// every is the time between readings.
func (s *Scrape) every() time.Duration { return cmp.Or(s.Every, scrape.DefaultEvery) }

// called is what it is called: its URL may hold a password.
func (s *Scrape) called() string {
	if s.Name != "" {
		return s.Name
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "the exporter"
	}
	return u.Host
}

func (c *checker) scrape() {
	seen := map[string]bool{}
	for i := range c.p.Config.Scrape {
		s, at := &c.p.Config.Scrape[i], fmt.Sprintf("scrape[%d]", i)
		u, err := url.Parse(s.URL)
		switch {
		case s.URL == "":
			continue
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			c.addf(at+".url", "this is no URL like http://127.0.0.1:9400/metrics")
			continue
		case u.User != nil:
			c.addf(at+".url", "passwords do not belong here; a bearer token goes into key_env or key_file")
		}
		name := s.called()
		if seen[name] {
			c.addf(at, "something named %q is read already; give each a name", name)
		}
		seen[name] = true
		c.positive(at+".every", s.Every)
		c.positive(at+".timeout", s.Timeout)
		if s.Every > 0 && s.Every < time.Second {
			c.addf(at+".every", "it must be at least 1s")
		}
		if s.Upstream != "" && !c.hasUpstream(s.Upstream) {
			c.addf(at+".upstream", "there is no upstream %q", s.Upstream)
		}
		t := scrape.Target{Name: name, URL: s.URL, Metric: s.Metric, Labels: s.Labels, Every: s.Every, Timeout: s.Timeout, Header: http.Header{}}
		switch s.Scale {
		case "percent":
			t.Full = 100
		case "ratio":
			t.Full = 1
		}
		if key := c.secret(at, s.KeyEnv, s.KeyFile, "key_env", "key_file"); key != "" {
			t.Header.Set("Authorization", "Bearer "+key)
		}
		if s.CAFile != "" {
			t.TLS = &tls.Config{RootCAs: c.authorities(at+".ca_file", s.CAFile)}
		}
		c.p.targets = append(c.p.targets, t)
	}
}

func (c *checker) hasUpstream(name string) bool {
	return slices.ContainsFunc(c.p.Config.Upstreams, func(u Upstream) bool { return u.Name == name })
}

// scrapers read exporters, for as long as their configuration stays.
type scrapers struct {
	config  []Scrape
	targets []scrape.Target
	readers []*scrape.Reader
	stop    context.CancelFunc
	ended   sync.WaitGroup
}

// same reports whether a plan wants what is being read.
func (s *scrapers) same(plan *Plan) bool {
	return reflect.DeepEqual(s.config, plan.Config.Scrape) && slices.EqualFunc(s.targets, plan.targets, sameTarget)
}

func sameTarget(a, b scrape.Target) bool {
	if !proxy.SameTLS(a.TLS, b.TLS) {
		return false
	}
	a.TLS, b.TLS = nil, nil
	return reflect.DeepEqual(a, b)
}

// scrape reads the exporters of a plan for the objectives of b.
func (d *Daemon) scrape(plan *Plan, b *budgets) *scrapers {
	ctx, stop := context.WithCancel(context.Background())
	s := &scrapers{config: plan.Config.Scrape, targets: plan.targets, stop: stop}
	for i, t := range plan.targets {
		r, labels := scrape.New(t), slo.Labels{"upstream": plan.Config.Scrape[i].Upstream}
		s.readers = append(s.readers, r)
		s.ended.Go(func() {
			r.Run(ctx, func(readings []float64) {
				for _, v := range readings {
					b.watch.Reading("gpu_utilization", slo.Live, labels, v)
				}
			}, func(err error) {
				if err != nil {
					d.log.Warn("GPUs can't be read; until they are, there is a gap", "scrape", t.Name, "error", err.Error())
					return
				}
				d.log.Info("GPUs are read again", "scrape", t.Name)
			})
		})
	}
	return s
}

func (s *scrapers) close() {
	if s != nil {
		s.stop()
		s.ended.Wait()
	}
}
