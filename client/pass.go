package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/timeline"
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
	// sent; 0: as long as it likes.
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
	HeadNS      int64 // first byte of the head, on the client's clock
	SentNS      int64 // last byte of the request written
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
	if r.ctx.Err() != nil {
		_, class, words := cancelled(r.ctx)
		return &failure{class: class, msg: words.Error()}, false
	}
	if f := r.connect(fresh); f != nil {
		return f, false
	}
	waited := r.cn.idle
	r.unhook = context.AfterFunc(r.ctx, r.cn.close)
	r.rd.reset()
	r.rd.headless, r.rd.upgrade = p.Method == http.MethodHead, p.Upgrade
	writeErr := r.send(p)
	limit := r.until
	if p.HeadLimit > 0 {
		limit = min(limit, r.SentNS+int64(p.HeadLimit))
	}
	f = r.head(p, limit, writeErr)
	if f == nil {
		return nil, false
	}
	lost := r.HeadNS == 0 && f.class == timeline.ConnReset && r.ctx.Err() == nil
	r.over = true
	r.release(false)
	return f, waited && lost
}

// connect takes a connection of the pool or opens one.
func (r *Passed) connect(fresh bool) *failure {
	r.cn, r.over, r.HeadNS, r.body = nil, false, 0, nil
	if !fresh {
		cn, dead := r.c.takeAlive()
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

// send writes the request; what is in memory goes in one write.
func (r *Passed) send(p *Passing) error {
	b := requests.Get().(*[]byte)
	*b = append(r.c.passHead((*b)[:0], p), p.Body...)
	before := r.c.clk.Now()
	r.cn.src.begin(before)
	r.lastNS = before.NS
	_ = r.cn.src.SetWriteDeadline(deadline(r.c.clk, r.until))
	err := r.cn.write(*b)
	if cap(*b) <= 1<<20 {
		requests.Put(b)
	}
	if err == nil && p.More != nil {
		err = r.sendMore(p)
	}
	r.whole = err == nil
	r.SentNS = r.c.clk.NS()
	return err
}

// sendMore writes the part of the body that is not in memory.
func (r *Passed) sendMore(p *Passing) error {
	b := getBuffer()
	defer putBuffer(b)
	const room = 16 // for a chunk's size
	for {
		n, err := p.More.Read(b[room : len(b)-2])
		if n > 0 {
			out := b[room : room+n]
			if p.Length < 0 {
				size := strconv.AppendInt(nil, int64(n), 16)
				from := room - len(size) - 2
				copy(b[from:], size)
				copy(b[room-2:], "\r\n")
				copy(b[room+n:], "\r\n")
				out = b[from : room+n+2]
			}
			if err := r.cn.write(out); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) && p.Length < 0:
			return r.cn.write([]byte("0\r\n\r\n"))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &senderError{err}
		}
	}
}

// senderError is a request's body that could not be read.
type senderError struct{ error }

// passHead writes the head of a request.
func (c *Client) passHead(b []byte, p *Passing) []byte {
	host := p.Host
	if host == "" {
		host = c.target.host
	}
	b = append(b, p.Method...)
	b = append(b, ' ')
	b = append(b, c.origin...)
	b = append(b, c.target.passPath(p.Path)...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	for _, f := range c.head { // what the configuration gives wins
		if c.given(f.name) {
			b = appendField(b, f.name, f.value)
		}
	}
	names := make([]string, 0, len(p.Header))
	for name := range p.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if lower := strings.ToLower(name); lower == "host" || c.given(lower) && c.head.has(lower) ||
			framing(name) && (name != "Upgrade" || !p.Upgrade) {
			continue
		}
		for _, v := range p.Header[name] {
			if checkField(name, v) == nil {
				b = appendField(b, name, v)
			}
		}
	}
	switch {
	case p.Upgrade:
		b = appendField(b, "Connection", "Upgrade")
	case p.Length < 0:
		b = appendField(b, "Transfer-Encoding", "chunked")
	case p.Length > 0 || p.Method == http.MethodPost || p.Method == http.MethodPut || p.Method == http.MethodPatch:
		b = appendField(b, "Content-Length", strconv.FormatInt(p.Length, 10))
	}
	return append(b, "\r\n\r\n"...)
}

// passPath joins a path that is passed on. Without a base path it stays as it is.
func (t *target) passPath(path string) string {
	if t.base == "" && t.query == "" {
		return escape(path)
	}
	joined := t.path(path)
	if p, query, has := strings.Cut(path, "?"); strings.HasSuffix(p, "/") && !has && query == "" && !strings.HasSuffix(joined, "/") {
		joined += "/"
	}
	return joined
}

// given tells the headers that the configuration sets from those that the
// client adds of its own accord, which a request that is passed on must not get.
func (c *Client) given(lower string) bool {
	switch lower {
	case "host", "user-agent", "accept-encoding", "connection":
		return false
	}
	return true
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, "\r\n"...)
	b = append(b, name...)
	b = append(b, ": "...)
	return append(b, value...)
}

