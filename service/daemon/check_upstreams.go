package daemon

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tokenmeter/service/proxy"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

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
		c.once(seen, at, "an upstream", u.Name, u.Name)
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
		c.notNegative(at+".health.failures", u.Health.Failures)
		if p := u.Health.Path; p != "" && !strings.HasPrefix(p, "/") {
			c.addf(at+".health.path", "a path begins with /")
		}
		if len(u.Headers) > 0 {
			made.Header = http.Header{}
			for name, value := range u.Headers {
				if err := client.CheckField(name, value); err != nil {
					c.addf(at+".headers."+name, "%v", err)
					continue
				}
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
		c.tells(at, u, &made)
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
	switch {
	case u.Cert != "" && u.Key == "":
		c.addf(at+".cert", "it needs its key: give key too")
	case u.Cert == "" && u.Key != "":
		c.addf(at+".key", "it needs its certificate: give cert too")
	case u.Cert != "":
		if pair, ok := c.keyPair(at, u.Cert, u.Key); ok {
			cfg.Certificates = []tls.Certificate{pair}
		}
	}
	return cfg
}
