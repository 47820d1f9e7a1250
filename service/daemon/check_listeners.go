package daemon

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"

	"tokenmeter/base/secret"
)

func (c *checker) listeners() {
	cfg := &c.p.Config
	if len(cfg.Listeners) == 0 && c.doc.Has("listeners") {
		c.addf("listeners", "at least one listener is needed")
	}
	seen, addresses := map[string]bool{}, map[string]bool{}
	for i := range cfg.Listeners {
		l, at := &cfg.Listeners[i], fmt.Sprintf("listeners[%d]", i)
		l.Name = cmp.Or(l.Name, l.Listen)
		c.address(at+".listen", l.Listen)
		c.once(seen, at, "a listener", l.Name, l.Name)
		if _, port, err := net.SplitHostPort(l.Listen); err == nil && port != "0" && addresses[l.Listen] {
			c.addf(at+".listen", "another listener is at %s already", l.Listen)
		}
		addresses[l.Listen] = true
		c.positive(at+".header_timeout", l.HeaderTimeout)
		c.positive(at+".body_timeout", l.BodyTimeout)
		c.positive(at+".reader_timeout", l.ReaderTimeout)
		c.positive(at+".idle_timeout", l.IdleTimeout)
		c.notNegative(at+".streams", l.Streams)
		keys := c.clientKeys(at, l)
		c.exposed(at, l, keys)
		c.p.listeners = append(c.p.listeners, listen{*l, c.tls(at+".tls", l.TLS), keys})
	}
}

// once notes the mark of a thing's name, by which there shall be no other.
func (c *checker) once(seen map[string]bool, at, what, name, mark string) {
	if seen[mark] {
		c.addf(at+".name", "%s named %q is there already", what, name)
	}
	seen[mark] = true
}

func (c *checker) address(at, address string) {
	if address == "" {
		return
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		c.addf(at, "%q is no HOST:PORT", secret.RedactURL(address))
		return
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		c.addf(at, "%q is no port: write a number from 0 to 65535, where 0 is any free one", port)
	}
}

func (c *checker) tls(at string, t *TLS) *tls.Config {
	if t == nil || t.Cert == "" || t.Key == "" {
		return nil
	}
	pair, ok := c.keyPair(at, t.Cert, t.Key)
	if !ok {
		return nil
	}
	cfg := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if t.ClientCA != "" {
		cfg.ClientCAs = c.authorities(at+".client_ca", t.ClientCA)
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return cfg
}

// DefaultAdmin is where health checks and metrics are, when nothing else is said.
const DefaultAdmin = "127.0.0.1:9464"

func (c *checker) adminPart() {
	a := &c.p.Config.Admin
	a.Listen = cmp.Or(a.Listen, DefaultAdmin)
	c.p.token = c.secret("admin", a.TokenEnv, a.TokenFile, "token_env", "token_file")
	if a.Listen == "off" {
		return
	}
	c.address("admin.listen", a.Listen)
	c.p.admin = listen{Listener: Listener{Name: "admin", Listen: a.Listen}, tls: c.tls("admin.tls", a.TLS)}
	guarded := c.p.token != "" || a.TLS != nil && a.TLS.ClientCA != ""
	switch {
	case guarded || a.Open || local(a.Listen):
	case c.called != nil:
		c.addf("admin.listen", "%s can be reached from elsewhere: listen on 127.0.0.1, or guard it with a token, which the configuration of serve can", a.Listen)
	default:
		c.addf("admin.listen", "%s can be reached from elsewhere: give token_env, token_file or tls.client_ca, or say open: true", a.Listen)
	}
}

// local reports whether only this machine can reach an address.
func local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // told elsewhere
	}
	return secret.Loopback(host)
}
