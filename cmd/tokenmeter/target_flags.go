package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"reflect"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/base/secret"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// targetFlags name a server and what it takes to reach it; every command that
// talks to a server has them.
type targetFlags struct {
	URL string `arg:"" optional:"" name:"url" help:"The server: http://HOST:PORT, with or without /v1, or the whole endpoint; ws(s):// is a WebSocket, unix:///PATH a Unix socket."`

	API       string   `name:"api" group:"target" placeholder:"NAME" help:"${apis}. Default: detected, then openai-chat."`
	Model     string   `group:"target" placeholder:"NAME" help:"Default: asked from the server."`
	APIKeyEnv string   `name:"api-key-env" group:"target" placeholder:"NAME" help:"Environment variable that holds the API key."`
	APIKey    string   `name:"api-key-file" group:"target" placeholder:"FILE" help:"File that holds the API key."`
	Header    []string `group:"target" sep:"none" placeholder:"\"NAME: VALUE\"" help:"An additional header. Repeatable. Give keys by --api-key-env instead."`

	CAFile          string `name:"ca-file" group:"connection" placeholder:"FILE" help:"PEM file of the authority that signed the server's certificate."`
	Cert            string `group:"connection" placeholder:"FILE" help:"PEM file of our own certificate, for servers that ask for one. Needs --key."`
	Key             string `group:"connection" placeholder:"FILE" help:"PEM file of the key of --cert."`
	Insecure        bool   `group:"connection" help:"Do not verify the server's certificate. The run says so in its warnings."`
	Proxy           string `group:"connection" placeholder:"URL" help:"HTTP proxy to go through. Without it none is used, whatever the environment says."`
	FollowRedirects bool   `group:"connection" help:"Follow redirects that keep the method and the host."`
	NoKeepalive     bool   `name:"no-keepalive" group:"connection" help:"Open a connection for every request."`
	HTTP2           bool   `name:"http2" group:"connection" help:"Speak HTTP/2. Arrivals are then stamped when they are read, not by the kernel."`
}

// given reports whether one of them was, but for the server itself.
func (c targetFlags) given() bool {
	c.URL = ""
	return !reflect.ValueOf(c).IsZero()
}

// apiOf is the API that was named, or the one that the URL tells; nil where neither
// does.
func (c *targetFlags) apiOf(check *checker) *api.API {
	known, ws := c.known(check), client.OverWebSocket(c.URL)
	switch {
	case known != nil && known.Build == nil && !ws:
		check.addf("URL: %s is spoken over a WebSocket alone: give it as ws://HOST or wss://HOST", known.Name)
	case !ws:
	case c.HTTP2:
		check.addf("--http2: a WebSocket is opened by HTTP/1.1, leave it out")
	case known == nil:
		return api.OpenAIResponses
	case known.Create == nil:
		check.addf("URL: %s is not spoken over a WebSocket, %s and %s are: give the server's http or https URL", known.Name, api.OpenAIResponses.Name, api.Realtime.Name)
	}
	return known
}

// known is the API that was named, or the one whose path the URL ends in; nil where
// neither tells.
func (c *targetFlags) known(check *checker) *api.API {
	if c.API != "" {
		known, err := api.ByName(c.API)
		if err != nil {
			check.addf("--api: %w", err)
			return api.OpenAIChat
		}
		return known
	}
	path := "/" + pathOf(c.URL)
	if known := api.OfPath(path); known != nil {
		return known
	}
	if !api.Generates(path) {
		check.addf("URL: %s answers with no tokens, or by an API that is not known: give the base of the server or the endpoint of a completion, or name what it speaks with --api", path)
	}
	if known := api.OfBase(hostOf(c.URL), path); known != nil {
		return known
	}
	if p := api.ProviderOf(hostOf(c.URL)); p != nil && path == "/" {
		if known, err := api.ByName(p.API); err == nil {
			return known
		}
	}
	return nil
}

// reach fills in what the flags say about the way to the server.
func (c *targetFlags) reach(cfg *client.Config, check *checker, a *app) {
	cfg.BaseURL, cfg.HTTP2 = c.URL, c.HTTP2
	cfg.NoKeepAlive, cfg.FollowRedirects = c.NoKeepalive, c.FollowRedirects
	cfg.Header = headers(c.Header, check)
	cfg.Key = c.key(check, a)
	c.sign(cfg, check, a)
	cfg.TLS = c.tls(check)
	cfg.Proxy = c.proxy(check)
}

func (c *targetFlags) proxy(check *checker) *url.URL {
	if c.Proxy == "" {
		return nil
	}
	u, err := client.ParseProxy(c.Proxy)
	if err != nil {
		check.addf("--proxy: %w", err)
	}
	return u
}

func (c *targetFlags) tls(check *checker) *tls.Config {
	cfg := &tls.Config{InsecureSkipVerify: c.Insecure}
	if c.CAFile != "" {
		pem, err := limitio.File(c.CAFile, 16<<20)
		if err != nil {
			check.addf("--ca-file: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if err == nil && !cfg.RootCAs.AppendCertsFromPEM(pem) {
			check.addf("--ca-file %s: it holds no certificate in PEM form", c.CAFile)
		}
	}
	switch {
	case (c.Cert == "") != (c.Key == ""):
		check.addf("--cert and --key belong together: give both")
	case c.Cert != "":
		pair, err := keyPair(c.Cert, c.Key)
		if err != nil {
			check.addf("--cert %s, --key %s: %w", c.Cert, c.Key, keyPairWords(err))
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg
}

// keyPair reads a certificate and its key.
func keyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := limitio.File(certFile, 16<<20)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := limitio.File(keyFile, 16<<20)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// keyPairWords drops the package's name from an error of crypto/tls.
func keyPairWords(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "tls: "))
}

// warnSecrets tells of keys that other users of the machine can see.
func (c *targetFlags) warnSecrets(a *app) {
	for _, line := range c.Header {
		name, _, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); secret.SensitiveHeader(name) {
			a.warn("warning: the key in --header %q is visible in the list of processes; use --api-key-env NAME or --api-key-file FILE", name)
		}
	}
	for what, raw := range map[string]string{"URL": c.URL, "proxy's URL": c.Proxy} {
		if len(secret.URLSecrets(raw)) > 0 {
			a.warn("warning: the secret in the %s is visible in the list of processes%s", what, map[string]string{
				"URL": "; use --api-key-env NAME or --api-key-file FILE"}[what])
		}
	}
}
