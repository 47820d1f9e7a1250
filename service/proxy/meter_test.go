package proxy

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// A stream of 100,000 tokens costs the memory of 4,096, and its figures are
// those of all.
func TestALongStreamNeedsBoundedMemory(t *testing.T) { synctest.Test(t, longStream) }

func longStream(t *testing.T) {
	const tokens = 100_000
	tl := timeline.New()
	m := newMeter(clock.Start(), tl, api.OfPath(chatPath), api.StreamOptions{})
	m.head(0, 200, map[string][]string{"Content-Type": {"text/event-stream"}})
	one, last := []byte(tok("w")), []byte(fin+usage(10, tokens)+done)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	at := int64(300_000_000)
	read := func(data []byte) {
		m.read(client.Arrived{AtNS: at, ReadNS: at}, data)
	}
	for i := range tokens {
		if i > 0 {
			at += 20_000_000
		}
		if i == 50_000 {
			at += 980_000_000
		}
		read(one)
	}
	read(last)
	m.end(at, timeline.EOF, nil, nil, false)
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 && !raceDetector {
		t.Errorf("%d bytes were spent", spent)
	}
	r := metric.ScalarsOf(tl)
	want(t, "outcome", tl.Outcome, timeline.OK)
	want(t, "capped", r.Flags.Has(timeline.ArrivalsCapped), true)
	want(t, "kept", tl.Events.Len(), traffic.MostArrivals)
	want(t, "ttft", ms(r.TTFTMS), 300)
	want(t, "e2e", ms(r.E2EMS), 300+20*(tokens-1)+980)
	want(t, "tpot", ms(r.TPOTMS), (20*(tokens-1)+980)/float64(tokens-1))
	want(t, "longest gap", ms(r.MaxGapMS), 1000)
	want(t, "stalls", r.Stalls.Or(-1), 1)
	want(t, "tokens", r.OutputTokens.Or(-1), tokens)
	want(t, "chunks", r.Chunks.Or(-1), tokens)
	gaps := traffic.GapsBeyond(tl)
	want(t, "gaps beyond", gaps.N(), tokens-traffic.MostArrivals)
	want(t, "long ones", gaps[19], 1) // 524,288 µs ≤ 1 s
}

// The parser may be slow now and then, but not for long.
func TestAParserThatIsTooSlow(t *testing.T) {
	for name, tc := range map[string]struct {
		took   []time.Duration // of reads, over and over
		reason traffic.Reason
	}{
		"now and then":   {[]time.Duration{500 * time.Millisecond, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, ""},
		"always a bit":   {[]time.Duration{25 * time.Millisecond}, traffic.TooSlow},
		"once, for long": {[]time.Duration{0, 0, 0, 2 * time.Second, 0}, traffic.TooSlow},
	} {
		m := newMeter(clock.Start(), timeline.New(), api.OfPath(chatPath), api.StreamOptions{})
		for i := range 1000 {
			m.spent(int64(tc.took[i%len(tc.took)]))
		}
		want(t, name, m.reason, tc.reason)
	}
}

// Of a reply that was drained it is known how much of it somebody got, however
// long it is.
func TestSharesOfALongStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tokens = 10_000
		writes := []string{"0ms " + sseHead}
		for i := range tokens {
			writes = append(writes, fmt.Sprintf("%dms %s", 10+10*i, chunk(tok("w"))))
		}
		writes = append(writes, fmt.Sprintf("%dms %s", 20+10*tokens, chunk(fin+usage(10, tokens)+done)+lastChunk))
		h := open(t, play(writes...), func(c *Config) { c.Routes[0].Leave, c.Routes[0].DrainTime = LeaveDrain, time.Hour })
		h.talk(post(chatPath, hello), 60*time.Second+5*time.Millisecond)
		h.settled()
		r := h.sink.one(t)
		want(t, "outcome", r.Outcome, timeline.CancelledUser)
		want(t, "tokens", r.Record.OutputTokens.Or(-1), tokens)
		got := r.Delivered.Or(-1)
		if got > 6000 || got < 6000-tokens/512 {
			t.Errorf("%d tokens were delivered, want 6000", got)
		}
		want(t, "wasted", r.Wasted.Or(-1), tokens-got)
	})
}

// A measurement that ends before its reply leaves no decoder behind.
func TestGivingUpFreesTheDecoder(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		m := newMeter(clock.Start(), timeline.New(), api.OpenAIChat, api.StreamOptions{})
		m.head(0, http.StatusOK, http.Header{"Content-Encoding": {"zstd"}, "Content-Type": {"text/event-stream"}})
		m.read(client.Arrived{}, []byte{0x28})
		m.giveUp(traffic.TooSlow)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// What is kept of replies until they end has one room for all clients: bodies that are read
// when they are whole, and arrivals. Replies beyond it pass unmeasured, and what they took is
// given back.
func TestRepliesHaveOneRoom(t *testing.T) {
	whole := `{"choices":[{"index":0,"message":{"content":"` + strings.Repeat("x", 200<<10) + `"},"finish_reason":"stop"}]}`
	tokens := strings.Repeat(tok("a"), 5000)
	for name, c := range map[string]struct {
		writes []string
		room   int64
		body   string
	}{
		"whole": {[]string{fmt.Sprintf("0ms HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n", len(whole)) + whole[:len(whole)-1],
			"10s }"}, 1 << 20, whole},
		"arrivals": {[]string{"0ms " + sseHead + chunk(tokens), "10s " + chunk(fin+done) + lastChunk}, 400 << 10, tokens + fin + done},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, play(c.writes...), func(cfg *Config) { cfg.Replies = api.NewRoom(c.room, ReplyInHand) })
				for range 2 {
					var all sync.WaitGroup
					for range 8 {
						all.Go(func() {
							if got := h.talk(post(chatPath, hello), 0); got.body != c.body {
								t.Errorf("%d bytes came, %v", len(got.body), got.err)
							}
						})
					}
					all.Wait()
					h.settled()
					count := map[traffic.Reason]int{}
					for _, r := range h.sink.all {
						want(t, "outcome", r.Outcome, timeline.OK)
						count[r.Unmeasured]++
					}
					h.sink.all = nil
					if count[""] < 2 || count[traffic.TooLarge] < 2 || count[""]+count[traffic.TooLarge] != 8 {
						t.Errorf("measured and not: %v", count)
					}
				}
			})
		})
	}
}
