package client

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Stats counts what a client did with its connections.
type Stats struct {
	Opened int64 // connections
	Reused int64 // requests sent on a connection that had served one before
	Dead   int64 // idle connections that were found closed, or closed as they were used
	Idle   int64 // connections that wait in the pool now
	// Streams is the most requests at once on one connection of HTTP/2; 0 over HTTP/1.1.
	Streams int64
}

type counters struct {
	begun, retried       atomic.Int64 // requests, and tries beyond the first
	opened, reused, dead atomic.Int64
	streams              streams
}

// streams counts the requests on each connection of HTTP/2.
type streams struct {
	mu   sync.Mutex
	on   map[net.Conn]int64
	most int64
}

// move has a request leave a connection for another; nil is none.
func (s *streams) move(from, to net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from != nil {
		if s.on[from]--; s.on[from] <= 0 {
			delete(s.on, from)
		}
	}
	if to != nil {
		if s.on == nil {
			s.on = map[net.Conn]int64{}
		}
		s.on[to]++
		s.most = max(s.most, s.on[to])
	}
}

func (s *streams) max() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// expiryMargin is how long before its announced end an idle connection is no
// longer used: the request must still reach a server that listens.
const expiryMargin = 500 * time.Millisecond

// pool keeps idle connections. The one used last is used next: it is the least
// likely to have been closed, and the others may age out.
type pool struct {
	mu     sync.Mutex
	idle   []*conn
	closed bool
}

// take returns a connection that fits and is idle since then or longer, or nil.
func (p *pool) take(fits func(*conn) bool, thenNS int64) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range slices.Backward(p.idle) {
		if c.sinceNS <= thenNS && fits(c) {
			p.idle = slices.Delete(p.idle, i, i+1)
			return c
		}
	}
	return nil
}

// put keeps c for later, or closes it when the pool is closed.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if closed {
		c.close()
	}
}

func (p *pool) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// drop closes every idle connection; final closes those that come later too.
func (p *pool) drop(final bool) {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, p.closed || final
	p.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
}

// takeAlive returns an idle connection that fits and looks usable, and how many were
// found closed on the way. once: the request can't be sent again.
func (c *Client) takeAlive(fits func(*conn) bool, once bool) (cn *conn, dead int) {
	for {
		now := c.clk.NS()
		then := now
		if once && now < c.early.Load() {
			then -= int64(settleTime)
		}
		cn := c.pool.take(fits, then)
		if cn == nil {
			return nil, dead
		}
		switch {
		case cn.expiresNS > 0 && now >= cn.expiresNS:
			cn.close() // its time was over; that is no surprise
		case !cn.alive():
			cn.close()
			dead++
			c.count.dead.Add(1)
			c.foundDead(cn)
		default:
			cn.idle = true
			return cn, dead
		}
	}
}

// Some servers close connections right after a response though they promise to
// keep them (llama.cpp's after every stream, 24 µs later, with "Keep-Alive:
// timeout=5"). A request that is sent in that moment is lost. After a server was
// seen to close within earlyClose, which is shorter than servers wait for a next
// request, what can't be sent again has for earlyFor only connections that were
// still open settleTime after their response.
const (
	earlyClose = time.Second
	earlyFor   = time.Minute
	settleTime = 100 * time.Millisecond
)

// foundDead is told of a connection that the server closed while it was idle.
func (c *Client) foundDead(cn *conn) {
	if now := c.clk.NS(); now-cn.sinceNS < int64(earlyClose) {
		c.early.Store(now + int64(earlyFor))
	}
}

// keep puts an owner's connection back after a complete response.
func (c *Client) keep(cn *conn, owner string, keepFor time.Duration) {
	cn.owner, cn.expiresNS, cn.sinceNS = owner, 0, c.clk.NS()
	if keepFor > 0 {
		cn.expiresNS = c.clk.NS() + int64(max(keepFor-expiryMargin, keepFor/2))
	}
	c.pool.put(cn)
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
