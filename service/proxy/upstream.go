package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/service/gate"
	"tokenmeter/wire/api"
	"tokenmeter/wire/api/engines"
	"tokenmeter/wire/client"
)

const (
	defaultLimit = 10 * time.Minute
	defaultDrain = time.Minute
)

// upstream is an Upstream that is in use: its connections and its health.
type upstream struct {
	Upstream
	client *client.Client
	stop   context.CancelFunc

	mu       sync.Mutex
	failures int
	spared   int   // times in a row
	sickTo   int64 // until this moment of the clock, ns; 0: well
	down     bool  // the active check failed

	vendor  *api.Provider            // nil: none that is known
	learnt  atomic.Pointer[[]string] // names of its models
	ever    map[string]bool          // all that were learnt so far
	noUsage atomic.Bool              // it refuses to be asked for usage, or tells it anyway
	manners map[string]*manner       // by API and model
}

// newUpstream prepares an upstream. What it asks by itself carries the header probe;
// empty: none.
func newUpstream(cfg Upstream, clk *clock.Clock, probe string) (*upstream, error) {
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, 10*time.Second)
	cfg.HeadTimeout, cfg.IdleTimeout = cmp.Or(cfg.HeadTimeout, defaultLimit), cmp.Or(cfg.IdleTimeout, defaultLimit)
	cfg.KeepIdle = cmp.Or(cfg.KeepIdle, 90*time.Second)
	cfg.Health.Failures, cfg.Health.Spare = cmp.Or(cfg.Health.Failures, 3), cmp.Or(cfg.Health.Spare, 5*time.Second)
	cfg.Health.Every, cfg.Health.Timeout = cmp.Or(cfg.Health.Every, 10*time.Second), cmp.Or(cfg.Health.Timeout, 5*time.Second)
	lookup := http.Header{}
	if probe != "" {
		lookup.Set(probe, "1")
	}
	c, err := client.New(client.Config{Lookup: lookup, BaseURL: cfg.URL, API: api.OpenAIChat, Key: cfg.Key, Header: cfg.Header,
		TLS: cfg.TLS, Dial: cfg.Dial, Clock: clk, ConnectTimeout: cfg.ConnectTimeout, Form: client.PlainForm, Admit: gate.Spare})
	if err != nil {
		return nil, fmt.Errorf("upstream %q: %w", cfg.Name, err)
	}
	u := &upstream{Upstream: cfg, client: c}
	if base, err := url.Parse(cfg.URL); err == nil {
		u.vendor = api.ProviderOf(base.Host)
		u.noUsage.Store(u.vendor != nil && u.vendor.TellsUsage) // what its clients see anyway must not be taken out
	}
	return u, nil
}

// same reports whether two upstreams have the same settings.
func (u Upstream) same(o Upstream) bool {
	if !SameTLS(u.TLS, o.TLS) {
		return false
	}
	u.TLS, o.TLS = nil, nil
	u.Dial, o.Dial = nil, nil // functions can't be compared
	return reflect.DeepEqual(u, o)
}

// SameTLS reports whether two settings of clients are the same. Pools of
// authorities hold functions, which reflect takes for different.
func SameTLS(a, b *tls.Config) bool {
	if a == nil || b == nil {
		return a == b
	}
	if !a.RootCAs.Equal(b.RootCAs) {
		return false
	}
	a, b = a.Clone(), b.Clone()
	a.RootCAs, b.RootCAs = nil, nil
	return reflect.DeepEqual(a, b)
}

// start begins what an upstream does by itself: tidying its pool, and health
// checks.
func (u *upstream) start() {
	ctx, stop := context.WithCancel(context.Background())
	u.stop = stop
	go func() {
		tick := time.NewTicker(max(u.KeepIdle/3, time.Second))
		defer tick.Stop()
		u.learn(ctx)
		for {
			select {
			case <-tick.C:
				u.client.Tidy(u.KeepIdle)
				u.learn(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	if u.Health.Path == "" {
		return
	}
	go func() {
		tick := time.NewTicker(u.Health.Every)
		defer tick.Stop()
		for {
			u.check(ctx)
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}

// mostLearnt bounds the labels that an upstream can make at a time, mostEver those of its
// life: a series begins with each and never ends.
const (
	mostLearnt = 32
	mostEver   = 256
)

// learn asks the upstream what its models are called.
func (u *upstream) learn(ctx context.Context) {
	if !u.LearnModels {
		return
	}
	r, err := u.client.Get(ctx, "/v1/models")
	if err != nil || r.Status != http.StatusOK {
		return
	}
	names := engines.Sniff(map[string]engines.Answer{"/v1/models": r.Answer}).Models
	u.call(u.client.Redactor().Without(names))
}

// call takes names of models for labels, as many as there is room for.
func (u *upstream) call(names []string) {
	if u.ever == nil {
		u.ever = map[string]bool{}
	}
	learnt := []string{}
	for _, name := range names {
		if len(learnt) == mostLearnt {
			break
		}
		if plainID(name) == "" || !u.ever[name] && len(u.ever) >= mostEver {
			continue
		}
		u.ever[name] = true
		learnt = append(learnt, name)
	}
	u.learnt.Store(&learnt)
}

func (u *upstream) close() {
	if u.stop != nil {
		u.stop()
	}
	_ = u.client.Close()
}

// check asks for the health path once.
func (u *upstream) check(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, u.Health.Timeout)
	defer stop()
	r, err := u.client.Get(ctx, u.Health.Path)
	if context.Cause(ctx) == context.Canceled {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.down = err != nil || r.Status/100 != 2; !u.down {
		u.failures, u.sickTo = 0, 0
	}
}

func (u *upstream) healthy(nowNS int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.down && nowNS >= u.sickTo
}

// sign is what a request says of the upstream that it went to.
type sign uint8

const (
	noSign  sign = iota // neither: it was cancelled, or its answer began and did not end well
	wellOff             // it answered
	ailing              // no connection, no answer, or one that says so
)

// signOf judges by a request's end; status is 0 when no head of an answer came.
func signOf(outcome timeline.Outcome, status int) sign {
	switch outcome {
	case timeline.CancelledUser, timeline.CancelledRunEnd, timeline.ClientResource:
		return noSign
	case timeline.TimeoutTTFT, timeline.ConnReset:
		return ailing
	}
	switch status {
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ailing
	}
	switch outcome {
	case timeline.TimeoutIdle, timeline.TimeoutTotal, timeline.StreamTruncated, timeline.Parse:
		return noSign
	}
	return wellOff
}

// saw learns from a request that was passed on.
func (u *upstream) saw(outcome timeline.Outcome, status int, nowNS int64) {
	of := signOf(outcome, status)
	if of == noSign {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if of == wellOff {
		u.failures, u.spared, u.sickTo = 0, 0, 0
		return
	}
	if u.failures++; u.failures < u.Health.Failures {
		return
	}
	u.failures = 0
	u.sickTo = nowNS + int64(u.Health.Spare)<<min(u.spared, 4)
	u.spared++
}
