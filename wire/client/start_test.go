package client

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

// start makes a request that is due now and waits until it is called back.
func start(ctx context.Context, c *Client) *timeline.Timeline {
	tl := timeline.New()
	p := c.Prepare(hello, tl)
	tl.DueUS = c.clk.US()
	tl.StartUS = tl.DueUS
	done := make(chan struct{})
	p.Start(ctx, func() { close(done) })
	<-done
	return tl
}

// What is started ends as what is done: whichever way it takes.
func TestStartEndsAsDo(t *testing.T) {
	answer := "0s " + whole("200 OK", "text/event-stream", tok("w")+fin+done)
	for name, tc := range map[string]struct {
		serve   func(*fake, net.Conn, *received) bool
		change  func(*Config)
		outcome timeline.Outcome
		check   func(t *testing.T, tl *timeline.Timeline)
	}{
		"plain reply": {play(answer), nil, timeline.OK, nil},
		"closed while idle": {play(answer, "0s CUT"), nil, timeline.OK, func(t *testing.T, tl *timeline.Timeline) {
			want(t, "retries", tl.ConnRetries, 1)
		}},
		"turned away, then answered": {func(f *fake, c net.Conn, r *received) bool {
			if r.nth%2 == 0 {
				return play("0s "+whole("503 Service Unavailable", "text/plain", "busy", "retry-after: 0"))(f, c, r)
			}
			return play(answer)(f, c, r)
		}, func(c *Config) { c.Retries = 1 }, timeline.OK, func(t *testing.T, tl *timeline.Timeline) {
			want(t, "attempts", tl.Attempts, 2)
		}},
		"redirected": {func(f *fake, c net.Conn, r *received) bool {
			if r.URL.Path != "/there" {
				return play("0s "+whole("307 Temporary Redirect", "text/plain", "", "location: /there"))(f, c, r)
			}
			return play(answer)(f, c, r)
		}, func(c *Config) { c.FollowRedirects = true }, timeline.OK, func(t *testing.T, tl *timeline.Timeline) {
			want(t, "redirects", tl.Redirects, 1)
		}},
		"truncated": {play("0s "+sseHead+chunk(tok("w")), "1ms CUT"), nil, timeline.StreamTruncated, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bothForms(t, func(t *testing.T, form Form) {
				l := socketServer(t, "tcp", "127.0.0.1:0", &fake{serve: tc.serve})
				change := in(form)
				if tc.change != nil {
					change = in(form, tc.change)
				}
				c := socketClient(t, "http://"+l.Addr().String(), change)
				for range 4 {
					tl := start(t.Context(), c)
					want(t, "outcome", tl.Outcome, tc.outcome)
					want(t, "closed", tl.CloseUS.OK(), true)
					time.Sleep(5 * time.Millisecond) // an end on the way is seen
				}
				tl := start(t.Context(), c)
				if tc.check != nil {
					tc.check(t, tl)
				}
			})
		})
	}
}

func TestStartManyAndCancel(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		l := socketServer(t, "tcp", "127.0.0.1:0", &fake{serve: func(f *fake, c net.Conn, r *received) bool {
			if r.nth >= 100 {
				return play("0s "+sseHead+chunk(tok("w")), "1ms KEEP")(f, c, r)
			}
			return play("0s "+whole("200 OK", "text/event-stream", tok("w")+fin+done))(f, c, r)
		}})
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		if n, _, err := c.Preconnect(t.Context(), 20); n != 20 || err != nil {
			t.Fatal(n, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var all sync.WaitGroup
		tls := make([]*timeline.Timeline, 140)
		for i := range tls {
			tls[i] = timeline.New()
			p := c.Prepare(hello, tls[i])
			tls[i].DueUS = c.clk.US()
			tls[i].StartUS = tls[i].DueUS
			all.Add(1)
			p.Start(ctx, all.Done)
			if i < 100 {
				all.Wait()
			}
		}
		time.Sleep(20 * time.Millisecond)
		cancel(ErrRunEnd)
		all.Wait()
		for i, tl := range tls {
			outcome := timeline.OK
			if i >= 100 {
				outcome = timeline.CancelledRunEnd
			}
			want(t, "outcome", tl.Outcome, outcome)
		}
	})
}

func TestStartInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipeClient(t, &fake{serve: play(b1...)}, nil)
		tl := start(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		wantUS(t, "close", tl.CloseUS, 255_000)
	})
}
