// Package client sends one request and stamps the arrival of everything that
// comes back. It has its own HTTP/1.1 connection handling, because the stamp
// that counts is the kernel's, taken below TLS and tied to the read that
// brought the bytes; net/http hides both.
package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/base/secret"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// Config is how a client reaches one target.
type Config struct {
	BaseURL string // as the user gave it; see JoinURL
	API     *api.API
	Header  http.Header // sent with every request; wins over the client's own
	Lookup  http.Header // sent with every Get beside it
	Key     string      // API key; goes into the header the API names
	// Sign, when set, adds headers that prove who asks to each request for a model, as
	// it is sent: r has its method, URL, host and content type, and no body.
	Sign  func(r *http.Request, body []byte) error
	Clock *clock.Clock
	// Dial opens a connection; nil means net.Dialer. Tests pass in-memory pipes.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Admit, when set, refuses new connections: an error is why one is closed again.
	Admit func(net.Conn) error
	TLS   *tls.Config
	// Proxy is an HTTP proxy to go through; nil: none, whatever the
	// environment says. See ParseProxy.
	Proxy *url.URL

	ConnectTimeout time.Duration // resolving, connecting and TLS; 0: off
	Timeout        time.Duration // whole request with its retries, from start; 0: off
	TTFTTimeout    time.Duration // no token yet, from start; 0: off
	// IdleTimeout ends a stream without a further token, whatever heartbeats
	// come; 0: off. Before the first token it counts from the request's
	// sending, unless TTFTTimeout rules that time.
	IdleTimeout time.Duration

	// HTTP2 speaks HTTP/2 (on http:// without asking), through net/http:
	// arrivals are then stamped when the read returns.
	HTTP2 bool

	// Form is how replies are read; the zero value chooses.
	Form Form

	NoKeepAlive bool
	// PerSession keeps a connection to the session or task that opened it, as an
	// agent's own client does; EndSession closes it. Requests of none share the
	// others. Not with HTTP2.
	PerSession      bool
	FollowRedirects bool // 307 and 308 on the same host only
	Retries         int  // after 429, 503 and Anthropic's 529; the wait stays inside the latency
	// RetryBudget is the share of the requests begun so far that all retries together
	// may be, rounded up: many clients that try again at once keep an overloaded
	// server overloaded. 0: no such bound.
	RetryBudget    float64
	NoKernelStamps bool

	Stream api.StreamOptions
	// Capture, when set, is called once for a request, with its body, when the
	// head of the response that counts has come or when none will come. It
	// returns where the raw reads go; nil leaves the request out.
	Capture func(tl *timeline.Timeline, request []byte) Recorder
}

// Recorder takes a response as it came: after transfer decoding, before
// content decoding. It keeps nothing of data beyond the call. End is called
// last, when the timeline is complete.
type Recorder interface {
	Head(atUS int64, head api.Head)
	Read(atUS, lagUS int64, data []byte)
	End(atUS int64, end timeline.End, trailer http.Header, cause error)
}

// Client keeps a pool of connections to one target. Safe for concurrent use.
type Client struct {
	cfg    Config
	clk    *clock.Clock
	target target
	tls    *tls.Config
	head   template
	origin string // before the path of a request, through a proxy; else empty
	at     string // the request target of the API's own path
	redact *secret.Redactor
	pool   pool
	count  counters
	heard  atomic.Bool  // a head of a response came
	early  atomic.Int64 // until when the server counts as one that closes early, on the clock
	loops  *reactors
	h2     *http.Transport // nil: HTTP/1.1

	idPrefix string
	ids      atomic.Int64
}

