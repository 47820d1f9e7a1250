package client

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"tokenmeter/wire/api"
)

// target is where requests go, taken apart from the URL that the user gave.
type target struct {
	network string // tcp or unix
	address string // host:port, or the socket's path
	host    string // for the Host header
	name    string // for TLS
	tls     bool
	ws      bool   // spoken to over a WebSocket
	base    string // path before an API's own; no slash at its end
	exact   bool   // it is the endpoint: the URL ends in #
	query   string // of the base URL, kept on every request
	auth    *url.Userinfo
}

// scheme is how the URL of this target, or of the same without TLS, begins.
func (t *target) scheme(withTLS bool) string {
	scheme := "http"
	if t.ws {
		scheme = "ws"
	}
	if withTLS {
		scheme += "s"
	}
	return scheme + "://"
}

// parseTarget reads a base URL. Its errors say how to write it.
func parseTarget(raw string) (target, error) {
	raw, exact := strings.CutSuffix(strings.TrimSpace(raw), "#")
	t, err := parseURL(raw)
	t.exact = exact
	return t, err
}

func parseURL(raw string) (target, error) {
	if raw == "" {
		return target{}, fmt.Errorf("no URL was given; write http://HOST:PORT")
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || !isScheme(scheme) { // else what is quoted below may be a password
		scheme, rest = "http", raw
	}
	scheme = strings.ToLower(scheme)
	switch scheme {
	case "http", "https":
		return parseTCP(scheme, rest)
	case "ws", "wss":
		t, err := parseTCP(HTTPScheme(scheme), rest)
		t.ws = true
		return t, err
	case "unix":
		if path, _, _ := strings.Cut(rest, "?"); strings.HasPrefix(path, "/") && len(path) > 1 {
			return target{network: "unix", address: path, host: "localhost"}, nil
		}
		return target{}, fmt.Errorf("a Unix socket is written unix:///path/to/socket")
	case "http+unix":
		return parseHTTPUnix(rest)
	}
	return target{}, fmt.Errorf("scheme %q is not supported; use http, https or unix; ws or wss for an API over a WebSocket", scheme)
}

// HTTPScheme is the scheme by which a server is asked over HTTP: that of a
// WebSocket's URL stands for the one below it.
func HTTPScheme(scheme string) string {
	switch strings.ToLower(scheme) {
	case "ws":
		return "http"
	case "wss":
		return "https"
	}
	return scheme
}

// OverWebSocket reports whether a URL as users write it is a WebSocket's.
func OverWebSocket(raw string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(raw), "://")
	return ok && HTTPScheme(scheme) != scheme
}

// isScheme reports whether s can be a URL's scheme.
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if letter := 'a' <= c && c <= 'z'; !letter && (i == 0 || !strings.Contains("0123456789+-.", s[i:i+1])) {
			return false
		}
	}
	return s != ""
}

func parseTCP(scheme, rest string) (target, error) {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	t, err := readTCP(scheme, rest[:end], rest[end:])
	if err != nil && strings.Contains(rest[end:], "@") {
		// What looks like a host and its port may be the start of a password.
		return target{}, errors.New("the URL can't be read; in a password / is written %2F, ? %3F and # %23")
	}
	return t, err
}

func readTCP(scheme, authority, rest string) (target, error) {
	if err := checkColons(scheme, authority, rest); err != nil {
		return target{}, err
	}
	u, err := url.Parse(scheme + "://" + authority + rest)
	if err != nil {
		return target{}, fmt.Errorf("the URL can't be read: %w; write http://HOST:PORT", withoutURL(err))
	}
	if u.Hostname() == "" {
		return target{}, fmt.Errorf("the URL names no host; write http://HOST:PORT")
	}
	t := target{network: "tcp", host: u.Host, name: u.Hostname(), tls: scheme == "https",
		base: u.EscapedPath(), query: u.RawQuery, auth: u.User}
	port := u.Port()
	if err := checkPort(port); err != nil {
		return target{}, err
	}
	if port == "" {
		port = "80"
		if t.tls {
			port = "443"
		}
		t.host = strings.TrimSuffix(t.host, ":")
	}
	t.address = net.JoinHostPort(u.Hostname(), port)
	zone, end := strings.IndexByte(t.host, '%'), strings.IndexByte(t.host, ']')
	if 0 <= zone && zone < end { // a zone means nothing to the server
		t.host = t.host[:zone] + t.host[end:]
	}
	if strings.ContainsAny(t.host, "%\"<>\\^`{|} ") {
		return target{}, fmt.Errorf("the URL's host %q holds a character that no host has", t.host)
	}
	if t.base, t.query = escape(t.base), escape(t.query); strings.Trim(t.base, "/") == "" {
		t.base = ""
	}
	return t, nil
}

