package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"tokenmeter/api"
	"tokenmeter/bounded"
	"tokenmeter/client"
	"tokenmeter/clock"
	"tokenmeter/config"
	"tokenmeter/cost"
	"tokenmeter/live"
	"tokenmeter/objective"
	"tokenmeter/proxy"
	"tokenmeter/rows"
	"tokenmeter/scrape"
	"tokenmeter/secret"
	"tokenmeter/slo"
	"tokenmeter/slo/notify"
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
	admin     listen
	token     string
	otelKey   string
	otelTLS   *tls.Config
	secret    []byte
}

// listen is an address that is served.
type listen struct {
	Listener
	tls *tls.Config // nil: in the clear
}

// Load reads the file and checks everything that can be without opening an
// address. The error has all mistakes, one a line, with line and column.
func Load(path string, env func(string) (string, bool)) (*Plan, error) {
	data, err := bounded.File(path, mostFile)
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

// Of is Parse of a configuration that was never written down; its mistakes have
// no line.
func Of(cfg Config, env func(string) (string, bool)) (*Plan, error) {
	c := &checker{p: &Plan{Config: cfg}, env: env, unwritten: true}
	var nothing struct{}
	c.doc = config.Decode("flags", []byte("{}"), &nothing)
	return c.check()
}

// DefaultPaths are let through by a route that names none.
func DefaultPaths() []string { return proxy.DefaultPaths() }

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
	}
	for _, u := range p.Config.Upstreams {
		add(u.KeyFile, u.CAFile, u.Cert, u.Key)
	}
	add(p.Config.Identity.SecretFile, p.Config.Prices)
	for _, s := range p.Config.Scrape {
		add(s.KeyFile, s.CAFile)
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
	c.slo()
	if err := c.doc.Err(); err != nil {
		return nil, err
	}
	return c.p, c.whole()
}

type checker struct {
	p   *Plan
	doc *config.Document
	env func(string) (string, bool)
	// unwritten: the configuration has no file and no lines.
	unwritten bool
}

func (c *checker) addf(path, format string, args ...any) {
	if c.unwritten { // no line tells what is meant
		format, args = "%s: "+format, append([]any{path}, args...)
	}
	c.doc.Addf(path, format, args...)
}

