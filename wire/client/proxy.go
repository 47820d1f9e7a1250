package client

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/record/timeline"
)

// ParseProxy reads the URL of an HTTP proxy: http://[USER:PASSWORD@]HOST[:PORT].
func ParseProxy(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil: // its own text may hold a password
		return nil, errors.New("the proxy's URL can't be read; write http://HOST:PORT")
	case !strings.EqualFold(u.Scheme, "http"):
		return nil, fmt.Errorf("a proxy of scheme %q is not supported; write http://HOST:PORT", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("the proxy's URL names no host; write http://HOST:PORT")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a proxy has no path; write http://HOST:PORT")
	}
	return u, checkPort(u.Port())
}

// Redactor knows the secrets that a target and its proxy are reached with.
func (cfg *Config) Redactor() *secret.Redactor {
	keys := []string{cfg.Key}
	if cfg.Proxy != nil {
		keys = append(keys, secret.URLSecrets(cfg.Proxy.String())...)
	}
	return secret.ForTarget(cfg.BaseURL, cfg.Header, keys...)
}

// through sends everything by way of the proxy: whole URLs where the target
// speaks plain HTTP/1.1, else a tunnel. It is called once Dial is settled.
func (c *Client) through(proxy *url.URL) {
	port := cmp.Or(proxy.Port(), "80")
	via := &proxied{dial: c.cfg.Dial, address: net.JoinHostPort(proxy.Hostname(), port), agent: userAgent()}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		via.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))
	}
	if c.target.tls || c.target.ws || c.cfg.HTTP2 {
		c.cfg.Dial = via.tunnel
		return
	}
	c.cfg.Dial = via.open
	c.origin = "http://" + c.target.host
	if via.auth != "" {
		c.head = append(c.head, field{"proxy-authorization", via.auth})
	}
}

var errUnixProxy = errors.New("a Unix socket is not reached through a proxy; leave the proxy out")

// proxied opens connections by way of a proxy.
type proxied struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	address string
	auth    string // empty: none
	agent   string
}

// proxyError is a failure of the proxy, or on the way to it.
type proxyError struct {
	address string
	refused string // what it said instead of opening the tunnel; empty: it was not reached
	err     error
}

func (e *proxyError) Error() string { return "proxy " + e.address + ": " + e.refused + e.err.Error() }
func (e *proxyError) Unwrap() error { return e.err }

// failure words it; the classes are those of a server that is not reached.
func (e *proxyError) failure() *failure {
	if e.refused != "" {
		return &failure{class: timeline.ConnectRefused, msg: fmt.Sprintf("the proxy %s opened no tunnel: %s", e.address, e.refused)}
	}
	f := dialFailure(e.err, e.address)
	f.msg = "the proxy can't be used: " + f.msg
	return f
}

// open connects to the proxy instead of the target.
func (p *proxied) open(ctx context.Context, _, _ string) (net.Conn, error) {
	nc, err := p.dial(ctx, "tcp", p.address)
	if err != nil {
		return nil, &proxyError{address: p.address, err: err}
	}
	return nc, nil
}

// tunnel asks the proxy for a connection to the target.
func (p *proxied) tunnel(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := p.open(ctx, network, address)
	if err != nil {
		return nil, err
	}
	past := time.Unix(1, 0)
	unhook := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(past) })
	status, reason, err := p.connect(nc, address)
	if !unhook() && err == nil {
		err = context.Cause(ctx)
	}
	switch {
	case err != nil:
		_ = nc.Close()
		return nil, &proxyError{address: p.address, err: err}
	case status/100 != 2:
		_ = nc.Close()
		said := fmt.Sprintf("HTTP %d %s", status, reason)
		if status == 407 {
			said += "; give its user and password in its URL, http://USER:PASSWORD@HOST:PORT"
		}
		return nil, &proxyError{address: p.address, refused: said, err: errors.New("no tunnel")}
	}
	return nc, nil
}

// mostHead is the longest answer to CONNECT that is read.
const mostHead = 16 << 10

// connect sends CONNECT and reads the head of the answer, byte by byte: what
// comes after it belongs to the target.
func (p *proxied) connect(nc net.Conn, address string) (status int, reason string, err error) {
	ask := "CONNECT " + address + " HTTP/1.1\r\nhost: " + address + "\r\nuser-agent: " + p.agent + "\r\n"
	if p.auth != "" {
		ask += "proxy-authorization: " + p.auth + "\r\n"
	}
	if _, err = io.WriteString(nc, ask+"\r\n"); err != nil {
		return 0, "", err
	}
	var head []byte
	var one [1]byte
	for !strings.HasSuffix(string(head[max(len(head)-4, 0):]), "\r\n\r\n") {
		if len(head) >= mostHead {
			return 0, "", errors.New("its answer to CONNECT has no end")
		}
		if _, err = io.ReadFull(nc, one[:]); err != nil {
			return 0, "", err
		}
		head = append(head, one[0])
	}
	line, _, _ := strings.Cut(string(head), "\r\n")
	version, rest, _ := strings.Cut(line, " ")
	number, reason, _ := strings.Cut(rest, " ")
	if status, err = strconv.Atoi(number); err != nil || !strings.HasPrefix(version, "HTTP/1.") {
		return 0, "", errors.New("it does not answer as an HTTP proxy does")
	}
	return status, reason, nil
}

// OwnHeader are the headers of a request that somebody else sends to the target
// beside the client: the user's, and the key as a bearer's.
//
// What belongs to signatures stays out: these requests have none.
func (cfg *Config) OwnHeader() http.Header {
	own := http.Header{}
	for name, values := range cfg.Header {
		own[name] = values
	}
	if cfg.Sign != nil {
		own.Del("X-Amz-Security-Token")
	}
	if cfg.Key != "" && own.Get("Authorization") == "" {
		own.Set("Authorization", "Bearer "+cfg.Key)
	}
	return own
}
