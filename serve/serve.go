// Package serve is the daemon: it reads one file, opens listeners, wires
// proxies to sinks, takes a changed file without dropping a stream, and ends
// without cutting one off that can still finish.
package serve

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/bounded"
	"tokenmeter/client"
	"tokenmeter/clock"
	"tokenmeter/live"
	"tokenmeter/proxy"
	"tokenmeter/rows"
)

// Options are what the daemon gets from outside.
type Options struct {
	// Load reads the configuration anew.
	Load func() (*Plan, error)
	// Files that a change of is looked for; empty: none.
	Files func(*Plan) []string
	// Sinks are told of every finished request, besides the counters.
	Sinks []live.Sink
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
	// Watch is how often files are looked at; 0: 2 s.
	Watch time.Duration
}

// Address is where a listener is.
type Address struct {
	Name string
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
	started  time.Time
	counters *live.Counters
	out      *exporters
	budgets  *budgets      // nil: none; under mu
	rows     *rows.Archive // nil: none; under mu

	mu      sync.Mutex
	plan    *Plan
	doors   []*door
	retired []*proxy.Proxy // with streams that may still go on
	admin   *http.Server
	addr    net.Addr

	ready           atomic.Bool
	reloads, failed atomic.Int64
}

// door is one open address.
type door struct {
	listen
	ln     net.Listener
	server *http.Server
	proxy  atomic.Pointer[proxy.Proxy]
	tls    atomic.Pointer[tls.Config]
	cancel context.CancelCauseFunc
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.proxy.Load().ServeHTTP(w, r) }

// Run serves until ctx ends, and then until the streams in flight have ended or
// their time is over. An error at the start is one of the configuration or of
// an address.
func Run(ctx context.Context, opt Options) error {
	d := &Daemon{opt: opt, log: opt.Log, clk: clock.Start(), started: time.Now(), counters: live.NewCounters(nil)}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if opt.Listen == nil {
		d.opt.Listen = net.Listen
	}
	plan, err := opt.Load()
	if err != nil {
		return err
	}
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
	defer func() { d.budgets.close() }()
	defer d.closeRows()
	if err := d.openAdmin(plan); err != nil {
		d.out.close()
		return err
	}
	if err := d.apply(plan); err != nil {
		d.closeAdmin()
		d.out.close()
		return err
	}
	d.ready.Store(true)
	if opt.Ready != nil {
		var addresses []Address
		for _, door := range d.doors {
			addresses = append(addresses, Address{door.Name, door.ln.Addr(), door.listen.tls != nil})
		}
		opt.Ready(addresses, d.addr)
	}
	d.watch(ctx, seen)
	d.stop()
	return nil
}

// apply takes a plan. Nothing changes when a part of it is not possible.
func (d *Daemon) apply(plan *Plan) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, fresh, err := d.openDoors(plan)
	if err != nil {
		for _, door := range fresh {
			_ = door.ln.Close()
		}
		return err
	}
	undo := func() {
		for _, door := range fresh {
			_ = door.ln.Close()
		}
	}
	opened := d.budgets == nil
	if opened {
		if d.budgets, err = d.openBudgets(plan); err != nil {
			undo()
			return err
		}
	}
	made := make([]*proxy.Proxy, len(next))
	for i, door := range next {
		cfg := plan.proxyConfig(plan.listeners[i].Name, d.clk, d.sinks())
		cfg.Upstreams = slices.Clone(cfg.Upstreams)
		for k := range cfg.Upstreams {
			cfg.Upstreams[k].Dial = d.opt.Dial
		}
		if plan.Config.Log.Requests {
			cfg.Log = d.log
		}
		if made[i], err = proxy.New(cfg, door.proxy.Load()); err != nil {
			for k, p := range made[:i] {
				p.Retire(next[k].proxy.Load())
			}
			undo()
			if opened {
				d.budgets.close()
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
	for i, door := range next {
		door.tls.Store(plan.listeners[i].tls)
		if old := door.proxy.Swap(made[i]); old != nil {
			old.Retire(made[i])
			d.retired = append(d.retired, old)
		}
	}
	for _, door := range fresh {
		d.begin(door)
	}
	for _, door := range d.doors {
		if !slices.Contains(next, door) {
			d.log.Info("listener closes", "listener", door.Name)
			d.retired = append(d.retired, door.proxy.Load())
			go d.shut(door, plan.drain())
		}
	}
	d.plan, d.doors = plan, next
	return nil
}

func (p *Plan) drain() time.Duration {
	if p.Config.Stop.Drain > 0 {
		return p.Config.Stop.Drain
	}
	return time.Minute
}

// openDoors finds the doors of a plan among those that are open, and opens the
// others.
func (d *Daemon) openDoors(plan *Plan) (all, fresh []*door, err error) {
	var errs []error
	for _, l := range plan.listeners {
		i := slices.IndexFunc(d.doors, func(o *door) bool { return o.same(l) })
		if i >= 0 {
			all = append(all, d.doors[i])
			continue
		}
		if slices.ContainsFunc(d.doors, func(o *door) bool { return o.Listen == l.Listen }) {
			errs = append(errs, fmt.Errorf("listener %s: header, header_timeout, idle_timeout and whether there is tls stay as they are while it is open: restart, or give it another address", l.Name))
			continue
		}
		ln, err := d.opt.Listen("tcp", l.Listen)
		if err != nil {
			errs = append(errs, fmt.Errorf("listener %s: can't listen on %s: %w", l.Name, l.Listen, bare(err)))
			continue
		}
		one := &door{listen: l, ln: ln}
		all, fresh = append(all, one), append(fresh, one)
	}
	return all, fresh, errors.Join(errs...)
}

// same reports whether an open door serves a listener as it is: what the server
// was made with can't be changed under it.
func (d *door) same(l listen) bool {
	return d.Listen == l.Listen && (d.listen.tls == nil) == (l.tls == nil) && d.Header == l.Header &&
		d.HeaderTimeout == l.HeaderTimeout && d.IdleTimeout == l.IdleTimeout
}

func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// begin serves a door.
func (d *Daemon) begin(one *door) {
	ctx, cancel := context.WithCancelCause(context.Background())
	one.cancel = cancel
	one.server = newServer(one, d.log)
	one.server.ReadHeaderTimeout = or(one.HeaderTimeout, 10*time.Second)
	one.server.IdleTimeout = or(one.IdleTimeout, 2*time.Minute)
	one.server.MaxHeaderBytes = int(or(one.Header, 64<<10))
	one.server.HTTP2.WriteByteTimeout = or(one.ReaderTimeout, 5*time.Minute)
	one.server.BaseContext = func(net.Listener) context.Context { return ctx }
	one.server.ConnContext = proxy.ConnContext
	ln := one.ln
	if one.listen.tls != nil {
		ln = tls.NewListener(ln, &tls.Config{NextProtos: []string{"h2", "http/1.1"},
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return one.tls.Load(), nil }})
	}
	go func() {
		if err := one.server.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			d.log.Error("listener failed", "listener", one.Name, "error", err.Error())
		}
	}()
}

