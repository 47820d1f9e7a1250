package api

import (
	"net/http"
	"testing"

	"tokenmeter/record/timeline"
)

func TestQueueByHead(t *testing.T) {
	for _, c := range []struct {
		name                       string
		sent, connect, head, first int64 // µs
		prefill                    float64
		queue                      float64 // ms; −1: not told
	}{
		{"waits for a slot", 1000, 1000, 502_000, 602_500, 100, 500},
		{"does not wait", 1000, 200, 1200, 102_000, 100, 0},
		{"the way is longer than the handshake says", 0, 40_000, 30_000, 140_000, 100, 0},
		{"a head at once says nothing of a queue", 1000, 200, 1300, 602_000, 100, -1},
		{"more prefill than time", 1000, 200, 1300, 102_000, 500, -1},
		{"a handshake that is not known", 1000, -1, 501_000, 602_000, 100, 500},
	} {
		tl := &timeline.Timeline{SentUS: timeline.Some(c.sent), HeadUS: timeline.Some(c.head)}
		if c.connect >= 0 {
			tl.ConnectUS = timeline.Some(c.connect)
		}
		tl.Events.Append(timeline.Event{AtUS: c.first, Kind: timeline.Text, Choice: 0, Read: 1})
		st := serverTimings{headAtStart: true}
		st.set(prefillMS, c.prefill)
		st.queueByHead(tl)
		got, told := st.result()["queue_ms"]
		if !told {
			got = -1
		}
		if got != c.queue {
			t.Errorf("%s: queue %v ms, want %v", c.name, got, c.queue)
		}
	}
	other := serverTimings{}
	other.set(prefillMS, 100)
	other.queueByHead(&timeline.Timeline{SentUS: timeline.Some(int64(0)), HeadUS: timeline.Some(int64(500_000))})
	if _, told := other.result()["queue_ms"]; told {
		t.Error("the head of another server was taken for its queue")
	}
}

// strconv reads Inf and NaN too, and a sum of large numbers is one: what no server can
// have measured is not told.
func TestServersTellNoImpossibleTimes(t *testing.T) {
	for _, text := range []string{"Inf", "+inf", "NaN", "-Inf", "1e308", "-1", "0x1p1000"} {
		st := serverTimings{}
		for _, th := range timingHeaders {
			st.headers(http.Header{http.CanonicalHeaderKey(th.name): {text}})
		}
		if got := st.result(); got != nil {
			t.Errorf("%s: %v", text, got)
		}
	}
	st := serverTimings{}
	st.headers(http.Header{"X-Queue-Time": {"12.5"}})
	if got := st.result()["queue_ms"]; got != 12.5 {
		t.Errorf("a time: %v", got)
	}
}
