package client

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"

	"tokenmeter/wire/api"
)

// template is what is the same in the head of every request: names and values,
// in the order in which they are sent.
type template []field

type field struct{ name, value string }

// newTemplate merges our own headers with the user's, which win.
func newTemplate(cfg *Config, t *target) (template, error) {
	h := http.Header{}
	h.Set("Host", t.host)
	h.Set("User-Agent", userAgent())
	// A compressed stream is delivered in blocks, not in tokens.
	h.Set("Accept-Encoding", "identity")
	if cfg.NoKeepAlive {
		h.Set("Connection", "close")
	}
	if cfg.Key != "" {
		name, key := api.KeyHeader(t.host, t.base, cfg.API), cfg.Key
		if strings.EqualFold(name, "authorization") {
			key = "Bearer " + key
		}
		h.Set(name, key)
	} else if t.auth != nil {
		password, _ := t.auth.Password()
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(t.auth.Username()+":"+password)))
	}
	for name, values := range cfg.Header {
		name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
		if frames(name) || t.ws && strings.HasPrefix(name, "Sec-Websocket-") && name != "Sec-Websocket-Protocol" {
			return nil, fmt.Errorf("header %s is set by the client itself; leave it out", name)
		}
		h[name] = nil
		for _, v := range values {
			h[name] = append(h[name], strings.TrimSpace(v))
		}
	}
	var out template
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			if err := CheckField(name, v); err != nil {
				return nil, err
			}
			out = append(out, field{strings.ToLower(name), v})
		}
	}
	// Host first, as servers expect it.
	sort.SliceStable(out, func(i, j int) bool { return out[i].name == "host" && out[j].name != "host" })
	return out, nil
}

// frames reports headers that tell where a request ends; the client writes them.
func frames(name string) bool {
	switch name {
	case "Content-Length", "Transfer-Encoding", "Trailer", "Upgrade", "Expect":
		return true
	}
	return false
}

// CheckField says what keeps a header from being sent: a name of other characters
// than HTTP's, or a value that would end its line.
func CheckField(name, value string) error {
	if !validName([]byte(name)) {
		return fmt.Errorf("%q is no header name, as X-Name of \"X-Name: value\" is", name)
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("the value of header %s holds a control character", name)
		}
	}
	return nil
}

func (t template) has(name string) bool {
	return slices.ContainsFunc(t, func(f field) bool { return f.name == name })
}

// message is one request as it is written to the connection.
type message struct {
	method string
	origin string // through a proxy that takes whole URLs
	path   string // with query
	extra  http.Header
	id     string
	body   []byte
	// upgrade asks for a WebSocket: the Sec-WebSocket-Key.
	upgrade string
}

// fields lists the headers of m in order: the fixed ones, then its own, which
// never replace a header that the user gave.
func (t template) fields(m *message) []field {
	out := slices.Clone(t)
	if m.upgrade != "" {
		out = slices.DeleteFunc(out, func(f field) bool { return f.name == "connection" })
		out = append(out, field{"connection", "Upgrade"}, field{"upgrade", "websocket"},
			field{"sec-websocket-version", "13"}, field{"sec-websocket-key", m.upgrade})
	}
	for _, name := range slices.Sorted(maps.Keys(m.extra)) {
		lower := strings.ToLower(name)
		if t.has(lower) || frames(textproto.CanonicalMIMEHeaderKey(name)) {
			continue
		}
		for _, v := range m.extra[name] {
			out = append(out, field{lower, v})
		}
	}
	if m.method == http.MethodPost {
		if !t.has("content-type") && m.extra.Get("Content-Type") == "" {
			out = append(out, field{"content-type", "application/json"})
		}
		out = append(out, field{"content-length", strconv.Itoa(len(m.body))})
	}
	if m.id != "" && !t.has("x-request-id") {
		out = append(out, field{"x-request-id", m.id})
	}
	return out
}

// appendTo writes m as one piece, so that head and body leave in one write.
func (m *message) appendTo(b []byte, t template) []byte {
	b = append(b, m.method...)
	b = append(b, ' ')
	b = append(b, m.origin...)
	b = append(b, m.path...)
	b = append(b, " HTTP/1.1\r\n"...)
	for _, f := range t.fields(m) {
		b = append(b, f.name...)
		b = append(b, ": "...)
		b = append(b, f.value...)
		b = append(b, '\r', '\n')
	}
	b = append(b, '\r', '\n')
	return append(b, m.body...)
}

// userAgent names this program and its version.
func userAgent() string {
	version := "dev"
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		version = info.Main.Version[1:]
	}
	return "tokenmeter/" + version
}
