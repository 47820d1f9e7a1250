package client

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/base/secret"
	"tokenmeter/wire/api"
)

// DryRun returns the request as a command that a person can run, with secrets shown
// as ***: of curl, or of websocat, which sends what it reads. Nothing is sent.
func (c *Client) DryRun(req *api.Request) (string, error) {
	call, err := c.build(req)
	if err != nil {
		return "", err
	}
	m := message{method: http.MethodPost, extra: together(call.Header, req.Header), body: call.Body}
	var b strings.Builder
	if c.target.ws {
		m.method = http.MethodGet
		b.WriteString("printf '%s\\n' " + shellQuote(c.redact.String(bodyText(&call))) + " | websocat -n")
	} else {
		b.WriteString("curl -sS -N")
	}
	if c.target.network == "unix" {
		b.WriteString(" --unix-socket " + shellQuote(c.target.address))
	}
	if c.cfg.Proxy != nil && !c.target.ws {
		b.WriteString(" --proxy " + shellQuote(c.redact.URL(c.cfg.Proxy.String())))
	}
	for _, f := range c.head.fields(&m) {
		switch f.name {
		case "proxy-authorization", "host", "content-length", "user-agent": // the first curl takes from the proxy's URL
			continue
		case "accept-encoding":
			if c.target.ws {
				continue
			}
		}
		if f.name == "content-type" && strings.HasPrefix(f.value, "multipart/") { // curl makes its own boundary
			continue
		}
		line := secret.RedactHeaderLine(f.name + ": " + f.value)
		b.WriteString(" \\\n  -H " + shellQuote(c.redact.String(line)))
	}
	for _, argument := range bodyArguments(&call) {
		if c.target.ws {
			break // it is there already
		}
		b.WriteString(" \\\n  " + argument[0] + " " + shellQuote(c.redact.String(argument[1])))
	}
	b.WriteString(" \\\n  " + shellQuote(c.redact.URL(c.curlURL(call.Path))) + "\n")
	return b.String(), nil
}

// bodyText is the body in JSON that says the same and can be shown on a terminal.
func bodyText(call *api.Call) string { return string(printable.JSON(call.Body)) }

// bodyArguments are the options that make curl send a body: as it is, or a form part
// by part. A file is named, and lies where its user has it.
func bodyArguments(call *api.Call) (arguments [][2]string) {
	kind, params, err := mime.ParseMediaType(call.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return [][2]string{{"--data-raw", bodyText(call)}}
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

// shellQuote writes s as one word of bash and zsh. What would act on a terminal that shows
// it is written by its bytes.
func shellQuote(s string) string {
	if printable.Lines(s) == s {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}
