package client

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// realtimeServer greets, acknowledges what it is told, and replies to response.create
// with two tokens, at 50 and 70 ms; the nth reply fails where broken says so.
func realtimeServer(broken int) *turnServer {
	n := -1
	return &turnServer{
		idle: []string{`5ms TEXT {"type":"session.created","event_id":"e","session":{"type":"realtime"}}`},
		turn: func(_ int, asked map[string]any) []string {
			if asked["type"] != "response.create" {
				return []string{`0ms TEXT {"type":"conversation.item.added","event_id":"e","item":{"content":[{"type":"input_text","text":"hi"}]}}`}
			}
			if n++; n == broken {
				return []string{`10ms TEXT {"type":"error","event_id":"e","error":{"type":"server_error","message":"it broke"}}`,
					"20ms TEXT " + created("late"), "25ms TEXT " + delta("late")}
			}
			id := fmt.Sprintf("resp_%d", n)
			return []string{"10ms TEXT " + created(id), "50ms TEXT " + delta("A"), "70ms TEXT " + delta("B"),
				`70ms TEXT {"type":"response.done","response":{"id":"` + id + `","status":"completed","usage":{"input_tokens":5,"output_tokens":2,"total_tokens":7}}}`,
				`80ms TEXT {"type":"rate_limits.updated","rate_limits":[]}`}
		},
	}
}

// asked are the messages of a server by connection: roles of items, ! for response.create.
func (s *turnServer) items() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, last := "", -1
	for i, m := range s.asked {
		if s.conns[i] != last {
			out, last = out+fmt.Sprintf(" %d:", s.conns[i]), s.conns[i]
		}
		if item, ok := m["item"].(map[string]any); ok {
			out += item["role"].(string)[:1]
		} else {
			out += "!"
		}
	}
	return strings.TrimSpace(out)
}

// A conversation stays on its connection, and what the server says of its session,
// whenever it comes, is no part of a reply.
func TestRealtimeConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := realtimeServer(-1)
		f := &fake{serve: s.serve}
		c := turnClient(t, f, func(c *Config) { c.BaseURL, c.API = "ws://server/v1/realtime?model=other", api.Realtime })
		first := turnOf(t.Context(), c, "1", "", "hi")
		second := turnOf(t.Context(), c, "1", "", "hi", "A B", "more") // while the limits of the first are told
		changed := turnOf(t.Context(), c, "1", "", "something else")
		alone := turnOf(t.Context(), c, "", "", "hi")
		for i, tl := range []*timeline.Timeline{first, second, changed, alone} {
			if tl.Outcome != timeline.OK {
				t.Fatal(tl.Outcome, tl.Error)
			}
			late := int64(5000) // until the greeting is out, the fake server listens to nobody
			if i == 1 {
				late = 10_000 // and the limits
			}
			want(t, "tokens", fmt.Sprint(tokens(tl)), fmt.Sprintf("[%d %d]", 50_000+late, 70_000+late))
			wantUS(t, "head", tl.HeadUS, 10_000+late)
			wantUS(t, "sent", tl.SentUS, 0)
			want(t, "text", tl.Text, "AB")
			want(t, "flags", tl.Flags, 0)
			want(t, "reused", tl.Reused.Or(false), i == 1)
		}
		want(t, "messages", s.items(), "0:u!u! 1:u! 2:u!")
		want(t, "path", f.request(0).URL.RequestURI(), "/v1/realtime?model=other")
		want(t, "idle", c.Stats().Idle, 2) // of the session, and none without one
		c.EndSession("1")
		want(t, "idle", c.Stats().Idle, 0)
	})
}

// Messages are made before they are due, which for sound takes a while: what the making
// takes is no latency of the server's, unless the turn goes on with one before it.
func TestRealtimeIsMadeAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := realtimeServer(-1)
		slowly := *api.Realtime
		slowly.Create = func(r *api.Request, previous string) (api.Call, error) {
			time.Sleep(30 * time.Millisecond)
			return api.Realtime.Create(r, previous)
		}
		c := turnClient(t, &fake{serve: s.serve}, func(c *Config) { c.BaseURL, c.API = "ws://server", &slowly })
		for i, messages := range [][]string{{"hi"}, {"hi", "A B", "more"}} {
			tl := timeline.New()
			tl.Session = "1"
			made := c.Prepare(requestOf(messages...), tl)
			tl.DueUS = c.clk.US()
			tl.StartUS = tl.DueUS
			made.Do(t.Context())
			want(t, "outcome", tl.Outcome, timeline.OK)
			wantUS(t, "sent", tl.SentUS, int64(i)*30_000)
		}
		want(t, "messages", s.items(), "0:u!u!")
	})
}

// After a reply that failed the conversation goes on elsewhere, with all of it: the
// server may still answer.
func TestRealtimeAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := realtimeServer(1)
		c := turnClient(t, &fake{serve: s.serve}, func(c *Config) { c.BaseURL, c.API = "ws://server", api.Realtime })
		turnOf(t.Context(), c, "1", "", "hi")
		failed := turnOf(t.Context(), c, "1", "", "hi", "A B", "more")
		want(t, "outcome", failed.Outcome, timeline.StreamError)
		want(t, "words", failed.Error.Message, "it broke (type server_error)")
		after := turnOf(t.Context(), c, "1", "", "hi", "A B", "more", "", "last")
		want(t, "outcome", after.Outcome, timeline.OK)
		want(t, "text", after.Text, "AB")
		want(t, "messages", s.items(), "0:u!u! 1:uauau!")
		time.Sleep(time.Second)
	})
}

// The addresses of OpenAI and Azure, and what else may be in a URL.
func TestRealtimePath(t *testing.T) {
	for url, want := range map[string]string{
		"wss://api.openai.com":                                                                 "wss://api.openai.com/v1/realtime?model=m",
		"wss://api.openai.com/v1/realtime?model=x":                                             "wss://api.openai.com/v1/realtime?model=x",
		"wss://r.openai.azure.com/openai/v1":                                                   "wss://r.openai.azure.com/openai/v1/realtime?model=m",
		"wss://r.openai.azure.com/openai/v1/realtime?model=d":                                  "wss://r.openai.azure.com/openai/v1/realtime?model=d",
		"wss://r.openai.azure.com/openai/realtime?api-version=2025-04-01-preview&deployment=d": "wss://r.openai.azure.com/openai/realtime?api-version=2025-04-01-preview&deployment=d",
	} {
		c, err := New(Config{BaseURL: url, API: api.Realtime, Key: "sk-topsecret99"})
		if err != nil {
			t.Fatal(err)
		}
		command, err := c.DryRun(&api.Request{Model: "m", Messages: []api.Message{{Role: "user", Content: "hi"}}})
		key := "authorization: Bearer ***"
		if strings.Contains(url, "azure") {
			key = "api-key: ***"
		}
		if err != nil || !strings.Contains(command, "'"+want+"'") || !strings.Contains(command, key) || strings.Contains(command, "topsecret") {
			t.Errorf("%s: %v\n%s", url, err, command)
		}
	}
	if _, err := New(Config{BaseURL: "https://api.openai.com", API: api.Realtime}); err == nil || !strings.Contains(err.Error(), "WebSocket alone") {
		t.Errorf("over HTTP: %v", err)
	}
}
