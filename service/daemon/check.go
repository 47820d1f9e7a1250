package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/base/config"
	"tokenmeter/base/limitio"
	"tokenmeter/load/probe"
	"tokenmeter/record/cost"
	"tokenmeter/record/objective"
	"tokenmeter/service/proxy"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/notify"
	"tokenmeter/service/traffic/rows"
	"tokenmeter/wire/scrape"
)

// Plan is a configuration that was read and found good.
type Plan struct {
	Config     Config
	Objectives []objective.Objective
	SLO        []*slo.Objective // with error budgets

	receivers []*notify.Notifier
	pricing   *cost.Pricing
	targets   []scrape.Target
	bucket    *rows.Bucket
	listeners []listen
	upstreams []proxy.Upstream
	tellings  []telling // of upstreams
	probed    []probe.Target
	admin     listen
	token     string
	otelKey   string
	otelExtra string // OTEL_EXPORTER_OTLP_HEADERS
	otelTLS   *tls.Config
	secret    []byte
}

// listen is an address that is served.
type listen struct {
	Listener
	tls  *tls.Config // nil: in the clear
	keys []proxy.Key
}

// Load reads the file and checks everything that can be without opening an
// address. The error has all mistakes, one a line, with line and column.
func Load(path string, env func(string) (string, bool)) (*Plan, error) {
	data, err := limitio.File(path, mostFile)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, env)
}

// What files may be long: the configuration, and certificates and keys.
const (
	mostFile   = 1 << 20
	mostSecret = 64 << 10
	mostPEM    = 16 << 20
)

// Parse is Load from bytes; name is for messages.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Plan, error) {
	c := &checker{p: &Plan{}, env: env}
	c.doc = config.Decode(name, data, &c.p.Config)
	return c.check()
}

// Of is Parse of a configuration that was never written down. Its mistakes have
// no line; called gives the name by which the user knows a field, like
// upstreams[0].url.
func Of(cfg Config, env func(string) (string, bool), called func(field string) string) (*Plan, error) {
	c := &checker{p: &Plan{Config: cfg}, env: env, called: called}
	c.doc = config.NoFile("")
	return c.check()
}

// Files lists the files that the configuration names: when one changes, it is
// read again.
func (p *Plan) Files() []string {
	var files []string
	add := func(paths ...string) {
		for _, path := range paths {
			if path != "" {
				files = append(files, path)
			}
		}
	}
	for _, l := range p.Config.Listeners {
		if t := l.TLS; t != nil {
			add(t.Cert, t.Key, t.ClientCA)
		}
		add(l.KeysFile)
	}
	for _, u := range p.Config.Upstreams {
		add(u.KeyFile, u.CAFile, u.Cert, u.Key)
	}
	add(p.Config.Identity.SecretFile, p.Config.Prices)
	for _, s := range p.Config.Scrape {
		add(s.KeyFile, s.CAFile)
	}
	if o := p.Config.OTel; o != nil {
		add(o.KeyFile)
	}
	return files
}

func (c *checker) check() (*Plan, error) {
	c.listeners()
	c.upstreams()
	c.routes()
	c.adminPart()
	c.telemetry()
	c.rest()
	c.scrape()
	c.rows()
	c.probes()
	c.slo()
	if err := errors.Join(append(c.errs, c.doc.Err())...); err != nil {
		return nil, err
	}
	return c.p, c.whole()
}

type checker struct {
	p   *Plan
	doc *config.Document
	env func(string) (string, bool)
	// called names the fields of a configuration that has no file and no lines;
	// nil: it has.
	called func(field string) string
	errs   []error // of the former
}

func (c *checker) addf(path, format string, args ...any) {
	if c.called == nil {
		c.doc.Addf(path, format, args...)
		return
	}
	err := fmt.Errorf("%s: %s", c.called(path), fmt.Sprintf(format, args...))
	if !slices.ContainsFunc(c.errs, func(e error) bool { return e.Error() == err.Error() }) { // one name may stand for two fields
		c.errs = append(c.errs, err)
	}
}

func (c *checker) positive(at string, d time.Duration) {
	if d < 0 {
		c.addf(at, "a time below 0")
	}
}

func (c *checker) notNegative(at string, n int) {
	if n < 0 {
		c.addf(at, "a number below 0")
	}
}

func (c *checker) rest() {
	cfg := &c.p.Config
	for i, text := range cfg.Objectives {
		parsed, err := objective.ParseAll([]string{text})
		if err != nil {
			c.addf(fmt.Sprintf("objectives[%d]", i), "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
			continue
		}
		for k := range parsed {
			if !parsed[k].OfRequests() {
				c.addf(fmt.Sprintf("objectives[%d]", i), "%q is not decided by single requests, so live traffic has no budget for it", parsed[k].Text)
			}
		}
		c.p.Objectives = append(c.p.Objectives, parsed...)
	}
	if cfg.Keep != nil && !(*cfg.Keep >= 0 && *cfg.Keep <= 1) {
		c.addf("keep", "a share is between 0 and 1")
	}
	for name, id := range map[string]string{"session": cfg.Identity.Session, "task": cfg.Identity.Task, "parent": cfg.Identity.Parent} {
		if err := proxy.Identity(id).Check(); err != nil {
			c.addf("identity."+name, "%v", err)
		}
	}
	c.p.secret = []byte(c.secret("identity", "", cfg.Identity.SecretFile, "", "secret_file"))
	c.positive("stop.delay", cfg.Stop.Delay)
	c.positive("stop.drain", cfg.Stop.Drain)
}

// whole makes the proxies once, without using them: what only they find wrong
// is an error of the configuration too.
func (c *checker) whole() error {
	var errs []error
	for _, l := range c.p.listeners {
		errs = append(errs, proxy.Check(c.p.proxyConfig(l.Name, clock.Start(), nil)))
	}
	return errors.Join(errs...)
}
