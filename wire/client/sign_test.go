package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

// Each attempt is signed for its own path at its own time, and carries no other proof.
func TestEachAttemptIsSigned(t *testing.T) {
	for name, tc := range map[string]struct {
		first  string
		proofs [2]string // path and seconds since the start
	}{
		"turned away": {whole("429 Too Many Requests", "text/plain", "busy", "retry-after: 600"), [2]string{"/v1/chat/completions 0", "/v1/chat/completions 600"}},
		"over load":   {whole("503 Service Unavailable", "text/plain", "busy", "retry-after: 60"), [2]string{"/v1/chat/completions 0", "/v1/chat/completions 60"}},
		"redirected":  {whole("307 Temporary Redirect", "text/plain", "", "location: /there"), [2]string{"/v1/chat/completions 0", "/there 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
					if r.nth == 0 {
						return play("0s "+tc.first)(f, c, r)
					}
					return play(b1...)(f, c, r)
				}}
				began := time.Now()
				c := pipeClient(t, f, func(c *Config) {
					c.Retries, c.FollowRedirects, c.Timeout = 1, true, time.Hour
					c.Sign = func(r *http.Request, _ []byte) error {
						r.Header.Set("Authorization", fmt.Sprintf("%s %.0f", r.URL.Path, time.Since(began).Seconds()))
						return nil
					}
				})
				tl := send(t.Context(), c)
				want(t, "outcome", tl.Outcome, timeline.OK)
				want(t, "requests", len(f.requests), 2)
				for i, proof := range tc.proofs {
					if got := f.request(i).Header["Authorization"]; len(got) != 1 || got[0] != proof {
						t.Errorf("request %d is signed %q, want %q", i+1, got, proof)
					}
				}
			})
		})
	}
}

// What can't be signed is not sent, at the first attempt or a later one.
func TestUnsigned(t *testing.T) {
	for _, after := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{serve: play("0s " + whole("429 Too Many Requests", "text/plain", "busy", "retry-after: 1"))}
			signed := 0
			c := pipeClient(t, f, func(c *Config) {
				c.Retries, c.Key = 5, "sk-TESTSECRET123"
				c.Sign = func(*http.Request, []byte) error {
					if signed++; signed > after {
						return errors.New("no proof with sk-TESTSECRET123")
					}
					return nil
				}
			})
			tl := send(t.Context(), c)
			want(t, "outcome", tl.Outcome, timeline.ClientResource)
			want(t, "requests", len(f.requests), after)
			want(t, "closed at", tl.CloseUS, timeline.Some(int64(after)*1e6))
			if !strings.Contains(tl.Error.Message, "can't be signed: no proof") || strings.Contains(tl.Error.Message, "TESTSECRET") {
				t.Errorf("it says %q", tl.Error.Message)
			}
		})
	}
}

// Pages beside the signed requests, as the server's metrics are, get none of Amazon's
// temporary keys: the request there would prove nothing by them.
func TestPagesBesideSignedRequestsGetNoToken(t *testing.T) {
	for _, signs := range []bool{true, false} {
		cfg := Config{Header: http.Header{"X-Amz-Security-Token": {"canary"}, "X-Team": {"a"}}}
		if signs {
			cfg.Sign = func(*http.Request, []byte) error { return nil }
		}
		if own := cfg.OwnHeader(); (own.Get("X-Amz-Security-Token") == "") != signs || own.Get("X-Team") != "a" || cfg.Header.Get("X-Amz-Security-Token") != "canary" {
			t.Errorf("signed %v: %v", signs, own)
		}
	}
}
