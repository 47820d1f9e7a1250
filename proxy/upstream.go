package proxy

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/api"
	"tokenmeter/client"
	"tokenmeter/clock"
	"tokenmeter/timeline"
)

const (
	defaultLimit = 10 * time.Minute
	defaultDrain = time.Minute
)

// upstream is an Upstream that is in use: its connections and its health.
type upstream struct {
	Upstream
	client *client.Client
	clk    *clock.Clock
	stop   context.CancelFunc

	mu       sync.Mutex
	failures int
	spared   int   // times in a row
	sickTo   int64 // until this moment of the clock, ns; 0: well
	down     bool  // the active check failed
	why      string

	learnt atomic.Pointer[[]string] // names of its models
}

func newUpstream(cfg Upstream, clk *clock.Clock) (*upstream, error) {
	cfg.ConnectTimeout = or(cfg.ConnectTimeout, 10*time.Second)
	cfg.HeadTimeout, cfg.IdleTimeout = or(cfg.HeadTimeout, defaultLimit), or(cfg.IdleTimeout, defaultLimit)
	cfg.KeepIdle = or(cfg.KeepIdle, 90*time.Second)
	cfg.Health.Failures, cfg.Health.Spare = or(cfg.Health.Failures, 3), or(cfg.Health.Spare, 5*time.Second)
	cfg.Health.Every, cfg.Health.Timeout = or(cfg.Health.Every, 10*time.Second), or(cfg.Health.Timeout, 5*time.Second)
	c, err := client.New(client.Config{BaseURL: cfg.URL, API: api.OpenAIChat, Key: cfg.Key, Header: cfg.Header,
		TLS: cfg.TLS, Dial: cfg.Dial, Clock: clk, ConnectTimeout: cfg.ConnectTimeout, Form: client.PlainForm})
	if err != nil {
		return nil, fmt.Errorf("upstream %q: %w", cfg.Name, err)
	}
	return &upstream{Upstream: cfg, client: c, clk: clk}, nil
}

// start begins what an upstream does by itself: tidying its pool, and health
// checks.
func (u *upstream) start() {
	ctx, stop := context.WithCancel(context.Background())
	u.stop = stop
	go func() {
		tick := time.NewTicker(u.KeepIdle / 3)
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

// mostLearnt bounds the labels that an upstream can make.
const mostLearnt = 32

// learn asks the upstream what its models are called.
func (u *upstream) learn(ctx context.Context) {
	if !u.LearnModels {
		return
	}
	r, err := u.client.Get(ctx, "/v1/models")
	if err != nil || r.Status != http.StatusOK {
		return
	}
	names := api.Sniff(map[string]api.Answer{"/v1/models": {Status: r.Status, Header: r.Header, Body: r.Body}}).Models
	names = slices.DeleteFunc(names, func(name string) bool { return plainID(name) == "" })
	names = names[:min(len(names), mostLearnt)]
	u.learnt.Store(&names)
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
	switch {
	case err != nil:
		u.down, u.why = true, err.Error()
	case r.Status/100 != 2:
		u.down, u.why = true, fmt.Sprintf("HTTP %d from %s", r.Status, u.Health.Path)
	default:
		u.down, u.why = false, ""
		u.failures, u.sickTo = 0, 0
	}
}

func (u *upstream) healthy(nowNS int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.down && nowNS >= u.sickTo
}

// saw learns from a request that was passed on.
func (u *upstream) saw(outcome timeline.Outcome, status int, nowNS int64) {
	bad := false
	switch outcome {
	case timeline.CancelledUser, timeline.CancelledRunEnd, timeline.ClientResource:
		return
	case timeline.ConnectRefused, timeline.DNS, timeline.TLS, timeline.TimeoutConnect, timeline.TimeoutTTFT, timeline.ConnReset:
		bad = true
	}
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		bad = true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !bad {
		u.failures, u.spared, u.sickTo = 0, 0, 0
		return
	}
	if u.failures++; u.failures < u.Health.Failures {
		return
	}
	u.failures = 0
	u.sickTo = nowNS + int64(u.Health.Spare)<<min(u.spared, 4)
	u.spared++
	u.why = string(outcome)
}
