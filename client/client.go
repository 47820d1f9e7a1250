// Package client sends one request and stamps the arrival of everything that
// comes back. It has its own HTTP/1.1 connection handling, because the stamp
// that counts is the kernel's, taken below TLS and tied to the read that
// brought the bytes; net/http hides both.
package client

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"

	"tokenmeter/api"
	"tokenmeter/clock"
	"tokenmeter/timeline"
)

// Config is how a client reaches one target.
type Config struct {
	BaseURL string // as the user gave it; see JoinURL
	API     *api.API
	Header  http.Header // sent with every request
	Key     string      // API key; goes into the header the API names
	Clock   *clock.Clock
	// Dial opens a connection; nil means net.Dialer. Tests pass in-memory pipes.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS  *tls.Config

	ConnectTimeout time.Duration
	Timeout        time.Duration // whole request, from start
	TTFTTimeout    time.Duration // 0: off
	IdleTimeout    time.Duration // 0: off

	NoKeepAlive     bool
	FollowRedirects bool // 307 and 308 on the same host only
	Retries         int  // after 429 and 503; the wait stays inside the latency
	NoKernelStamps  bool

	Stream api.StreamOptions
	// Capture, when set, returns where the raw reads of a request go.
	Capture func(tl *timeline.Timeline) io.WriteCloser
}

// Client keeps a pool of connections to one target. Safe for concurrent use.
type Client struct{ cfg Config }

// New checks the configuration. Errors name the flag that mends them.
func New(cfg Config) (*Client, error) { return &Client{cfg: cfg}, nil }

// Do sends the request and fills tl, whose DueUS and StartUS are set by the
// caller, until the reply has ended, a limit is reached or ctx is cancelled
// (cause ErrRunEnd or ErrUser). It never returns an error: the outcome is in tl.
func (c *Client) Do(ctx context.Context, req *api.Request, tl *timeline.Timeline) {
	panic("not written yet")
}
