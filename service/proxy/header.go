package proxy

import (
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"tokenmeter/record/timeline"
)

// hopByHop headers belong to one connection and are not passed on.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate",
	"Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// mostFields is how many fields a request may have: each takes some two hundred bytes
// besides its own for as long as the request waits, and a head has room for thousands.
const mostFields = 200

func fields(h http.Header) (n int) {
	for _, values := range h {
		n += len(values)
	}
	return n
}

// ofRequest is what a request takes of the memory for clients while it is there, besides a
// large head and its body.
const ofRequest = 28 << 10

// ReplyInHand is what a request takes besides for its reply, without asking: the arrivals
// of 256 tokens. No budget counts it; each further arrival counts in Config.Replies.
const ReplyInHand = 4 << 10

// headSize is how many bytes the head of a request has, nearly.
func headSize(in *http.Request) int {
	n := len(in.RequestURI) + len(in.Host)
	for name, values := range in.Header {
		for _, v := range values {
			n += len(name) + len(v) + len(": \r\n")
		}
	}
	return n
}

// overrides reports whether a header asks a server, or a guard in front of it, to take a
// request for one of another method or path: frameworks obey the first, gateways and
// forward authentication (nginx's X-Original, Traefik's X-Forwarded) the others. What may
// pass was judged by the request's own, so these are not passed on.
func overrides(name string) bool {
	switch name {
	case "X-Http-Method-Override", "X-Http-Method", "X-Method-Override":
		return true
	}
	for _, start := range []string{"X-Original-", "X-Forwarded-", "X-Rewrite-", "X-Envoy-Original-"} {
		if what, ok := strings.CutPrefix(name, start); ok {
			return what == "Method" || what == "Url" || what == "Uri" || what == "Path"
		}
	}
	return false
}

// dropHopByHop removes them, and those that Connection names.
func dropHopByHop(h http.Header) {
	for name := range strings.SplitSeq(strings.Join(h["Connection"], ","), ",") {
		h.Del(strings.TrimSpace(name))
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// upgradeOf is the protocol that a message asks to change to, when it is one
// that is passed through; empty: none. Others (h2c) would get requests past the
// allow-list.
func upgradeOf(h http.Header) string {
	protocol := h.Get("Upgrade")
	for token := range strings.SplitSeq(strings.Join(h["Connection"], ","), ",") {
		if strings.EqualFold(strings.TrimSpace(token), "upgrade") && strings.EqualFold(protocol, "websocket") {
			return protocol
		}
	}
	return ""
}

// disguised reports whether a name has underscores where a header that is judged here
// has hyphens: servers that hand headers on as variables (CGI, WSGI) take one for the
// other.
func disguised(name string) bool {
	if !strings.Contains(name, "_") {
		return false
	}
	name = textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
	return !mayTrail(name) || overrides(name) || slices.Contains(keyHeaders, name)
}

// via is our name in the Via header; a request that comes back with it is in a loop.
const via = "tokenmeter"

func (p *Proxy) looped(h http.Header) bool {
	return slices.ContainsFunc(h["Via"], func(line string) bool { return strings.Contains(line, p.via) })
}

// upstreamHeader is what is passed on of a request's header.
func (p *Proxy) upstreamHeader(in *http.Request, identity, hide bool) http.Header {
	h := in.Header.Clone()
	upgrade := upgradeOf(h)
	dropHopByHop(h)
	h.Del("Expect") // answered here
	h.Del("Content-Length")
	for name := range h {
		if disguised(name) || overrides(name) {
			delete(h, name)
		}
	}
	if upgrade != "" {
		h.Set("Upgrade", upgrade)
	}
	if identity {
		h.Set("Accept-Encoding", "identity")
	}
	h.Add("Via", strings.TrimPrefix(in.Proto, "HTTP/")+" "+p.via)
	if hide {
		return h
	}
	if host, _, err := net.SplitHostPort(in.RemoteAddr); err == nil {
		h.Add("X-Forwarded-For", host)
		h["X-Forwarded-For"] = []string{strings.Join(h["X-Forwarded-For"], ", ")}
	}
	if h.Get("X-Forwarded-Host") == "" {
		h.Set("X-Forwarded-Host", in.Host)
	}
	if h.Get("X-Forwarded-Proto") == "" {
		proto := "http"
		if in.TLS != nil {
			proto = "https"
		}
		h.Set("X-Forwarded-Proto", proto)
	}
	return h
}

// mayTrail reports whether a field may follow a body: it has nothing to do with
// framing, routing, credentials or how the body is read (RFC 9110 section 6.5.1).
func mayTrail(name string) bool {
	switch name {
	case "Age", "Authorization", "Cache-Control", "Clear-Site-Data", "Cookie", "Cookie2", "Date", "Expect", "Expires", "Host", "Location", "Max-Forwards",
		"Pragma", "Range", "Realm", "Retry-After", "Set-Cookie", "Set-Cookie2", "Vary", "Warning", "Www-Authenticate", "X-Api-Key", "Api-Key", "X-Goog-Api-Key":
		return false
	}
	return !slices.Contains(hopByHop, name) && !strings.HasPrefix(name, "Content-") && !strings.HasPrefix(name, "If-") &&
		!strings.HasPrefix(name, "Proxy-") && !strings.HasPrefix(name, "X-Forwarded-") && !strings.HasPrefix(name, "Access-Control-")
}

// copyHeader adds a response's header to the one that goes to the client.
func copyHeader(to, from http.Header) {
	for name, values := range from {
		to[name] = append([]string(nil), values...)
	}
}

// statusOf is what the client is told when an upstream gave no response.
func statusOf(class timeline.Outcome) int {
	switch class {
	case timeline.TimeoutConnect, timeline.TimeoutTTFT, timeline.TimeoutIdle, timeline.TimeoutTotal:
		return http.StatusGatewayTimeout
	case timeline.ClientResource, timeline.CancelledRunEnd:
		return http.StatusServiceUnavailable
	}
	return http.StatusBadGateway
}
