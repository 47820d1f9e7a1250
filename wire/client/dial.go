package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"time"

	"tokenmeter/record/timeline"
)

// timings are how long the steps to a new connection took, where they happened.
type timings struct{ dns, connect, tls timeline.Opt[int64] }

func (t *timings) record(tl *timeline.Timeline) {
	tl.DNSUS, tl.ConnectUS, tl.TLSUS = t.dns, t.connect, t.tls
}

var errConnectLimit = errors.New("connect limit")

// dial opens a connection. Its limit is the connect timeout; ctx brings the
// others.
func (c *Client) dial(ctx context.Context) (*conn, timings, *failure) {
	var took timings
	if c.cfg.ConnectTimeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, c.cfg.ConnectTimeout, errConnectLimit)
		defer stop()
	}
	start := c.clk.NS()
	nc, err := c.connect(ctx, start, &took)
	if err == nil && c.cfg.Admit != nil {
		if err = c.cfg.Admit(nc); err != nil {
			_ = nc.Close()
		}
	}
	if err != nil {
		return nil, took, c.connectFailure(ctx, err, "connecting to "+c.target.address, dialFailure(err, c.target.address), start)
	}
	c.count.opened.Add(1)
	cn := &conn{}
	if addr := nc.RemoteAddr(); addr != nil {
		cn.remote = addr.String()
	}
	if cn.sock = c.loops.adopt(nc); cn.sock != nil {
		return cn, took, nil
	}
	cn.src = newSource(nc, c.clk, !c.cfg.NoKernelStamps)
	if !c.target.tls {
		return cn, took, nil
	}
	before := c.clk.NS()
	cn.tls = tls.Client(cn.src, c.tls)
	if err := cn.tls.HandshakeContext(ctx); err != nil {
		cn.close()
		f := c.connectFailure(ctx, err, "the TLS handshake with "+c.target.address, tlsFailure(err, c.target), start)
		if f.class == timeline.TimeoutConnect {
			f.msg += "; if the server does not speak TLS on this port, use " + c.target.scheme(false)
		}
		return nil, took, f
	}
	took.tls = timeline.Some((c.clk.NS() - before) / 1000)
	return cn, took, nil
}

// connect resolves and connects. The standard dialer tries both address
// families and reports the steps through its trace.
func (c *Client) connect(ctx context.Context, start int64, took *timings) (net.Conn, error) {
	dnsStart, connectStart := int64(-1), start
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { dnsStart = c.clk.NS() },
		DNSDone: func(httptrace.DNSDoneInfo) {
			if dnsStart >= 0 {
				connectStart = c.clk.NS()
				took.dns = timeline.Some((connectStart - dnsStart) / 1000)
			}
		},
	})
	nc, err := c.cfg.Dial(ctx, c.target.network, c.target.address)
	if err == nil {
		took.connect = timeline.Some((c.clk.NS() - connectStart) / 1000)
	}
	return nc, err
}

// connectFailure puts a limit or a cancellation of ctx before what the dialer
// made of it.
func (c *Client) connectFailure(ctx context.Context, err error, doing string, plain *failure, start int64) *failure {
	cause := context.Cause(ctx)
	if cause == nil {
		if errors.Is(err, context.DeadlineExceeded) {
			cause = errConnectLimit // the dialer's timer was a moment earlier
		} else {
			return plain
		}
	}
	var limit *failure
	switch {
	case errors.Is(cause, errConnectLimit):
		return &failure{class: timeline.TimeoutConnect, atNS: start + int64(c.cfg.ConnectTimeout),
			msg: doing + " took longer than " + c.cfg.ConnectTimeout.String() + ""}
	case errors.As(cause, &limit):
		return limit
	}
	return cancelled(ctx, " while "+doing)
}

// defaultDial connects with both address families in a race and asks for
// kernel stamps from the first byte on.
func defaultDial(stamps bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{FallbackDelay: 250 * time.Millisecond}
	if stamps {
		d.Control = stampControl
	}
	return d.DialContext
}
