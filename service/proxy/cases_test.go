package proxy

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

const hello = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`

// B56: the first token is stamped when it comes, not when the body is complete.
func TestB56TTFTIsNotTheLastChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := []string{"0ms " + sseHead}
		for i := range 11 {
			writes = append(writes, fmt.Sprintf("%dms %s", 300+50*i, chunk(tok("w"))))
		}
		writes = append(writes, "801ms "+chunk(fin+usage(10, 11)+done)+lastChunk)
		h := open(t, play(writes...), nil)
		got := h.talk(post(chatPath, hello), 0)
		h.settled()
		want(t, "body's end", got.err, nil)
		r := h.sink.one(t)
		want(t, "outcome", r.Outcome, timeline.OK)
		want(t, "ttft", ms(r.Record.TTFTMS), 300)
		want(t, "tpot", ms(r.Record.TPOTMS), 50)
		want(t, "e2e", ms(r.Record.E2EMS), 800)
		want(t, "tokens", r.Record.OutputTokens.Or(-1), 11)
		want(t, "close", r.CloseUS.Or(-1), 801_000)
		want(t, "first write", r.FirstWriteUS.Or(-1), 300_000)
		want(t, "last write", r.LastWriteUS.Or(-1), 801_000)
		want(t, "delay", r.Delay.MaxUS, 0)
		want(t, "slow reader", r.SlowReaderUS, 0)
	})
}

// B57: the usage event that the proxy asked for is not seen by a client that
// did not ask, and every other byte is.
func TestB57InjectedUsageIsInvisible(t *testing.T) {
	odd := ": a comment\r\n\r\n" + role + `data: {"choices":[{"index":0,"delta":{"content":"A"}}],"odd":{"x":[1,2]},"usage":null}` + "\r\n\r\n" + tok("B") + fin
	for name, tc := range map[string]struct {
		mode          Usage
		body          string
		asked, sees   bool
		options       bool
		source        metric.TokenSource
		streamed, cut bool
	}{
		"a":    {"", hello, true, false, true, metric.FromUsage, true, false},
		"b":    {"", `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`, true, true, true, metric.FromUsage, true, false},
		"c":    {"", `{"model":"m","stream":false}`, false, false, false, metric.FromUsage, false, false},
		"d":    {"", `{"model":"m","stream":true,"stream_options":{"include_usage":false}}`, false, false, true, metric.FromChunks, true, false},
		"e":    {"", `{"model":"m","stream":true,"usage":{"include":true},"stream_options":{}}`, false, false, true, metric.FromChunks, true, false},
		"off":  {UsageOff, hello, false, false, false, metric.FromChunks, true, false},
		"pass": {UsagePass, hello, true, true, true, metric.FromUsage, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serve := func(c net.Conn, r *received) bool {
					if !strings.Contains(r.body, `"stream":true`) {
						body := `{"choices":[{"index":0,"message":{"role":"assistant","content":"AB"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`
						return play(fmt.Sprintf("5ms HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s", len(body), body))(c, r)
					}
					end := done
					if strings.Contains(r.body, `"include_usage":true`) {
						end = usage(10, 2) + done
					}
					return play("5ms "+sseHead+chunk(odd+end)+lastChunk)(c, r)
				}
				h := open(t, serve, func(cfg *Config) { cfg.Routes[0].Usage = tc.mode })
				got := h.talk(post(chatPath, tc.body), 0)
				h.settled()
				want(t, "body's end", got.err, nil)
				sent := h.up.last().body
				want(t, "upstream has include_usage", strings.Contains(sent, `"include_usage":true`), tc.asked)
				want(t, "upstream has stream_options", strings.Contains(sent, `stream_options`), tc.options)
				want(t, "client sees the usage event", strings.Contains(got.body, `"choices":[],"usage"`), tc.sees)
				if tc.streamed {
					whole := odd + done
					if tc.sees {
						whole = odd + usage(10, 2) + done
					}
					want(t, "bytes", got.body, whole)
				}
				r := h.sink.one(t)
				want(t, "outcome", r.Outcome, timeline.OK)
				want(t, "token source", source(r), string(tc.source))
				want(t, "tokens", r.Record.OutputTokens.Or(-1), 2)
			})
		})
	}
}

// Of vendors whose streams tell usage though nobody asks, a client sees it as it would without us.
func TestUsageThatIsToldAnyway(t *testing.T) {
	for url, asked := range map[string]bool{"http://server": true, "http://openrouter.ai/api/v1": false, "http://api.mistral.ai": false, "http://api.perplexity.ai": false} {
		synctest.Test(t, func(t *testing.T) {
			body := tok("A") + `data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11,"cost":0.5}}` + "\n\n" + done
			h := open(t, play("5ms "+sseHead+chunk(body)+lastChunk), func(cfg *Config) { cfg.Upstreams[0].URL = url })
			got := h.talk(post(chatPath, hello), 0)
			h.settled()
			want(t, url+" is asked", strings.Contains(h.up.last().body, "include_usage"), asked)
			want(t, url+": client sees usage", strings.Contains(got.body, "usage"), !asked)
			r := h.sink.one(t)
			want(t, url+": source", source(r), string(metric.FromUsage))
		})
	}
}

// llama.cpp's timings go with the usage where that is asked for: once they are seen it is not.
func TestTimingsAreLeftToClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timings := `"timings":{"cache_n":7,"prompt_n":3,"prompt_ms":1,"predicted_n":1,"predicted_ms":1}`
		h := open(t, func(c net.Conn, r *received) bool {
			body := tok("A") + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],` + timings + "}\n\n" + done
			if strings.Contains(r.body, "include_usage") {
				body = tok("A") + fin + `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11},` + timings + "}\n\n" + done
			}
			return play("5ms HTTP/1.1 200 OK\r\nserver: llama.cpp\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"+chunk(body)+lastChunk)(c, r)
		}, nil)
		for i := range 2 {
			got := h.talk(post(chatPath, hello), 0)
			h.settled()
			want(t, fmt.Sprint("request ", i, ": client sees timings"), strings.Contains(got.body, "timings"), i > 0)
		}
		r := h.sink.at(t, 1)
		want(t, "source", source(r), string(metric.FromUsage))
		want(t, "prompt", r.Record.InputTokens.Or(-1), 10)
	})
}