// newServer is a server without a write timeout: that would be one on whole
// streams.
func newServer(h http.Handler, logger *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{Handler: h, Protocols: protocols,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: 1000},
		ErrorLog: log.New(logWriter{logger}, "", 0)}
}

// logWriter takes net/http's own messages, which may quote what a client sent.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	text := strings.TrimSpace(string(p))
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	w.log.Debug("http server", "message", text)
	return len(p), nil
}

// watch waits for signals and changed files until ctx ends.
func (d *Daemon) watch(ctx context.Context, seen [32]byte) {
	tick := time.NewTicker(or(d.opt.Watch, 2*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.opt.Reload:
			seen = d.fingerprint(d.now())
			d.reload("signal")
		case <-tick.C:
			d.forget()
			if now := d.fingerprint(d.now()); now != seen {
				seen = now
				d.reload("file changed")
			}
		}
	}
}

// forget drops proxies whose last stream has ended.
func (d *Daemon) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.retired = slices.DeleteFunc(d.retired, func(p *proxy.Proxy) bool { return p.Busy() == 0 })
}

// now is the plan that is in use.
func (d *Daemon) now() *Plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.plan
}

// fingerprint is what the files of a plan hold now.
func (d *Daemon) fingerprint(plan *Plan) [32]byte {
	if d.opt.Files == nil {
		return [32]byte{}
	}
	h := sha256.New()
	for _, path := range d.opt.Files(plan) {
		data, err := bounded.File(path, mostPEM)
		fmt.Fprintf(h, "%s %d %v\n", path, len(data), err != nil)
		_, _ = h.Write(data)
	}
	return [32]byte(h.Sum(nil))
}

// reload reads the configuration; a bad one changes nothing.
func (d *Daemon) reload(why string) {
	plan, err := d.opt.Load()
	if err == nil {
		err = d.apply(plan)
	}
	if err != nil {
		d.failed.Add(1)
		d.log.Error("the new configuration is not used; the old one stays", "why", why, "error", err.Error())
		return
	}
	d.reloads.Add(1)
	d.log.Info("configuration taken", "why", why)
}

// stop ends the daemon: not ready, no new connections, streams to their end
// within their time, then the rest is cancelled and recorded as such.
func (d *Daemon) stop() {
	d.ready.Store(false)
	d.mu.Lock()
	plan, doors, retired := d.plan, d.doors, d.retired
	d.mu.Unlock()
	if delay := plan.Config.Stop.Delay; delay > 0 {
		time.Sleep(delay)
	}
	d.log.Info("stopping", "in_flight", d.inFlight(), "drain", plan.drain().String())
	var all sync.WaitGroup
	for _, one := range doors {
		all.Go(func() { d.shut(one, plan.drain()) })
	}
	all.Wait()
	for _, p := range retired {
		p.Wait()
	}
	d.out.close()
	d.closeAdmin()
}

// cancelTime is how long cancelled streams may take to be recorded.
const cancelTime = 5 * time.Second

// shut closes a door and waits for its streams; after so long it cancels them.
func (d *Daemon) shut(one *door, drain time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), drain)
	defer stop()
	idle := make(chan struct{})
	go func() {
		_ = one.server.Shutdown(ctx)
		one.proxy.Load().Wait() // upgraded connections are not the server's any more
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
		one.cancel(client.ErrRunEnd)
		select {
		case <-idle:
		case <-time.After(cancelTime):
		}
	}
	_ = one.server.Close()
	one.cancel(client.ErrRunEnd)
	one.proxy.Load().Retire(nil)
}

func (d *Daemon) inFlight() (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.retired {
		n += p.Busy()
	}
	for _, one := range d.doors {
		n += one.proxy.Load().Busy()
	}
	return n
}
