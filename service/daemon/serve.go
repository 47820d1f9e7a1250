// Package daemon is the daemon: it reads one file, opens listeners, wires
// proxies to sinks, takes a changed file without dropping a stream, and ends
// without cutting one off that can still finish.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/load/machine"
	"tokenmeter/service/proxy"
	"tokenmeter/service/traffic"
	"tokenmeter/service/traffic/rows"
	"tokenmeter/wire/api"
)

// Options are what the daemon gets from outside.
type Options struct {
	// Load reads the configuration anew.
	Load func() (*Plan, error)
	// Files that a change of is looked for; empty: none.
	Files func(*Plan) []string
	// Sinks are told of every finished request, besides the counters.
	Sinks []traffic.Sink
	// Asked: the sinks get the bodies of requests too.
	Asked bool
	// Reload is signalled to read the configuration now.
	Reload <-chan os.Signal
	Log    *slog.Logger
	// Version is told to whoever gets telemetry.
	Version string
	// Ready is told the addresses once the daemon serves.
	Ready func(listeners []Address, admin net.Addr)
	// Listen opens an address; nil: net.Listen. Tests pass in-memory pipes.
	Listen func(network, address string) (net.Listener, error)
	// Dial connects to upstreams; nil: as usual.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Now is the wall clock that windows and alerts are of; nil: time.Now.
	Now func() time.Time
	// Watch is how often files are looked at; 0: 2 s.
	Watch time.Duration
}

// Address is where a listener is.
type Address struct {
	Name string // empty: it has none of its own
	Addr net.Addr
	TLS  bool
}

// URL is the address as clients write it.
func (a Address) URL() string {
	if a.TLS {
		return "https://" + a.Addr.String()
	}
	return "http://" + a.Addr.String()
}

// Daemon is a running daemon.
type Daemon struct {
	opt      Options
	log      *slog.Logger
	clk      *clock.Clock
	counters *traffic.Counters
	out      *exporters
	budgets  *budgets      // nil: none; under mu
	rows     *rows.Archive // nil: none; under mu
	asking   *prober       // nil: nothing is asked; under mu
	servers  *servers      // nil: not yet; under mu
	bodies   *proxy.Budget // of all listeners
	clients  *proxy.Budget // likewise, for connections and requests
	replies  *api.Room     // of all listeners

	mu       sync.Mutex
	plan     *Plan
	openings []*opening
	closing  []*opening // that a reload removed, with requests that may still go on
	admin    *http.Server
	addr     net.Addr

	shutting        sync.WaitGroup // of openings
	ready           atomic.Bool
	reloads, failed atomic.Int64
	fullAt          atomic.Int64 // when it was last said that no descriptors are left, s
}

// LostError says that what a daemon had counted or recorded could not be written when
// it ended.
type LostError struct{ Err error }

// Error implements error.
func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap implements the interface of errors.Unwrap.
func (e *LostError) Unwrap() error { return e.Err }

// Run serves until ctx ends, and then until the streams in flight have ended or
// their time is over. An error at the start is one of the configuration or of
// an address, one at the end a *LostError.
func Run(ctx context.Context, opt Options) (err error) {
	d := &Daemon{opt: opt, log: opt.Log, clk: clock.Start(), counters: traffic.NewCounters(nil)}
	d.log = cmp.Or(d.log, slog.New(slog.DiscardHandler))
	if opt.Listen == nil {
		d.opt.Listen = net.Listen
	}
	if opt.Now == nil {
		d.opt.Now = time.Now
	}
	plan, err := opt.Load()
	if err != nil {
		return err
	}
	share := sharesOf(machine.This().MemoryLimit(), int64(plan.Config.Bodies))
	d.bodies, d.replies, d.clients = proxy.NewBudget(share.bodies), api.NewRoom(share.replies, proxy.ReplyInHand), proxy.NewBudget(share.clients)
	seen := d.fingerprint(plan) // before anything else: what changes from here on is seen
	out, err := d.openExporters(ctx, plan)
	if err != nil {
		return err
	}
	archive, err := d.openRows(plan)
	if err != nil {
		out.close()
		return err
	}
	d.mu.Lock()
	d.out, d.rows = out, archive
	d.mu.Unlock()
	defer func() { err = errors.Join(err, d.budgets.close()) }()
	defer func() { d.servers.close() }()
	defer func() { err = errors.Join(err, d.closeRows()) }()
	if err := d.openAdmin(plan); err != nil {
		d.out.close()
		return err
	}
	asking, err := d.openProbes(plan)
	if err == nil {
		err = d.apply(plan)
	}
	if err != nil {
		if asking != nil {
			_ = asking.base.Ledger.Close()
		}
		d.closeAdmin()
		d.out.close()
		return err
	}
	var probing sync.WaitGroup
	d.mu.Lock()
	d.asking = asking
	d.mu.Unlock()
	if asking != nil {
		probing.Go(func() { asking.run(ctx) })
	}
	d.ready.Store(true)
	if opt.Ready != nil {
		var addresses []Address
		for _, opening := range d.openings {
			name := opening.Name
			if name == opening.Listen {
				name = ""
			}
			addresses = append(addresses, Address{name, opening.ln.Addr(), opening.listen.tls != nil})
		}
		opt.Ready(addresses, d.addr)
	}
	d.watch(ctx, seen)
	probing.Wait() // ctx has ended them
	d.stop()
	return nil
}

