package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

const maxRedirects = 5

// Do sends the request and fills tl, whose DueUS and StartUS are set by the
// caller, until the reply has ended, a limit is reached or ctx is cancelled
// (cause ErrRunEnd or ErrUser). It never returns an error: the outcome is in tl.
func (c *Client) Do(ctx context.Context, req *api.Request, tl *timeline.Timeline) {
	c.Prepare(req, tl).Do(ctx)
}

// hide removes the secrets that a server may have repeated.
func (c *Client) hide(tl *timeline.Timeline) {
	for _, said := range []*string{&tl.FinishReason, &tl.ServedModel, &tl.ServiceTier, &tl.AnsweredBy, &tl.Text, &tl.Thought, &tl.Calls} {
		if *said != "" {
			*said = c.redact.String(*said)
		}
	}
	if tl.Error != nil {
		tl.Error.Message = c.redact.String(tl.Error.Message)
	}
}

// run makes attempts until one settles the outcome.
func (x *exchange) run(ctx context.Context) {
	if !x.goes(ctx) {
		return
	}
	x.tl.Attempts = 1
	x.goOn(ctx, x.attempt(ctx, false))
}

// goOn does what a verdict asks for, until one settles the outcome.
func (x *exchange) goOn(ctx context.Context, v verdict) {
	for v != settled {
		switch v {
		case lostIdle:
			x.c.count.dead.Add(1)
			x.tl.ConnRetries++
		case moved:
			x.tl.Redirects++
		case turnedAway:
			if f := x.wait(ctx); f != nil {
				x.fail(f)
				return
			}
			if !x.goes(ctx) {
				return
			}
			x.tl.Attempts++
		case unchained:
			x.whole = true
			x.tl.Attempts++
		}
		if f := x.sign(); f != nil {
			x.fail(f)
			return
		}
		v = x.attempt(ctx, v == lostIdle)
	}
}

// goes reports whether an attempt may begin. One that the end forestalls is none.
func (x *exchange) goes(ctx context.Context) bool {
	if ctx.Err() == nil {
		return true
	}
	x.fail(cancelled(ctx, ""))
	return false
}

// attempt sends the request once, on a connection of the pool or a new one.
func (x *exchange) attempt(ctx context.Context, fresh bool) verdict {
	x.begin()
	switch {
	case x.c.h2 != nil:
		return x.onceHTTP2(ctx)
	case x.ask != nil:
		return x.onceWebSocket(ctx, fresh)
	}
	cn, f := x.connection(ctx, fresh)
	if f != nil {
		x.fail(f)
		return settled
	}
	return x.once(ctx, cn)
}

// connection takes one from the pool or opens it.
func (x *exchange) connection(ctx context.Context, fresh bool) (*conn, *failure) {
	c, tl := x.c, x.tl
	if ctx.Err() != nil {
		return nil, cancelled(ctx, "")
	}
	if !fresh && !c.cfg.NoKeepAlive {
		cn, dead := c.takeAlive(x.continued, false)
		if cn == nil && !(x.ask != nil && c.cfg.API.Remembers) {
			var more int
			cn, more = c.takeAlive(x.fits, false)
			dead += more
		}
		if dead > 0 {
			tl.ConnRetries++
		}
		if cn != nil {
			x.use(cn)
			return cn, nil
		}
	}
	at, end := x.lim.early()
	if at < farFuture {
		limit := &failure{class: timeline.Outcome(end), msg: c.limitWords(end) + ", while connecting", atNS: at}
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, c.clk.Time(at), limit)
		defer stop()
	}
	cn, took, f := c.dial(ctx)
	took.record(tl)
	if f != nil {
		return nil, f
	}
	x.use(cn)
	return cn, nil
}

// owner is whose connections the request may use: those of its session where
// sessions have their own.
func (x *exchange) owner() string {
	if !x.c.cfg.PerSession {
		return ""
	}
	owner := cmp.Or(x.tl.Session, x.tl.Task)
	if x.ask != nil && x.tl.Agent != "" { // each has a conversation of its own
		owner += ofAgent + x.tl.Agent
	}
	return owner
}

// ofAgent stands between a session and its agent.
const ofAgent = "\x00"

// fits reports whether an idle connection is one for the request.
func (x *exchange) fits(cn *conn) bool {
	return cn.owner == x.owner() && (cn.ws != nil) == (x.ask != nil)
}

