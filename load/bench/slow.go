package bench

import (
	"context"
	"net"
	"sync"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/wire/client"
)

// slowDoers are the clients of users who read slowly, by bytes a second.
type slowDoers struct {
	mu  sync.Mutex
	all map[int64]*client.Client
	cfg client.Config
}

// doerFor returns the client that sends a step.
func (r *runner) doerFor(s *workload.Step) doer {
	if s.ReadRate <= 0 {
		return r.do
	}
	r.slow.mu.Lock()
	defer r.slow.mu.Unlock()
	if c := r.slow.all[s.ReadRate]; c != nil {
		return c
	}
	cfg := r.slow.cfg
	cfg.Form, cfg.NoKernelStamps = client.PlainForm, true // the stamp that counts is when the user took it
	cfg.Dial = slowly(cfg.Dial, s.ReadRate)
	c, err := client.New(cfg)
	if err != nil {
		return r.do // the same configuration was good before
	}
	if r.slow.all == nil {
		r.slow.all = map[int64]*client.Client{}
	}
	r.slow.all[s.ReadRate] = c
	return c
}

func (d *slowDoers) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.all {
		c.Close()
	}
}

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// smallBuffer is what the system may hold back for a slow reader: the less, the
// sooner the server feels it.
const smallBuffer = 4 << 10

// slowly makes connections that give so many bytes a second.
func slowly(dial dialer, rate int64) dialer {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(smallBuffer)
		}
		return &slowConn{Conn: c, rate: rate}, nil
	}
}

// slowConn gives at most rate bytes a second, in bites of a twentieth of that.
type slowConn struct {
	net.Conn
	rate int64
	free time.Time // when the next bite may be taken
}

// Read implements net.Conn.
func (c *slowConn) Read(p []byte) (int, error) {
	if wait := time.Until(c.free); wait > 0 {
		time.Sleep(wait)
	}
	if bite := max(c.rate/20, 1); int64(len(p)) > bite {
		p = p[:bite]
	}
	n, err := c.Conn.Read(p)
	c.free = time.Now().Add(time.Duration(n) * time.Second / time.Duration(c.rate))
	return n, err
}