// Events under another content type are read as events, so the usage is taken out of them, too;
// what are none pass as they come.
func TestUsageUnderAnotherContentType(t *testing.T) {
	lines := `{"message":{"content":"A"},"usage":{}}` + "\n"
	for _, c := range []struct{ kind, body, sees string }{
		{"application/octet-stream", role + tok("A") + fin + usage(10, 1) + done, role + tok("A") + fin + done},
		{"text/plain", ": hm\n\n" + tok("A") + fin + usage(10, 1) + done, ": hm\n\n" + tok("A") + fin + done},
		{"application/x-ndjson", lines + lines, lines + lines},
		{"application/json", `{"choices":[],"usage":{}}`, `{"choices":[],"usage":{}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			head := strings.Replace(sseHead, "text/event-stream", c.kind, 1)
			h := open(t, play("5ms "+head+chunk(c.body[:9]), "100ms "+chunk(c.body[9:])+lastChunk), nil)
			got := h.talk(post(chatPath, hello), 0)
			h.settled()
			want(t, c.kind, got.body, c.sees)
		})
	}
}

// B58: each read is flushed, whatever the content type spells.
func TestB58FlushPerEvent(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "text/event-stream; charset=utf-8", "Text/Event-Stream", "application/x-ndjson", ""} {
		for _, proto := range []string{"HTTP/1.1", "HTTP/1.0"} {
			for _, framing := range []string{"chunked", "length", "close"} {
				t.Run(kind+" "+proto+" "+framing, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						head := "HTTP/1.1 200 OK\r\ncontent-type: " + kind + "\r\n"
						if kind == "" {
							head = "HTTP/1.1 200 OK\r\n"
						}
						event := func(i int) string { return tok(fmt.Sprint(i)) }
						frame, end := func(s string) string { return s }, ""
						switch framing {
						case "chunked":
							head += "transfer-encoding: chunked\r\n"
							frame, end = chunk, lastChunk
						case "length":
							head += fmt.Sprintf("content-length: %d\r\n", 10*len(event(0)))
						}
						writes := []string{"0ms " + head + "\r\n"}
						for i := range 10 {
							writes = append(writes, fmt.Sprintf("%dms %s", 100+100*i, frame(event(i))))
						}
						if framing == "close" {
							writes = append(writes, "1000ms CUT")
						} else if end != "" {
							writes = append(writes, "1000ms "+end)
						}
						h := open(t, play(writes...), func(cfg *Config) { cfg.Routes[0].Usage = UsageOff })
						request := strings.Replace(post(chatPath, hello), "HTTP/1.1", proto, 1)
						got := h.talk(request, 0)
						h.settled()
						want(t, "body's end", got.err, nil)
						flushes := 0
						for _, a := range got.at {
							if i := strings.Index(a.data, "data: "); i >= 0 {
								flushes++
								want(t, fmt.Sprint("event ", flushes), a.at, time.Duration(flushes)*100*time.Millisecond)
								want(t, "events in it", strings.Count(a.data, "data: "), 1)
							}
						}
						want(t, "flushes", flushes, 10)
						want(t, "content type", got.Header.Get("Content-Type"), kind)
					})
				})
			}
		}
	}
}

// forty is the upstream of B59 and B61: 40 tokens, 50 ms apart. It notes when
// the connection was closed, where that is wanted.
func forty(closed *atomic.Int64) func(net.Conn, *received) bool {
	return func(c net.Conn, r *received) bool {
		writes := []string{"0ms " + sseHead}
		for i := range 40 {
			writes = append(writes, fmt.Sprintf("%dms %s", 100+50*i, chunk(tok("w"))))
		}
		writes = append(writes, "2051ms "+chunk(fin+usage(10, 40)+done)+lastChunk)
		if closed != nil {
			go func() { closed.Store(int64(r.gone())) }()
		}
		return play(writes...)(c, r)
	}
}

// B59: a client that hangs up is counted once, is neutral, and keeps its tokens.
func TestB59ClientHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int64
		objectives, err := objective.ParseAll([]string{"error rate < 1%", "p99 ttft < 200ms"})
		if err != nil {
			t.Fatal(err)
		}
		counters := traffic.NewCounters(objectives)
		h := open(t, forty(&closed), nil)
		h.p.cfg.Sink = traffic.Sinks{h.sink, counters}
		h.talk(post(chatPath, hello), 270*time.Millisecond)
		h.settled()
		r := h.sink.one(t)
		want(t, "outcome", r.Outcome, timeline.CancelledUser)
		want(t, "ttft", ms(r.Record.TTFTMS), 100)
		want(t, "delivered", r.Delivered.Or(-1), 4)
		want(t, "left", r.LeftUS.Or(-1), 270_000)
		want(t, "estimated", r.Record.Flags.Has(timeline.Estimated), true)
		if at := time.Duration(closed.Load()); at < 270*time.Millisecond || at > 320*time.Millisecond {
			t.Errorf("upstream was cancelled at %v", at)
		}
		for i := range objectives {
			n := telemetrytest.Total(counters.Snapshot(), traffic.Key(&objectives[i]))
			want(t, "good", n.Good, 0)
			want(t, "valid", n.Valid, 0)
		}
	})
}

// B60: neither keep-alives nor whole answers enter TTFT.
func TestB60KeepAlivesAreNoTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := `{"choices":[{"index":0,"message":{"role":"assistant","content":"AB"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`
		serve := func(c net.Conn, r *received) bool {
			if strings.Contains(r.body, `"stream":false`) {
				return play(fmt.Sprintf("4000ms HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s", len(body), body))(c, r)
			}
			return play("100ms "+sseHead+chunk(ping), "1100ms "+chunk(ping), "2100ms "+chunk(ping), "3100ms "+chunk(ping),
				"3200ms "+chunk(tok("A")), "3250ms "+chunk(tok("B")+fin+done)+lastChunk)(c, r)
		}
		h := open(t, serve, nil)
		h.talk(post(chatPath, hello), 0)
		h.talk(post(chatPath, `{"model":"m","stream":false}`), 0)
		h.settled()
		stream, whole := h.sink.at(t, 0), h.sink.at(t, 1)
		want(t, "ttft of the stream", ms(stream.Record.TTFTMS), 3200)
		want(t, "ttft of the whole answer", whole.Record.TTFTMS.OK(), false)
		want(t, "e2e of the stream", ms(stream.Record.E2EMS), 3250)
		want(t, "e2e of the whole answer", ms(whole.Record.E2EMS), 4000)
	})
}

// B61: when the client leaves, the upstream is cancelled, or drained.
func TestB61CancelOrDrain(t *testing.T) {
	for mode, tc := range map[Leave]struct {
		from, to          time.Duration
		tokens            int64
		source            metric.TokenSource
		delivered, wasted int64
	}{
		LeaveCancel: {270 * time.Millisecond, 320 * time.Millisecond, 4, metric.FromChunks, 4, 0},
		LeaveDrain:  {2051 * time.Millisecond, 2 * time.Hour, 40, metric.FromUsage, 4, 36},
	} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var closed atomic.Int64
				note := &closed
				if mode == LeaveDrain {
					note = nil
				}
				h := open(t, forty(note), func(cfg *Config) { cfg.Routes[0].Leave = mode })
				h.talk(post(chatPath, hello), 270*time.Millisecond)
				h.settled()
				r := h.sink.one(t)
				want(t, "outcome", r.Outcome, timeline.CancelledUser)
				want(t, "tokens", r.Record.OutputTokens.Or(-1), tc.tokens)
				want(t, "source", source(r), string(tc.source))
				want(t, "delivered", r.Delivered.Or(-1), tc.delivered)
				want(t, "wasted", r.Wasted.Or(-1), tc.wasted)
				if at := time.Duration(closed.Load()); mode == LeaveCancel && (at < tc.from || at > tc.to) {
					t.Errorf("upstream was closed at %v, want within [%v, %v]", at, tc.from, tc.to)
				}
				if mode == LeaveDrain {
					want(t, "close", r.CloseUS.Or(-1), 2_051_000)
					want(t, "connections kept", h.p.Stats().Upstreams[0].Idle, 1)
				}
			})
		})
	}
}
