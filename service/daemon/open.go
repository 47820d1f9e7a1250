package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tokenmeter/service/gate"
	"tokenmeter/service/proxy"
	"tokenmeter/wire/client"
)

// opening is one open address: a listener of the plan, what answers there, and earlier
// proxies whose streams still go on.
type opening struct {
	listen
	ln     net.Listener
	server *http.Server
	proxy  atomic.Pointer[proxy.Proxy]
	tls    atomic.Pointer[tls.Config]
	cancel context.CancelCauseFunc
	// earlier are the proxies of the configurations before, with requests that
	// may still go on. Under Daemon.mu, as what reads it.
	earlier []*proxy.Proxy
}

// proxies are all that may have requests in flight.
func (d *opening) proxies() []*proxy.Proxy { return append(slices.Clone(d.earlier), d.proxy.Load()) }

// busy is how many requests are in flight.
func (d *opening) busy() (n int64) {
	for _, p := range d.proxies() {
		n += p.Busy()
	}
	return n
}

// forget drops the earlier proxies whose last request has ended.
func (d *opening) forget() {
	d.earlier = slices.DeleteFunc(d.earlier, func(p *proxy.Proxy) bool { return p.Busy() == 0 })
}

func (d *opening) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if cfg := d.tls.Load(); cfg != nil && cfg.ClientCAs != nil && !letIn(r.TLS, cfg.ClientCAs) {
		d.proxy.Load().Refused("tls")
		w.Header().Set("Connection", "close")
		say(w, http.StatusForbidden, "the certificate of this connection is of no authority that is let in by now")
		return
	}
	d.proxy.Load().ServeHTTP(w, r)
}

// letIn reports whether a connection would be let in again: the authority behind it may
// be gone from the configuration since. Its chain was checked then, so its root tells.
func letIn(state *tls.ConnectionState, by *x509.CertPool) bool {
	return state != nil && slices.ContainsFunc(state.VerifiedChains, func(chain []*x509.Certificate) bool {
		_, err := chain[len(chain)-1].Verify(x509.VerifyOptions{Roots: by, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		return err == nil
	})
}

// openListeners finds the listeners of a plan among those that are open, and opens the
// others.
func (d *Daemon) openListeners(plan *Plan) (all, fresh []*opening, err error) {
	var errs []error
	for _, l := range plan.listeners {
		i := slices.IndexFunc(d.openings, func(o *opening) bool { return o.same(l) })
		if i >= 0 {
			all = append(all, d.openings[i])
			continue
		}
		if slices.ContainsFunc(d.openings, func(o *opening) bool { return o.Listen == l.Listen }) {
			errs = append(errs, fmt.Errorf("listener %s: header, header_timeout, idle_timeout and whether there is tls stay as they are while it is open: restart, or give it another address", l.Name))
			continue
		}
		ln, err := d.opt.Listen("tcp", l.Listen)
		if err != nil {
			errs = append(errs, &ListenError{Listener: l.Name, Address: l.Listen, Err: bare(err)})
			continue
		}
		one := &opening{listen: l, ln: ln}
		all, fresh = append(all, one), append(fresh, one)
	}
	return all, fresh, errors.Join(errs...)
}

// ListenError is an address that can't be opened.
type ListenError struct {
	Listener string // its name, or admin
	Address  string
	Err      error
}

func (e *ListenError) Error() string {
	text := fmt.Sprintf("can't listen on %s: %v", e.Address, e.Err)
	if e.Listener == e.Address { // it has no name of its own
		return text
	}
	return fmt.Sprintf("listener %s: %s", e.Listener, text)
}

func (e *ListenError) Unwrap() error { return e.Err }

// same reports whether an open address serves a listener as it is: what the server
// was made with can't be changed under it.
func (d *opening) same(l listen) bool {
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

// begin serves an opening.
func (d *Daemon) begin(one *opening) {
	ctx, cancel := context.WithCancelCause(context.Background())
	one.cancel = cancel
	one.server = newServer(one, d.log)
	one.server.ReadHeaderTimeout = cmp.Or(one.HeaderTimeout, 10*time.Second)
	one.server.IdleTimeout = cmp.Or(one.IdleTimeout, 2*time.Minute)
	one.server.MaxHeaderBytes = int(cmp.Or(one.Header, 64<<10))
	one.server.HTTP2.WriteByteTimeout = cmp.Or(one.ReaderTimeout, 5*time.Minute)
	one.server.BaseContext = func(net.Listener) context.Context { return ctx }
	one.server.ConnContext = proxy.ConnContext
	let := gate.Config{MostHead: one.server.MaxHeaderBytes, Handshake: one.server.ReadHeaderTimeout, Room: proxy.Behind{Of: d.bodies}, Clients: d.clients,
		Failed: func(from net.Addr, err error) {
			one.proxy.Load().Refused("tls")
			d.log.Debug("TLS handshake failed", "from", from.String(), "error", err.Error())
		}}
	let.Full = func(err error) {
		if errors.Is(err, gate.ErrNoMemory) {
			one.proxy.Load().Refused("memory")
			return
		}
		one.proxy.Load().Refused("descriptors")
		if now := time.Now().Unix(); d.fullAt.Swap(now) < now-9 { // a line now and then
			d.log.Error("no file descriptors are left for clients: raise the limit (ulimit -n, LimitNOFILE=), or lower streams", "listener", one.Name, "error", err.Error())
		}
	}
	if one.listen.tls != nil {
		let.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"},
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return one.tls.Load(), nil }}
	}
	go func() {
		if err := one.server.Serve(gate.Listen(one.ln, let)); err != nil && !errors.Is(err, http.ErrServerClosed) {
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

// logWriter takes net/http's own messages, which may quote what a client sent. Only
// a panic, which ended one request, is a fault of ours.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	text, stack, _ := strings.Cut(strings.TrimSpace(string(p)), "\n")
	if strings.HasPrefix(text, "http: panic") || strings.HasPrefix(text, "http2: panic") {
		w.log.Error("a request ended by a fault of tokenmeter; please report it", "message", text, "stack", stack)
	} else {
		w.log.Debug("http server", "message", text)
	}
	return len(p), nil
}

// cancelTime is how long cancelled streams may take to be recorded.
const cancelTime = 5 * time.Second

// shut closes an opening and waits for its streams; after so long it cancels them.
func (d *Daemon) shut(one *opening, drain time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), drain)
	defer stop()
	idle := make(chan struct{})
	go func() {
		_ = one.server.Shutdown(ctx)
		d.mu.Lock()
		all := one.proxies()
		d.mu.Unlock()
		for _, p := range all { // upgraded connections are not the server's any more
			p.Wait()
		}
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
