package client

import (
	"net/http"
	"strings"

	"tokenmeter/base/secret"
	"tokenmeter/wire/api"
)

// DryRun returns the request as a curl command that a person can run, with
// secrets shown as ***. Nothing is sent.
func (c *Client) DryRun(req *api.Request) (string, error) {
	call, err := c.cfg.API.Build(req)
	if err != nil {
		return "", err
	}
	m := message{method: http.MethodPost, extra: together(call.Header, req.Header), body: call.Body}
	var b strings.Builder
	b.WriteString("curl -sS -N")
	if c.target.network == "unix" {
		b.WriteString(" --unix-socket " + shellQuote(c.target.address))
	}
	if c.cfg.Proxy != nil {
		b.WriteString(" --proxy " + shellQuote(c.redact.URL(c.cfg.Proxy.String())))
	}
	for _, f := range c.head.fields(&m) {
		switch f.name {
		case "proxy-authorization": // curl takes it from the proxy's URL
			continue
		case "host", "content-length", "user-agent":
			continue
		}
		line := secret.RedactHeaderLine(f.name + ": " + f.value)
		b.WriteString(" \\\n  -H " + shellQuote(c.redact.String(line)))
	}
	b.WriteString(" \\\n  --data-raw " + shellQuote(c.redact.String(string(call.Body))))
	b.WriteString(" \\\n  " + shellQuote(c.redact.URL(c.curlURL(call.Path))) + "\n")
	return b.String(), nil
}

// curlURL is the URL as curl takes it: a Unix socket is named by an option.
func (c *Client) curlURL(path string) string {
	if c.target.network == "unix" {
		return "http://" + c.target.host + c.target.path(path)
	}
	return c.target.url(c.target.path(path))
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
