package otel

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// answers are what a collector that is never reached by a network says, in turn.
type answers struct {
	codes []int
	after string
	body  string
	at    []time.Duration
	began time.Time
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a.at = append(a.at, time.Since(a.began))
	code := a.codes[min(len(a.at), len(a.codes))-1]
	return &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {a.after}}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

// A collector that asks for patience is asked again, after what it says or ever longer;
// one that refuses is not; and nothing lasts longer than the timeout.
func TestSendingAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		answers
		tries []time.Duration
		err   string
	}{
		{"at once", answers{codes: []int{200}}, []time.Duration{0}, ""},
		{"busy", answers{codes: []int{503, 429, 200}}, []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond}, ""},
		{"says when", answers{codes: []int{503, 200}, after: "3"}, []time.Duration{0, 3 * time.Second}, ""},
		{"refuses", answers{codes: []int{400}}, []time.Duration{0}, "HTTP 400"},
		{"never", answers{codes: []int{503}}, []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 7500 * time.Millisecond}, "HTTP 503"},
		{"too late", answers{codes: []int{503}, after: "60"}, []time.Duration{0}, "deadline exceeded"},
		{"a part", answers{codes: []int{200}, body: "\x0a\x02\x08\x07"}, []time.Duration{0}, "7 of the values"},
		{"no message", answers{codes: []int{200}, body: "\xff\xff\xff"}, []time.Duration{0}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.began = time.Now()
				s := &sender{url: "http://collector", timeout: 10 * time.Second, client: &http.Client{Transport: &c.answers}}
				err := s.post(context.Background(), &pb.MetricsData{})
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v", err)
				}
				if len(c.at) != len(c.tries) {
					t.Fatalf("tries at %v", c.at)
				}
				for i, want := range c.tries {
					if c.at[i] != want {
						t.Errorf("try %d at %v, want %v", i, c.at[i], want)
					}
				}
			})
		})
	}
}
