package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"tokenmeter/record/timeline"
)

// Passing is a request that somebody else made and that is sent on as it is.
type Passing struct {
	Method string
	Path   string // with its query, escaped; joined to the base URL
	Host   string // empty: the target's own
	Header http.Header
	// Body is what is sent first; More, when set, follows it.
	Body []byte
	More io.Reader
	// Length is that of Body and More together, −1 when nobody knows.
	Length int64
	// Upgrade asks for another protocol: the header says which.
	Upgrade bool
	// Again permits a second try on a new connection when one that had waited
	// in the pool turns out to be dead before anything was answered. The first
	// try may have reached the server all the same.
	Again bool
	// HeadLimit is how long the response's head may take after the request was
	// sent, and how long the server may take nothing of the request; 0: as long
	// as it likes.
	HeadLimit time.Duration
	// UntilNS is when the exchange is given up, on the client's clock; 0: never.
	UntilNS int64
	// Informational, when set, is told of 1xx responses before the final one.
	Informational func(status int, header http.Header)
}

// Passed is a response that is read by whoever passes it on. One goroutine
// uses it; Close must be called.
type Passed struct {
	Status      int
	Header      http.Header
	HeadNS      int64 // first byte of the final head, on the client's clock
	SentNS      int64 // last byte of the request written; never after HeadNS
	Reused      bool
	Remote      string
	ConnRetries int
	DNSUS       timeline.Opt[int64]
	ConnectUS   timeline.Opt[int64]
	TLSUS       timeline.Opt[int64]

	c      *Client
	ctx    context.Context
	cn     *conn
	unhook func() bool
	rd     response
	until  int64
	lastNS int64
	buf    *buffer
	body   []byte // read together with the head
	at     Arrived
	whole  bool // the request was written whole
	over   bool
	rest   bool // bytes came behind the response's end
}

// Arrived says when the bytes of a read came, on the client's clock.
type Arrived struct {
	AtNS   int64 // the kernel's stamp, where there is one
	ReadNS int64 // when the read picked them up
	Kernel bool
}

// EndError says how a response ended that did not end well.
type EndError struct {
	End     timeline.End
	Invalid bool // what came is no HTTP
	Err     error
}

func (e *EndError) Error() string {
	if e.Err == nil {
		return string(e.End)
	}
	return e.Err.Error()
}

// Pass sends a request on and returns its response as soon as the head has
// come. The error is an [*Error]. The body is read with Read.
func (c *Client) Pass(ctx context.Context, p *Passing) (*Passed, error) {
	r := &Passed{c: c, ctx: ctx, until: farFuture}
	if p.UntilNS > 0 {
		r.until = p.UntilNS
	}
	fresh := c.cfg.NoKeepAlive || p.Upgrade
	for {
		f, again := r.try(p, fresh)
		switch {
		case f == nil:
			return r, nil
		case again && p.Again && p.More == nil:
			c.count.dead.Add(1)
			r.ConnRetries++
			fresh = true
		default:
			return r, &Error{Class: f.class, Message: c.redact.String(f.msg)}
		}
	}
}

// try sends the request once; again tells that an idle connection was dead.
func (r *Passed) try(p *Passing, fresh bool) (f *failure, again bool) {
	if f := r.cancelled(); f != nil {
		return f, false
	}
	if f := r.connect(fresh, !p.Again); f != nil {
		return f, false
	}
	waited := r.cn.idle
	r.unhook = context.AfterFunc(r.ctx, r.cn.close)
	r.rd.reset()
	r.rd.headless, r.rd.upgrade = p.Method == http.MethodHead, p.Upgrade
	writeErr := r.send(p)
	f = r.head(p, r.headLimit(p, writeErr), writeErr)
	if f == nil {
		return nil, false
	}
	lost := r.HeadNS == 0 && f.class == timeline.ConnReset && r.ctx.Err() == nil
	r.over = true
	if waited && lost {
		r.c.foundDead(r.cn)
	}
	r.release(false)
	return f, waited && lost
}

// cancelled is the failure that a cancelled context stands for; nil: it goes on.
func (r *Passed) cancelled() *failure {
	if r.ctx.Err() == nil {
		return nil
	}
	return cancelled(r.ctx, "")
}

// connect takes a connection of the pool or opens one.
func (r *Passed) connect(fresh, once bool) *failure {
	r.cn, r.over, r.HeadNS, r.body = nil, false, 0, nil
	if !fresh {
		cn, dead := r.c.takeAlive(func(cn *conn) bool { return cn.owner == "" }, once) // of no session
		r.ConnRetries += dead
		r.cn = cn
	}
	if r.cn == nil {
		ctx := r.ctx
		if r.until < farFuture {
			limit := &failure{class: timeline.TimeoutTotal, msg: "the time limit passed while connecting", atNS: r.until}
			var stop context.CancelFunc
			ctx, stop = context.WithDeadlineCause(ctx, r.c.clk.Time(r.until), limit)
			defer stop()
		}
		cn, took, f := r.c.dial(ctx)
		r.DNSUS, r.ConnectUS, r.TLSUS = took.dns, took.connect, took.tls
		if f != nil {
			return f
		}
		r.cn = cn
	}
	r.Reused, r.Remote = r.cn.served > 0, r.cn.remote
	if r.Reused {
		r.c.count.reused.Add(1)
	}
	return nil
}

// Take hands over the connection after 101 Switching Protocols, with what the
// server has sent on it already. Close is then the taker's.
func (r *Passed) Take() (conn net.Conn, first []byte) {
	first = slices.Clone(r.body)
	putBuffer(r.buf)
	r.buf = nil
	r.over = true
	if r.unhook != nil {
		r.unhook()
	}
	conn = r.cn.src.Conn // which may know how to close one direction
	if r.cn.tls != nil {
		conn = r.cn.tls
	}
	_ = conn.SetDeadline(time.Time{})
	r.cn = nil
	return conn, first
}

// Close ends the exchange. The connection is kept for another when the
// response was read to its end, and nobody was asked to change its protocol.
func (r *Passed) Close() {
	r.release(r.rd.done() && !r.rd.last && !r.rd.upgrade && !r.rest && r.whole)
}

func (r *Passed) release(keep bool) {
	putBuffer(r.buf)
	r.buf = nil
	if r.cn == nil {
		return
	}
	cn := r.cn
	r.cn = nil
	if keep = r.unhook() && keep; keep && !r.c.cfg.NoKeepAlive {
		cn.served++
		r.c.keep(cn, "", r.rd.keepFor)
	} else {
		cn.close()
	}
}