// checkPort refuses a port that nobody can listen on. Its digits are not shown:
// they may be the start of a password.
func checkPort(port string) error {
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return errors.New("the URL's port is not between 1 and 65535; write http://HOST:PORT")
	}
	return nil
}

// withoutURL is what is wrong with a URL, without its text: that may hold a secret.
func withoutURL(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	var part url.EscapeError
	if errors.As(err, &part) {
		return errors.New("two hexadecimal digits must follow %, and % itself is written %25")
	}
	return err
}

// escape percent-encodes what may not stand in a request line.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '#' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// checkColons refuses an IPv6 address without brackets, where the port can't
// be told from the address.
func checkColons(scheme, authority, rest string) error {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if strings.Count(host, ":") < 2 || strings.HasPrefix(host, "[") {
		return nil
	}
	shown := "[" + host + "]"
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		if addr, err := netip.ParseAddr(host[:i]); err == nil && addr.Is6() {
			shown = "[" + host[:i] + "]" + host[i:]
		}
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	return fmt.Errorf("an IPv6 address in a URL needs brackets; did you mean %s://%s%s?", scheme, shown, rest)
}

func parseHTTPUnix(rest string) (target, error) {
	host, path, _ := strings.Cut(rest, "/")
	path, query, _ := strings.Cut(path, "?")
	socket, err := url.PathUnescape(host)
	if err != nil || !strings.HasPrefix(socket, "/") {
		return target{}, fmt.Errorf("a Unix socket is written http+unix://%%2Fpath%%2Fto%%2Fsocket/v1")
	}
	t := target{network: "unix", address: socket, host: "localhost", query: escape(query)}
	if path = strings.Trim(path, "/"); path != "" {
		t.base = "/" + escape(path)
	}
	return t, nil
}

// path returns the request target for an API's path; see [api.Address].
func (t *target) path(apiPath string) string {
	path, query, _ := strings.Cut(apiPath, "?")
	path = t.joins(path).Endpoint(escape(path))
	name, _, _ := strings.Cut(query, "=")
	if named, _ := url.ParseQuery(t.query); named.Get(name) != "" || name == "model" && api.ModelOf(named) != "" {
		query = "" // the URL says it already
	}
	return withQuery(withQuery(path, escape(query)), t.query)
}

// lookup returns the request target for another path of the same server; apiPath
// is that of the API that is spoken.
func (t *target) lookup(apiPath, path string) string {
	return withQuery(t.joins(apiPath).Lookup(escape(path)), t.query)
}

// joins is how an API's path is joined with the URL's.
func (t *target) joins(apiPath string) api.Address {
	base := t.base
	if t.exact {
		base += "#"
	}
	return api.AddressOf(t.host, base, apiPath)
}

// url is the whole URL of a request target, as it is shown to people.
func (t *target) url(requested string) string {
	if t.network == "unix" {
		return "http+unix://" + url.PathEscape(t.address) + requested
	}
	scheme := "http"
	if t.ws {
		scheme = "ws"
	}
	if t.tls {
		scheme += "s"
	}
	return scheme + "://" + t.host + requested
}

// JoinURL joins a URL as users write it with an API's path: with or without /v1,
// with a slash at its end, with a prefix, or as the whole endpoint; see
// [api.Address].
func JoinURL(base, apiPath string) (string, error) {
	t, err := parseTarget(base)
	if err != nil {
		return "", err
	}
	return t.url(t.path(apiPath)), nil
}

// LookupPath is the path, with its query, at which a GET asks the server of a URL
// for something beside the API's own path.
func LookupPath(base, apiPath, path string) (string, error) {
	t, err := parseTarget(base)
	if err != nil {
		return "", err
	}
	return t.lookup(apiPath, path), nil
}

func withQuery(path, query string) string {
	switch {
	case query == "":
		return path
	case strings.Contains(path, "?"):
		return path + "&" + query
	}
	return path + "?" + query
}