func (c *checker) listeners() {
	cfg := &c.p.Config
	if len(cfg.Listeners) == 0 && c.doc.Has("listeners") {
		c.addf("listeners", "at least one listener is needed")
	}
	seen, addresses := map[string]bool{}, map[string]bool{}
	for i := range cfg.Listeners {
		l, at := &cfg.Listeners[i], fmt.Sprintf("listeners[%d]", i)
		if l.Name == "" {
			l.Name = l.Listen
		}
		c.address(at+".listen", l.Listen)
		if seen[l.Name] {
			c.addf(at, "a listener named %q is there already", l.Name)
		}
		seen[l.Name] = true
		if _, port, err := net.SplitHostPort(l.Listen); err == nil && port != "0" && addresses[l.Listen] {
			c.addf(at+".listen", "another listener is at %s already", l.Listen)
		}
		addresses[l.Listen] = true
		c.positive(at+".header_timeout", l.HeaderTimeout)
		c.positive(at+".body_timeout", l.BodyTimeout)
		c.positive(at+".reader_timeout", l.ReaderTimeout)
		c.positive(at+".idle_timeout", l.IdleTimeout)
		c.notNegative(at+".streams", l.Streams)
		c.p.listeners = append(c.p.listeners, listen{*l, c.tls(at+".tls", l.TLS)})
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

func (c *checker) address(at, address string) {
	if address == "" {
		return
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		c.addf(at, "%q is no HOST:PORT", secret.RedactURL(address))
	}
}

func (c *checker) tls(at string, t *TLS) *tls.Config {
	if t == nil || t.Cert == "" || t.Key == "" {
		return nil
	}
	pair, err := keyPair(t.Cert, t.Key)
	if err != nil {
		c.addf(at, "certificate and key can't be used: %v", err)
		return nil
	}
	cfg := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if t.ClientCA != "" {
		cfg.ClientCAs = c.authorities(at+".client_ca", t.ClientCA)
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return cfg
}

func (c *checker) authorities(at, path string) *x509.CertPool {
	pem, err := bounded.File(path, mostPEM)
	if err != nil {
		c.addf(at, "%v", err)
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		c.addf(at, "%s holds no certificate (PEM)", path)
	}
	return pool
}

// keyPair reads a certificate and its key.
func keyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := bounded.File(certFile, mostPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := bounded.File(keyFile, mostPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// secret reads a secret from the environment or a file.
func (c *checker) secret(at, env, file string, fieldEnv, fieldFile string) string {
	switch {
	case env != "" && file != "":
		c.addf(at+"."+fieldFile, "%s and %s are both given", fieldEnv, fieldFile)
	case env != "":
		value, ok := c.env(env)
		if !ok || value == "" {
			c.addf(at+"."+fieldEnv, "the environment variable %s is not set", env)
		}
		return value
	case file != "":
		data, err := bounded.File(file, mostSecret)
		if err != nil {
			c.addf(at+"."+fieldFile, "%v", err)
			return ""
		}
		value := strings.TrimSpace(string(data))
		if value == "" {
			c.addf(at+"."+fieldFile, "%s is empty", file)
		}
		return value
	}
	return ""
}

func (c *checker) upstreams() {
	cfg := &c.p.Config
	if len(cfg.Upstreams) == 0 && c.doc.Has("upstreams") {
		c.addf("upstreams", "at least one upstream is needed")
	}
	if len(cfg.Routes) == 0 && c.doc.Has("routes") {
		c.addf("routes", "at least one route is needed")
	}
	seen := map[string]bool{}
	for i := range cfg.Upstreams {
		u, at := &cfg.Upstreams[i], fmt.Sprintf("upstreams[%d]", i)
		if seen[u.Name] {
			c.addf(at+".name", "an upstream named %q is there already", u.Name)
		}
		seen[u.Name] = true
		made := proxy.Upstream{Name: u.Name, URL: u.URL, Key: c.secret(at, u.KeyEnv, u.KeyFile, "key_env", "key_file"),
			TLS: c.clientTLS(at, u), ConnectTimeout: u.ConnectTimeout, HeadTimeout: u.HeadTimeout, IdleTimeout: u.IdleTimeout, KeepIdle: u.KeepIdle,
			Health:      proxy.Health{Failures: u.Health.Failures, Spare: u.Health.Spare, Path: u.Health.Path, Every: u.Health.Every, Timeout: u.Health.Timeout},
			LearnModels: len(cfg.Models) == 0}
		for _, d := range []struct {
			name string
			d    time.Duration
		}{{"connect_timeout", u.ConnectTimeout}, {"head_timeout", u.HeadTimeout}, {"idle_timeout", u.IdleTimeout}, {"keep_idle", u.KeepIdle},
			{"health.spare", u.Health.Spare}, {"health.every", u.Health.Every}, {"health.timeout", u.Health.Timeout}} {
			c.positive(at+"."+d.name, d.d)
		}
		if p := u.Health.Path; p != "" && !strings.HasPrefix(p, "/") {
			c.addf(at+".health.path", "a path begins with /")
		}
		if len(u.Headers) > 0 {
			made.Header = http.Header{}
			for name, value := range u.Headers {
				made.Header.Set(name, value)
			}
		}
		if host, ok := vague(u.URL); ok {
			c.addf(at+".url", "%q names neither a scheme nor a port: write http://%s:8000, or http://%s for port 80", host, host, host)
		} else if u.URL != "" {
			if _, err := client.New(client.Config{BaseURL: u.URL, API: api.OpenAIChat, Key: made.Key, Header: made.Header, Form: client.PlainForm, NoKernelStamps: true}); err != nil {
				c.addf(at+".url", "%v", err)
			}
		}
		c.p.upstreams = append(c.p.upstreams, made)
	}
}

// vague reports whether a URL is but a word, which could be a mistake for
// anything; HOST:PORT is taken as http, as everywhere.
func vague(url string) (host string, ok bool) {
	url = strings.TrimSpace(url)
	if i := strings.IndexAny(url, "/?#"); i >= 0 && !strings.Contains(url, "://") {
		url = url[:i]
	}
	host = url[strings.LastIndexByte(url, '@')+1:]
	return host, host != "" && !strings.Contains(host, ":")
}

// clientTLS is how an upstream is reached by https; nil: as usual.
func (c *checker) clientTLS(at string, u *Upstream) *tls.Config {
	if u.CAFile == "" && u.Cert == "" && u.Key == "" && !u.Insecure {
		return nil
	}
	cfg := &tls.Config{InsecureSkipVerify: u.Insecure} //nolint:gosec // asked for
	if u.CAFile != "" {
		cfg.RootCAs = c.authorities(at+".ca_file", u.CAFile)
	}
	if (u.Cert == "") != (u.Key == "") {
		c.addf(at, "cert and key belong together")
	} else if u.Cert != "" {
		pair, err := keyPair(u.Cert, u.Key)
		if err != nil {
			c.addf(at+".cert", "certificate and key can't be used: %v", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg
}

func (c *checker) routes() {
	cfg := &c.p.Config
	seen := map[string]bool{}
	for i := range cfg.Routes {
		r, at := &cfg.Routes[i], fmt.Sprintf("routes[%d]", i)
		if seen[r.Name] {
			c.addf(at+".name", "a route named %q is there already", r.Name)
		}
		seen[r.Name] = true
		for k, name := range r.Listeners {
			if !slices.ContainsFunc(cfg.Listeners, func(l Listener) bool { return l.Name == name }) {
				c.addf(fmt.Sprintf("%s.listeners[%d]", at, k), "there is no listener %q", name)
			}
		}
		for k, p := range r.Paths {
			if !strings.HasPrefix(p, "/") || strings.Contains(strings.TrimSuffix(p, "*"), "*") {
				c.addf(fmt.Sprintf("%s.paths[%d]", at, k), "%q is no path: it begins with /, and a * stands at its end only", p)
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
		if s.Name != "" && !slices.ContainsFunc(c.p.Config.Upstreams, func(u Upstream) bool { return u.Name == s.Name }) {
			c.addf(place+".name", "there is no upstream %q", s.Name)
		}
		if s.Weight != nil && *s.Weight < 0 {
			c.addf(place+".weight", "a weight below 0")
		}
		any = any || s.Weight == nil || *s.Weight > 0
	}
	if !any && c.doc.Has(at+".upstreams") {
		c.addf(at+".upstreams", "no upstream has a weight above 0")
	}
}

// DefaultAdmin is where health checks and metrics are, when nothing else is said.
const DefaultAdmin = "127.0.0.1:9464"

func (c *checker) adminPart() {
	a := &c.p.Config.Admin
	if a.Listen == "" {
		a.Listen = DefaultAdmin
	}
	c.p.token = c.secret("admin", a.TokenEnv, a.TokenFile, "token_env", "token_file")
	if a.Listen == "off" {
		return
	}
	c.address("admin.listen", a.Listen)
	c.p.admin = listen{Listener{Name: "admin", Listen: a.Listen}, c.tls("admin.tls", a.TLS)}
	guarded := c.p.token != "" || a.TLS != nil && a.TLS.ClientCA != ""
	if !guarded && !a.Open && !local(a.Listen) {
		c.addf("admin.listen", "%s can be reached from elsewhere: give token_env, token_file or tls.client_ca, or say open: true", a.Listen)
	}
}

// local reports whether only this machine can reach an address.
func local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // told elsewhere
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
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
	for name, id := range map[string]string{"session": cfg.Identity.Session, "task": cfg.Identity.Task} {
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

// proxyConfig is the configuration of one listener's proxy.
func (p *Plan) proxyConfig(listener string, clk *clock.Clock, sink live.Sink) proxy.Config {
	cfg := proxy.Config{Listener: listener, Upstreams: p.upstreams, Models: p.Config.Models, Clock: clk, Sink: sink,
		Session: proxy.Identity(p.Config.Identity.Session), Task: proxy.Identity(p.Config.Identity.Task), Secret: p.secret, Keep: 0.01}
	if p.Config.Keep != nil {
		cfg.Keep = *p.Config.Keep
	}
	for _, l := range p.listeners {
		if l.Name == listener {
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
			weight := 1
			if s.Weight != nil {
				weight = *s.Weight
			}
			made.Upstreams = append(made.Upstreams, proxy.Share{Upstream: s.Name, Weight: weight})
		}
		cfg.Routes = append(cfg.Routes, made)
	}
	return cfg
}