// head reads until the final head has come.
func (r *Passed) head(p *Passing, limitNS int64, writeErr error) *failure {
	var asked *senderError
	if errors.As(writeErr, &asked) {
		return &failure{class: timeline.CancelledUser, msg: "the request's body did not come whole: " + asked.Error()}
	}
	for {
		data, err := r.read(limitNS)
		if err != nil {
			return r.headless(err, limitNS, p, writeErr)
		}
		if r.HeadNS == 0 {
			r.HeadNS = r.at.AtNS
		}
		for !r.rd.headDone() {
			before := r.rd.informational
			if data, err = r.rd.feedHead(data); err != nil {
				return &failure{class: timeline.Parse, msg: err.Error()}
			}
			if r.rd.informational > before && p.Informational != nil {
				p.Informational(r.rd.interim, r.rd.interimHeader)
			}
			if len(data) == 0 {
				break
			}
		}
		if r.rd.headDone() {
			r.Status, r.Header = r.rd.status, r.rd.header
			r.body = data
			return nil
		}
	}
}

// headless words why no head came.
func (r *Passed) headless(err error, limitNS int64, p *Passing, writeErr error) *failure {
	switch {
	case r.ctx.Err() != nil:
		_, class, words := cancelled(r.ctx)
		return &failure{class: class, msg: words.Error()}
	case errors.Is(err, os.ErrDeadlineExceeded) && limitNS == r.until:
		return &failure{class: timeline.TimeoutTotal, msg: "no response within the time limit of the request"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{class: timeline.TimeoutTTFT, msg: "no response began within " + p.HeadLimit.String()}
	}
	return &failure{class: timeline.ConnReset, msg: lossWords(err, writeErr, r.HeadNS != 0)}
}

// read takes one read off the connection. Its bytes are valid until the next.
func (r *Passed) read(limitNS int64) ([]byte, error) {
	putBuffer(r.buf)
	r.buf = nil
	for {
		r.cn.arm(r.c.clk, limitNS)
		buf, n, err := r.cn.readOne()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && r.ctx.Err() == nil && r.c.clk.NS() < limitNS {
				r.cn.armed = 0 // it was an older, earlier limit
				continue
			}
			return nil, err
		}
		r.buf = buf
		src := &r.cn.src.stamper
		r.at = Arrived{AtNS: max(src.arrivedNS, r.lastNS), ReadNS: src.readNS, Kernel: src.kernel}
		r.lastNS = r.at.AtNS
		return buf[:n], nil
	}
}

// Kernel reports whether every arrival so far had the kernel's stamp.
func (r *Passed) Kernel() bool { return r.cn != nil && r.cn.src.allSeen }

// Waits reports whether bytes of the body have come that were not read yet.
func (r *Passed) Waits() bool { return len(r.body) > 0 }

// LastNS is when the last bytes came, on the client's clock.
func (r *Passed) LastNS() int64 { return r.lastNS }

// Read returns body bytes as they came off the connection: those of one read,
// after transfer decoding, valid until the next call. At limitNS, on the
// client's clock, it gives up (0: never). The error is io.EOF after a complete
// response, else an [*EndError].
func (r *Passed) Read(limitNS int64) ([]byte, Arrived, error) {
	if limitNS == 0 {
		limitNS = farFuture
	}
	limit := min(limitNS, r.until)
	for {
		raw := r.body
		r.body = nil
		if raw == nil {
			if r.over || r.rd.done() {
				r.over = true
				return nil, r.at, io.EOF
			}
			var err error
			if raw, err = r.read(limit); err != nil {
				return nil, r.at, r.ended(err, limit)
			}
		}
		data, rest, err := r.rd.feed(raw)
		if err != nil {
			r.over = true
			if len(data) > 0 {
				r.body = nil
			}
			return data, r.at, &EndError{End: timeline.Cut, Invalid: true, Err: err}
		}
		r.rest = r.rest || len(rest) > 0
		if len(data) > 0 {
			return data, r.at, nil
		}
	}
}

// ended says how the response ended.
func (r *Passed) ended(err error, limitNS int64) error {
	r.over = true
	switch {
	case r.ctx.Err() != nil:
		end, _, words := cancelled(r.ctx)
		return &EndError{End: end, Err: words}
	case errors.Is(err, os.ErrDeadlineExceeded) && limitNS == r.until:
		return &EndError{End: timeline.EndTimeoutTotal}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &EndError{End: timeline.EndTimeoutIdle}
	case errors.Is(err, io.EOF) && r.rd.state == inUntilClose:
		return io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &EndError{End: timeline.Cut}
	}
	return &EndError{End: timeline.Reset, Err: bare(err)}
}

// Trailer is what followed the body; nil without one.
func (r *Passed) Trailer() http.Header { return r.rd.trailer }

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
	conn = r.cn.src
	if r.cn.tls != nil {
		conn = r.cn.tls
	}
	_ = conn.SetDeadline(time.Time{})
	r.cn = nil
	return conn, first
}

// Close ends the exchange. The connection is kept for another when the
// response was read to its end.
func (r *Passed) Close() { r.release(r.rd.done() && !r.rd.last && !r.rest && r.whole) }

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
		r.c.keep(cn, r.rd.keepFor)
	} else {
		cn.close()
	}
}

// Tidy closes connections that have waited in the pool for longer than age, or
// that the server has closed.
func (c *Client) Tidy(age time.Duration) {
	now := c.clk.NS()
	c.pool.mu.Lock()
	var drop []*conn
	c.pool.idle = slices.DeleteFunc(c.pool.idle, func(cn *conn) bool {
		old := now-cn.sinceNS > int64(age) || cn.expiresNS > 0 && now >= cn.expiresNS || !cn.alive()
		if old {
			drop = append(drop, cn)
		}
		return old
	})
	c.pool.mu.Unlock()
	for _, cn := range drop {
		cn.close()
	}
}
