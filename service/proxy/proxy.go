package proxy

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/base/secret"
	"tokenmeter/service/traffic"
)

// Proxy passes requests on and measures them. It is an http.Handler; the
// server around it needs no write timeout, which would end streams.
type Proxy struct {
	cfg    Config
	clk    *clock.Clock
	log    *slog.Logger
	routes []*route
	ups    []*upstream
	models []string
	via    string
	// secrets are those that upstreams are reached with.
	secrets *secret.Redactor

	busy     atomic.Int64
	requests sync.WaitGroup
	stats    *stats // shared with the proxies before
}

// New checks the configuration, all of it, and returns a proxy. Upstreams of
// the proxy before whose settings are the same go on with their connections
// and their health; before may be nil.
func New(cfg Config, before *Proxy) (*Proxy, error) {
	p, fresh, err := build(cfg, before)
	if err != nil {
		return nil, err
	}
	for _, u := range fresh {
		u.start()
	}
	return p, nil
}

// Check is what New would find wrong. Nothing is asked of any upstream.
func Check(cfg Config) error {
	_, fresh, err := build(cfg, nil)
	for _, u := range fresh {
		u.close()
	}
	return err
}

// build makes a proxy and tells which of its upstreams are new.
func build(cfg Config, before *Proxy) (p *Proxy, fresh []*upstream, err error) {
	p = &Proxy{cfg: cfg, clk: cfg.Clock, log: cfg.Log, stats: newStats()}
	if p.clk == nil {
		p.clk = clock.Start()
	}
	p.log = cmp.Or(p.log, slog.New(slog.DiscardHandler))
	p.cfg.MaxEvent = cmp.Or(cfg.MaxEvent, 8<<20)
	p.cfg.ReaderTimeout = cmp.Or(cfg.ReaderTimeout, 5*time.Minute)
	p.cfg.BodyTimeout = cmp.Or(cfg.BodyTimeout, time.Minute)
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	p.via = via + "-" + hex.EncodeToString(random[:4])
	if len(cfg.Secret) == 0 {
		p.cfg.Secret = random[:]
	}
	if before != nil {
		p.via = before.via
		p.stats = before.stats
		if len(cfg.Secret) == 0 {
			p.cfg.Secret = before.cfg.Secret
		}
	}
	errs := []error{cfg.Session.Check(), cfg.Task.Check(), cfg.Parent.Check()}
	byName := map[string]*upstream{}
	for _, u := range cfg.Upstreams {
		if byName[u.Name] != nil {
			errs = append(errs, fmt.Errorf("upstream %q is there twice", u.Name))
			continue
		}
		made, err := p.adopt(u, before)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if made.stop == nil {
			fresh = append(fresh, made)
		}
		byName[u.Name] = made
		p.ups = append(p.ups, made)
		p.secrets = p.secrets.And(made.client.Redactor())
	}
	p.models = slices.Clone(cfg.Models)
	for _, r := range cfg.Routes {
		made, err := newRoute(r, byName, before.inUseOf(r.Name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.routes = append(p.routes, made)
		p.models = append(p.models, r.Models...)
	}
	if len(cfg.Routes) == 0 {
		errs = append(errs, errors.New("there is no route"))
	}
	if err := errors.Join(errs...); err != nil {
		for _, u := range fresh {
			u.close()
		}
		return nil, nil, err
	}
	return p, fresh, nil
}

// adopt takes an upstream over from the proxy before, or makes it.
func (p *Proxy) adopt(cfg Upstream, before *Proxy) (*upstream, error) {
	made, err := newUpstream(cfg, p.clk, p.cfg.Probe)
	if err != nil || before == nil || before.clk != p.clk {
		return made, err
	}
	for _, u := range before.ups {
		if u.same(made.Upstream) && before.cfg.Probe == p.cfg.Probe {
			made.close()
			return u, nil
		}
	}
	return made, nil
}

// Retire closes what the next proxy (nil: none) did not take over. Requests in
// flight go on.
func (p *Proxy) Retire(next *Proxy) {
	for _, u := range p.ups {
		if next == nil || !slices.Contains(next.ups, u) {
			u.close()
		}
	}
}

// Busy is how many requests this proxy has in flight.
func (p *Proxy) Busy() int64 { return p.busy.Load() }

// Wait returns when no request is in flight.
func (p *Proxy) Wait() { p.requests.Wait() }

// keep decides whether a request's arrivals are kept: an even share, spread by
// the reversed bits of a counter.
func (p *Proxy) keep() bool {
	if p.cfg.Keep >= 1 {
		return true
	}
	n := p.stats.keeps.Add(1) - 1
	return float64(bits.Reverse64(n))/(1<<64) < p.cfg.Keep
}

// label is a model's name as a label: the name itself where the configuration
// or an upstream's list has it, the pattern that it belongs to, else traffic.Other.
func (p *Proxy) label(model string) string {
	if model == "" || slices.Contains(p.models, model) {
		return model
	}
	for _, m := range p.models {
		if m != "*" && matches(m, model) {
			return m
		}
	}
	for _, u := range p.ups {
		if names := u.learnt.Load(); names != nil && slices.Contains(*names, model) {
			return model
		}
	}
	return traffic.Other
}

// connKey is where ConnContext keeps the client's connection.
type connKey struct{}

var _ http.Handler = (*Proxy)(nil)
