package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"

	"tokenmeter/record/timeline"
)

// newHTTP2 is net/http's transport for HTTP/2 alone. Its read loop belongs to
// many streams, so no kernel stamp can be tied to one of them.
func (c *Client) newHTTP2() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(c.target.tls)
	protocols.SetUnencryptedHTTP2(!c.target.tls)
	rt := &http.Transport{
		Protocols:           protocols,
		DisableCompression:  true,
		DisableKeepAlives:   c.cfg.NoKeepAlive,
		TLSHandshakeTimeout: c.cfg.ConnectTimeout,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if c.cfg.ConnectTimeout > 0 {
				var stop context.CancelFunc
				ctx, stop = context.WithTimeoutCause(ctx, c.cfg.ConnectTimeout, errConnectLimit)
				defer stop()
			}
			nc, err := c.cfg.Dial(ctx, c.target.network, c.target.address)
			if err != nil {
				return nil, errors.Join(err, context.Cause(ctx))
			}
			c.count.opened.Add(1)
			return nc, nil
		},
	}
	if c.tls != nil {
		rt.TLSClientConfig = c.tls.Clone()
		rt.TLSClientConfig.NextProtos = nil
	}
	return rt
}

// onceHTTP2 is once over HTTP/2.
func (x *exchange) onceHTTP2(ctx context.Context) verdict {
	c := x.c
	if ctx.Err() != nil {
		return x.cancelled(ctx)
	}
	x.sentNS = c.clk.NS()
	x.lastNS = x.sentNS
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watchdog{c: c, cancel: cancel}
	defer w.stop()
	w.set(x.limit())

	tr := &trace{c: c, headers: -1, sent: -1, head: -1}
	defer tr.leave()
	req, err := x.httpRequest(httptrace.WithClientTrace(limited, tr.hooks()))
	if err != nil {
		x.fail(&failure{class: timeline.ClientResource, msg: "the request can't be built: " + err.Error()})
		return settled
	}
	resp, err := c.h2.RoundTrip(req)
	tr.record(x)
	if err != nil {
		return x.lostHTTP2(ctx, limited, err)
	}
	defer resp.Body.Close()
	x.rd.status, x.rd.header, x.rd.state = resp.StatusCode, resp.Header, inUntilClose
	x.lastNS = max(x.headNS, x.sentNS)
	x.any, x.tl.Clock = true, timeline.User
	x.gotHead()

	buf := getBuffer()
	defer putBuffer(buf)
	for {
		w.set(x.limit())
		n, err := resp.Body.Read(buf[:])
		at := max(c.clk.NS(), x.lastNS)
		if n > 0 {
			if limit, end := x.limit(); at > limit {
				return x.strike(limit, end)
			}
			x.lastNS = at
			x.body(at, 0, buf[:n])
		}
		if err == nil && x.watched() {
			return settled
		}
		switch {
		case err == io.EOF:
			x.lastNS = at
			x.rd.trailer = resp.Trailer
			return x.finish()
		case err != nil:
			return x.lostHTTP2(ctx, limited, err)
		case x.mode == swallow && x.swallowed > drainBytes:
			return x.verdict
		}
	}
}

func (x *exchange) httpRequest(ctx context.Context) (*http.Request, error) {
	t := &x.c.target
	scheme := "http://"
	if t.tls {
		scheme = "https://"
	}
	req, err := http.NewRequestWithContext(ctx, x.msg.method, scheme+t.host+x.msg.path, bytes.NewReader(x.msg.body))
	if err != nil {
		return nil, err
	}
	for _, f := range x.c.head.fields(&x.msg) {
		switch f.name {
		case "host":
			req.Host = f.value
		case "connection", "content-length": // of HTTP/1, or set by the transport
		default:
			req.Header.Add(f.name, f.value)
		}
	}
	return req, nil
}

// lostHTTP2 settles an attempt that the transport gave up.
func (x *exchange) lostHTTP2(ctx, limited context.Context, err error) verdict {
	var limit *limitReached
	switch {
	case ctx.Err() != nil:
		return x.cancelled(ctx)
	case errors.As(context.Cause(limited), &limit):
		return x.strike(limit.atNS, limit.end)
	case x.mode == swallow:
		return x.verdict
	case x.mode == deliver && errors.Is(err, io.ErrUnexpectedEOF):
		x.end(x.c.clk.NS(), timeline.Cut, nil)
	case x.mode == deliver:
		x.end(x.c.clk.NS(), timeline.Reset, err)
	default:
		x.fail(x.c.http2Failure(err))
	}
	return settled
}

// http2Failure classes what kept a response from coming.
func (c *Client) http2Failure(err error) *failure {
	var op *net.OpError
	var dns *net.DNSError
	var proxy *proxyError
	text := err.Error()
	switch {
	case errors.Is(err, errConnectLimit), strings.Contains(text, "TLS handshake timeout"):
		return &failure{class: timeline.TimeoutConnect,
			msg: "connecting to " + c.target.address + " took longer than " + c.cfg.ConnectTimeout.String() + ""}
	case errors.As(err, &proxy), errors.As(err, &dns), errors.As(err, &op) && op.Op == "dial":
		return dialFailure(err, c.target.address)
	case isTLS(err):
		return tlsFailure(err, c.target)
	case strings.Contains(text, "looked like an HTTP/1.1 header"), strings.Contains(text, "malformed HTTP"), strings.Contains(text, "could not be established"),
		strings.Contains(text, "unexpected ALPN protocol"), strings.Contains(text, "no application protocol"), strings.Contains(text, "HTTP_1_1_REQUIRED"):
		return &failure{class: timeline.Parse, msg: "the server does not speak HTTP/2: " + text + "; ask it by HTTP/1.1"}
	}
	if strings.HasPrefix(text, "stream error") { // RST_STREAM; the connection goes on
		return &failure{class: timeline.ConnReset, msg: "the stream was reset before any response: " + text}
	}
	return &failure{class: timeline.ConnReset, msg: "the connection broke before any response: " + text}
}

func isTLS(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &certificate) || errors.As(err, &record) ||
		errors.As(err, &alert) && !strings.Contains(err.Error(), "no application protocol")
}