func (x *exchange) use(cn *conn) {
	x.tl.Reused = timeline.Some(cn.served > 0)
	x.tl.Remote = cn.remote
	if cn.served > 0 {
		x.c.count.reused.Add(1)
	}
}

// fail settles the outcome of a request that got no response.
func (x *exchange) fail(f *failure) {
	at := f.atNS
	if at == 0 {
		at = x.c.clk.NS()
	}
	x.tl.CloseUS = timeline.Some(x.us(at))
	x.tl.Fail(f.class, f.msg)
	x.ended = endOf(f.class)
}

// overloaded is Anthropic's own status of a server that has too much to do.
// Source: https://platform.claude.com/docs/en/api/errors
const overloaded = 529

// retryable decides, at the head of a response, whether the server may be
// asked again, and when. A wait that would pass a limit is not begun.
func (x *exchange) retryable(headNS int64) bool {
	if status := x.rd.status; x.tries <= 0 || status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable && status != overloaded {
		return false
	}
	pause, told := api.RetryAfter(x.rd.header)
	if told {
		x.tl.RetryAfterUS = timeline.Some(pause.Microseconds())
	} else {
		pause = min(500*time.Millisecond<<min(x.tl.Attempts-1, 6), 30*time.Second)
	}
	x.againNS = headNS + int64(pause)
	if limit, _ := x.lim.early(); x.againNS >= limit || !x.c.mayRetry() {
		return false
	}
	x.tries--
	return true
}

// mayRetry takes a retry from the budget; false when that is spent.
func (c *Client) mayRetry() bool {
	budget := c.cfg.RetryBudget
	if budget <= 0 {
		return true
	}
	for {
		n := c.count.retried.Load()
		if float64(n) >= budget*float64(c.count.begun.Load()) {
			return false
		}
		if c.count.retried.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// wait pauses until the server may be asked again.
func (x *exchange) wait(ctx context.Context) *failure {
	timer := time.NewTimer(time.Duration(x.againNS - x.c.clk.NS()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return cancelled(ctx, fmt.Sprintf(" while waiting to ask again after HTTP %d", x.tl.HTTPStatus))
	}
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect decides what becomes of a redirection: nil to follow it, with the
// new path set, else why not.
func (x *exchange) redirect() error {
	c := x.c
	location := x.rd.header.Get("Location")
	shown := c.redact.URL(location)
	switch {
	case location == "":
		return fmt.Errorf("HTTP %d without a location", x.rd.status)
	case x.rd.status != http.StatusTemporaryRedirect && x.rd.status != http.StatusPermanentRedirect:
		if x.msg.upgrade != "" { // a handshake is a GET
			return fmt.Errorf("HTTP %d redirects to %s; use that URL", x.rd.status, shown)
		}
		return fmt.Errorf("HTTP %d redirects to %s and would turn the POST into a GET; use that URL", x.rd.status, shown)
	case x.tl.Redirects >= maxRedirects:
		return fmt.Errorf("more than %d redirects, the last to %s", maxRedirects, shown)
	}
	path, err := c.target.resolve(x.msg.path, location)
	if err != nil {
		return fmt.Errorf("HTTP %d redirects to %s: %w", x.rd.status, shown, err)
	}
	// Last, so that the flag is named only where it would help.
	if !c.cfg.FollowRedirects {
		return fmt.Errorf("HTTP %d redirects to %s; use that URL, or let redirects be followed", x.rd.status, shown)
	}
	x.msg.path = path
	return nil
}

var errOtherHost = errors.New("another host, which redirects are not followed to; use that URL")

// resolve returns the request target that location means, when it is on the
// same scheme, host and port.
func (t *target) resolve(path, location string) (string, error) {
	base, err := url.Parse("http://" + t.host + path)
	if err != nil {
		return "", err
	}
	if t.tls {
		base.Scheme = "https"
	}
	u, err := base.Parse(location)
	if err != nil {
		return "", errors.New("the location can't be read")
	}
	if u.Scheme != base.Scheme || !strings.EqualFold(withPort(u), withPort(base)) {
		return "", errOtherHost
	}
	return u.RequestURI(), nil
}

func withPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return u.Hostname() + ":" + port
}
