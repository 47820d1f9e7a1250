package client

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
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
	if c.target.ws {
		return c.dryWebSocket(req)
	}
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
		if f.name == "content-type" && strings.HasPrefix(f.value, "multipart/") { // curl makes its own boundary
			continue
		}
		line := secret.RedactHeaderLine(f.name + ": " + f.value)
		b.WriteString(" \\\n  -H " + shellQuote(c.redact.String(line)))
	}
	for _, argument := range bodyArguments(&call) {
		b.WriteString(" \\\n  " + argument[0] + " " + shellQuote(c.redact.String(argument[1])))
	}
	b.WriteString(" \\\n  " + shellQuote(c.redact.URL(c.curlURL(call.Path))) + "\n")
	return b.String(), nil
}

// dryWebSocket is DryRun for a program that speaks WebSocket: it sends what it reads.
func (c *Client) dryWebSocket(req *api.Request) (string, error) {
	call, err := c.cfg.API.Create(req, "")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("echo " + shellQuote(c.redact.String(string(call.Body))) + " | websocat -n")
	for _, f := range c.head.fields(&message{extra: together(call.Header, req.Header)}) {
		if f.name != "host" && f.name != "accept-encoding" && f.name != "user-agent" {
			b.WriteString(" \\\n  -H " + shellQuote(c.redact.String(secret.RedactHeaderLine(f.name+": "+f.value))))
		}
	}
	b.WriteString(" \\\n  " + shellQuote(c.redact.URL(c.target.url(c.path(call.Path)))) + "\n")
	return b.String(), nil
}

// bodyArguments are the options that make curl send a body: as it is, or a form part
// by part. A file is named, and lies where its user has it.
func bodyArguments(call *api.Call) (arguments [][2]string) {
	kind, params, err := mime.ParseMediaType(call.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return [][2]string{{"--data-raw", string(call.Body)}}
	}
	form := multipart.NewReader(bytes.NewReader(call.Body), params["boundary"])
	for {
		part, err := form.NextPart()
		if err != nil {
			return arguments
		}
		if name := part.FileName(); name != "" {
			arguments = append(arguments, [2]string{"-F", part.FormName() + "=@" + name})
			continue
		}
		value, _ := io.ReadAll(part) // of memory
		arguments = append(arguments, [2]string{"--form-string", part.FormName() + "=" + string(value)})
	}
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