// New checks the configuration. Errors name the flag that mends them.
func New(cfg Config) (*Client, error) {
	if cfg.API == nil {
		return nil, fmt.Errorf("no API was chosen")
	}
	t, err := parseTarget(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	switch {
	case cfg.Proxy != nil && t.network != "tcp":
		return nil, errUnixProxy
	case t.ws && cfg.API.Create == nil:
		return nil, fmt.Errorf("%s is not spoken over a WebSocket; give the server's http or https URL", cfg.API.Name)
	case !t.ws && cfg.API.Build == nil:
		return nil, fmt.Errorf("%s is spoken over a WebSocket alone; give the server's ws or wss URL", cfg.API.Name)
	case t.ws && cfg.HTTP2:
		return nil, errors.New("a WebSocket is opened by HTTP/1.1; leave HTTP/2 out")
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.Start()
	}
	c := &Client{cfg: cfg, clk: cfg.Clock, target: t, at: t.path(cfg.API.Path)}
	if c.head, err = newTemplate(&c.cfg, &t); err != nil {
		return nil, err
	}
	c.redact = cfg.Redactor()
	c.cfg.Stream.Hide = c.redact.String
	if t.tls {
		c.tls = tlsConfig(cfg.TLS, t.name)
	}
	if cfg.HTTP2 {
		c.cfg.NoKernelStamps = true
	}
	if c.loops, err = newReactors(&c.cfg, &t); err != nil {
		return nil, err
	}
	if !c.cfg.NoKernelStamps {
		stampsOn()
	}
	if cfg.Dial == nil {
		c.cfg.Dial = defaultDial(!c.cfg.NoKernelStamps)
	}
	if cfg.Proxy != nil {
		c.through(cfg.Proxy)
	}
	if cfg.HTTP2 {
		c.h2 = c.newHTTP2()
	}
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	c.idPrefix = hex.EncodeToString(random[:]) + "-"
	return c, nil
}

func tlsConfig(given *tls.Config, name string) *tls.Config {
	cfg := &tls.Config{}
	if given != nil {
		cfg = given.Clone()
	}
	cfg.ServerName = cmp.Or(cfg.ServerName, name)
	cfg.NextProtos = []string{"http/1.1"}
	return cfg
}

// Close closes the idle connections. Requests in flight go on.
func (c *Client) Close() error {
	c.pool.drop(true)
	c.loops.close()
	if c.h2 != nil {
		c.h2.CloseIdleConnections()
	}
	return nil
}

// EndSession closes the idle connections of a session or task that sends
// nothing more.
func (c *Client) EndSession(id string) {
	of := func(cn *conn) bool { return cn.owner == id || strings.HasPrefix(cn.owner, id+ofAgent) }
	for {
		cn := c.pool.take(of, c.clk.NS())
		if cn == nil {
			return
		}
		cn.close()
	}
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	return Stats{Opened: c.count.opened.Load(), Reused: c.count.reused.Load(),
		Dead: c.count.dead.Load(), Idle: int64(c.pool.size()), Streams: c.count.streams.max()}
}

// URL is where requests are sent, fit to be shown: secrets removed.
func (c *Client) URL() string { return c.redact.URL(c.target.url(c.at)) }

// path is the request target of a call.
func (c *Client) path(apiPath string) string {
	if apiPath == c.cfg.API.Path {
		return c.at
	}
	return c.target.path(apiPath)
}

// Redactor knows the secrets of this client.
func (c *Client) Redactor() *secret.Redactor { return c.redact }

func (c *Client) newID() string { return c.idPrefix + strconv.FormatInt(c.ids.Add(1), 10) }

// Preconnect opens connections until n wait in the pool, so that no request
// pays for connecting. It returns how many wait, how many µs the shortest TCP connect
// took (empty: none was opened), and why not all wait.
func (c *Client) Preconnect(ctx context.Context, n int) (int, timeline.Opt[int64], error) {
	var shortest timeline.Opt[int64]
	const atOnce = 16
	if c.h2 != nil || c.target.ws {
		return 0, shortest, nil // one connection carries many requests, or is opened with a session's first
	}
	missing := n - c.pool.size()
	if missing <= 0 {
		return c.pool.size(), shortest, nil
	}
	type result struct {
		us timeline.Opt[int64]
		*failure
	}
	results := make(chan result, missing)
	slots := make(chan struct{}, atOnce)
	for range missing {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			cn, took, f := c.dial(ctx)
			if f == nil {
				c.pool.put(cn)
			}
			results <- result{took.connect, f}
		}()
	}
	var first error
	for range missing {
		switch r := <-results; {
		case r.failure != nil && first == nil:
			first = &Error{Class: r.class, Message: c.redact.String(r.msg)}
		case r.failure == nil && r.us.OK() && r.us.Or(0) <= shortest.Or(math.MaxInt64):
			shortest = r.us
		}
	}
	return c.pool.size(), shortest, first
}
