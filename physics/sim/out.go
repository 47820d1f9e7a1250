package sim

import (
	"net"
	"sync"
)

// mark says which tokens and moments of a truth a write stands for.
type mark struct {
	r        *reply
	from, to int  // tokens, to exclusive
	head     bool // it carries the end of the head
	end      bool // it carries the end of the reply
	quiet    bool // nothing was written: the reply just ends
}

// after is what becomes of the connection when a write is out.
type after uint8

const (
	keepOpen after = iota
	closeIt        // FIN
	resetIt        // RST, where the connection can
)

type item struct {
	data []byte
	mark mark
	then after
}

// out is the writing side of a connection. Writes go straight to the socket
// from the thread that paces; only when the socket takes no more, or when the
// connection is no socket, a goroutine of its own finishes them.
type out struct {
	s  *Server
	nc net.Conn
	d  *direct // nil: no direct writes

	mu      sync.Mutex
	queue   []item
	writing bool
	dead    bool
}

// write sends data, which the caller may reuse afterwards.
func (o *out) write(data []byte, m mark, then after) {
	o.mu.Lock()
	if (o.dead || m.quiet) && !o.writing {
		o.mu.Unlock()
		o.settle(m, then, -1, -1)
		return
	}
	if o.d != nil && !o.writing {
		o.mu.Unlock()
		before := o.s.clock.now()
		n, err := o.d.write(data)
		wrote := o.s.clock.now()
		if err != nil {
			o.kill()
			o.settle(m, then, -1, -1)
			return
		}
		if n == len(data) {
			o.settle(m, then, before, wrote)
			return
		}
		data = data[n:]
		o.mu.Lock()
		if m.r != nil && m.r.truth != nil {
			m.r.truth.Blocked = true
		}
	}
	o.queue = append(o.queue, item{append([]byte(nil), data...), m, then})
	if !o.writing {
		o.writing = true
		go o.drain()
	}
	o.mu.Unlock()
}

// drain writes what is queued, blocking.
func (o *out) drain() {
	for {
		o.mu.Lock()
		if len(o.queue) == 0 {
			o.writing = false
			o.mu.Unlock()
			return
		}
		it := o.queue[0]
		o.queue = o.queue[1:]
		dead := o.dead
		o.mu.Unlock()
		before, wrote := int64(-1), int64(-1)
		if !dead && !it.mark.quiet {
			before = o.s.clock.now()
			var err error
			if len(it.data) > 0 {
				_, err = o.nc.Write(it.data)
			}
			wrote = o.s.clock.now()
			if err != nil {
				o.kill()
				before, wrote = -1, -1
			}
		}
		o.settle(it.mark, it.then, before, wrote)
	}
}

// kill closes the connection; further writes vanish.
func (o *out) kill() {
	o.mu.Lock()
	o.dead = true
	o.mu.Unlock()
	o.nc.Close()
}

// settle notes a write's times and does what follows it.
func (o *out) settle(m mark, then after, before, wrote int64) {
	if before >= 0 {
		switch then {
		case closeIt:
			o.kill()
		case resetIt:
			if t, ok := o.nc.(*net.TCPConn); ok {
				_ = t.SetLinger(0)
			}
			o.kill()
		}
	}
	if m.r != nil {
		m.r.written(m, before, wrote)
	}
}