// apply takes a plan. Nothing changes when a part of it is not possible.
func (d *Daemon) apply(plan *Plan) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, fresh, err := d.openListeners(plan)
	undo := func() {
		for _, opening := range fresh {
			_ = opening.ln.Close()
		}
	}
	if err != nil {
		undo()
		return err
	}
	opened := d.budgets == nil
	if opened {
		if d.budgets, err = d.openBudgets(plan); err != nil {
			undo()
			return err
		}
		if d.out.dog != nil {
			d.out.dog.Known(d.budgets.emit)
		}
	}
	made := make([]*proxy.Proxy, len(next))
	for i, opening := range next {
		cfg := plan.proxyConfig(plan.listeners[i].Name, d.clk, d.sinks())
		cfg.Asked = d.opt.Asked
		cfg.Upstreams = slices.Clone(cfg.Upstreams)
		for k := range cfg.Upstreams {
			cfg.Upstreams[k].Dial = d.opt.Dial
		}
		cfg.Log, cfg.LogRequests, cfg.Bodies, cfg.Replies, cfg.Clients = d.log, plan.Config.Log.Requests, d.bodies, d.replies, d.clients
		if made[i], err = proxy.New(cfg, opening.proxy.Load()); err != nil {
			for k, p := range made[:i] {
				p.Retire(next[k].proxy.Load())
			}
			undo()
			if opened {
				_ = d.budgets.close()
				d.budgets = nil
			}
			return err
		}
	}
	d.counters.Set(plan.Objectives)
	d.out.set(d.plan, plan, d.log)
	if !opened {
		d.budgets.set(d, plan)
	}
	if d.plan != nil {
		d.takeProbes(plan)
	}
	d.takeServers(plan)
	for i, opening := range next {
		opening.tls.Store(plan.listeners[i].tls)
		if old := opening.proxy.Swap(made[i]); old != nil {
			old.Retire(made[i])
			opening.earlier = append(opening.earlier, old)
		}
	}
	for _, opening := range fresh {
		d.begin(opening)
	}
	for _, opening := range d.openings {
		if !slices.Contains(next, opening) {
			d.log.Info("listener closes", "listener", opening.Name)
			d.closing = append(d.closing, opening)
			d.shutting.Go(func() { d.shut(opening, plan.drain()) })
		}
	}
	d.plan, d.openings = plan, next
	return nil
}

func (p *Plan) drain() time.Duration {
	return cmp.Or(p.Config.Stop.Drain, time.Minute)
}

// stop ends the daemon: not ready, no new connections, streams to their end
// within their time, then the rest is cancelled and recorded as such.
func (d *Daemon) stop() {
	d.ready.Store(false)
	d.mu.Lock()
	plan, openings := d.plan, d.openings
	d.mu.Unlock()
	if delay := plan.Config.Stop.Delay; delay > 0 {
		time.Sleep(delay)
	}
	d.log.Info("stopping", "in_flight", d.inFlight(), "drain", plan.drain().String())
	for _, one := range openings {
		d.shutting.Go(func() { d.shut(one, plan.drain()) })
	}
	d.shutting.Wait()
	d.linger(plan.Config.Metrics.linger())
	d.out.close()
	d.closeAdmin()
}

// linger leaves the page of metrics open until it was read once more: what was
// counted since the last scrape is known to nobody else.
func (d *Daemon) linger(most time.Duration) {
	if d.admin == nil || d.out.page.End() || most == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), most)
	defer stop()
	start := time.Now()
	d.log.Info("waiting for a last scrape of the metrics", "at_most", most.String())
	if !d.out.page.Linger(ctx) {
		d.log.Warn("the metrics were not scraped once more; what was counted last is not in Prometheus", "waited", time.Since(start).Round(time.Millisecond).String())
	}
}

func (d *Daemon) inFlight() (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range slices.Concat(d.openings, d.closing) {
		n += one.busy()
	}
	return n
}
