package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/framing"
)

// turnServer answers handshakes and plays frames, at moments after each message:
// "20ms TEXT …" a message, "20ms PARTS …" one in fragments with a ping between them,
// "20ms PING …", "20ms CLOSE 1011 why", "20ms HEX …" raw bytes, "20ms CUT".
type turnServer struct {
	turn func(n int, asked map[string]any) []string // n counts from 0 over all connections
	idle []string                                   // right after the handshake

	mu    sync.Mutex
	asked []map[string]any
	conns []int // that they came on
	heard []string
}

func (s *turnServer) serve(_ *fake, c net.Conn, r *received) bool {
	_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: keep-alive, Upgrade\r\nsec-websocket-accept: "+
		framing.AcceptKey(r.Header.Get("Sec-Websocket-Key"))+"\r\n\r\n")
	asked := make(chan map[string]any, 8)
	go s.read(c, asked)
	if !s.play(c, s.idle) {
		return false
	}
	for m := range asked {
		s.mu.Lock()
		n := len(s.asked)
		s.asked, s.conns = append(s.asked, m), append(s.conns, r.conn)
		s.mu.Unlock()
		if !s.play(c, s.turn(n, m)) {
			return false
		}
	}
	return false
}

// read notes the client's frames, which RFC 6455 demands to be masked.
func (s *turnServer) read(c net.Conn, asked chan<- map[string]any) {
	defer close(asked)
	in := bufio.NewReader(c)
	for {
		var head [14]byte
		if _, err := io.ReadFull(in, head[:2]); err != nil {
			return
		}
		size := int(head[1] & 0x7f)
		switch size {
		case 126:
			_, _ = io.ReadFull(in, head[2:4])
			size = int(binary.BigEndian.Uint16(head[2:]))
		case 127:
			_, _ = io.ReadFull(in, head[2:10])
			size = int(binary.BigEndian.Uint64(head[2:]))
		}
		var mask [4]byte
		_, _ = io.ReadFull(in, mask[:])
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil || head[1]&0x80 == 0 || head[0]&0x80 == 0 {
			return
		}
		for i := range data {
			data[i] ^= mask[i&3]
		}
		var m map[string]any
		if op := head[0] & 15; op == 1 && json.Unmarshal(data, &m) == nil {
			asked <- m
		} else {
			words := string(data)
			if op == 8 && len(data) >= 2 {
				words = strconv.Itoa(int(binary.BigEndian.Uint16(data)))
			}
			s.mu.Lock()
			s.heard = append(s.heard, fmt.Sprintf("%d %s", op, words))
			s.mu.Unlock()
		}
	}
}

func serverFrame(first byte, data string) string {
	b := []byte{first}
	switch n := len(data); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return string(b) + data
}

func (s *turnServer) play(c net.Conn, writes []string) bool {
	start := time.Now()
	for _, w := range writes {
		at, what, _ := strings.Cut(w, " ")
		what, data, _ := strings.Cut(what, " ")
		d, err := time.ParseDuration(at)
		if err != nil {
			panic(err)
		}
		time.Sleep(time.Until(start.Add(d)))
		switch what {
		case "TEXT":
			data = serverFrame(0x81, data)
		case "PARTS":
			half := len(data) / 2
			data = serverFrame(1, data[:half]) + serverFrame(0x89, "between") + serverFrame(0x80, data[half:])
		case "PING":
			data = serverFrame(0x89, data)
		case "CLOSE":
			code, reason, _ := strings.Cut(data, " ")
			n, _ := strconv.Atoi(code)
			data = serverFrame(0x88, string(binary.BigEndian.AppendUint16(nil, uint16(n)))+reason)
		case "HEX":
			b, err := hex.DecodeString(strings.ReplaceAll(data, " ", ""))
			if err != nil {
				panic(err)
			}
			data = string(b)
		case "CUT":
			return false
		}
		if _, err := io.WriteString(c, data); err != nil {
			return false
		}
	}
	return true
}

func delta(word string) string {
	return `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"` + word + `"}`
}

func created(id string) string {
	return `{"type":"response.created","response":{"id":"` + id + `","status":"in_progress","output":[]}}`
}

func completed(id string) string {
	return `{"type":"response.completed","response":{"id":"` + id + `","status":"completed","output":[],"usage":{"input_tokens":5,"output_tokens":2,"total_tokens":7}}}`
}

// reply is a turn of two tokens, at 50 and 70 ms.
func reply(id string) []string {
	return []string{"10ms TEXT " + created(id), "50ms TEXT " + delta("A"), "70ms TEXT " + delta("B"), "70ms TEXT " + completed(id)}
}

func turnClient(t testing.TB, f *fake, change func(*Config)) *Client {
	return pipeClient(t, f, func(c *Config) {
		c.BaseURL, c.API, c.PerSession = "ws://server/v1/responses", api.OpenAIResponses, true
		if change != nil {
			change(c)
		}
	})
}

// turnOf sends a turn of a session; its messages are a user's and the answers to them.
func turnOf(ctx context.Context, c *Client, session, agent string, texts ...string) *timeline.Timeline {
	tl := timeline.New()
	tl.Session, tl.Agent = session, agent
	tl.DueUS = c.clk.US()
	tl.StartUS = tl.DueUS
	c.Do(ctx, requestOf(texts...), tl)
	return tl
}

// requestOf is a request whose messages are the user's and the model's in turn.
func requestOf(texts ...string) *api.Request {
	req := &api.Request{Model: "m", Stream: true}
	for i, text := range texts {
		req.Messages = append(req.Messages, api.Message{Role: []string{"user", "assistant"}[i%2], Content: text})
	}
	return req
}

// A conversation stays on its connection, each turn sends what is new, and its TTFT
// counts from its message; pings between the turns are answered.
func TestWebSocketConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &turnServer{turn: func(n int, _ map[string]any) []string {
			return append(reply(fmt.Sprintf("resp_%d", n)), "5s PING still there")
		}}
		f := &fake{serve: s.serve}
		c := turnClient(t, f, func(c *Config) { c.Key = "sk-key" })
		first := turnOf(t.Context(), c, "1", "", "hi")
		time.Sleep(10 * time.Second)
		second := turnOf(t.Context(), c, "1", "", "hi", "A B", "more")
		other := turnOf(t.Context(), c, "2", "", "hi")
		time.Sleep(10 * time.Second)
		third := turnOf(t.Context(), c, "1", "", "hi", "A B", "more", "A B", "last")
		changed := turnOf(t.Context(), c, "1", "", "something else")
		for _, tl := range []*timeline.Timeline{first, second, other, third} {
			if tl.Outcome != timeline.OK {
				t.Fatal(tl.Outcome, tl.Error)
			}
			want(t, "tokens", fmt.Sprint(tokens(tl)), "[50000 70000]")
			want(t, "text", tl.Text, "AB")
			want(t, "status", tl.HTTPStatus, 101)
			wantUS(t, "head", tl.HeadUS, 10_000)
			wantUS(t, "close", tl.CloseUS, 70_000)
			wantUS(t, "sent", tl.SentUS, 0)
			want(t, "flags", tl.Flags, 0)
			want(t, "attempts", tl.Attempts, 1)
			want(t, "usage", tl.Usage.Output.Or(-1), 2)
		}
		s.mu.Lock()
		want(t, "connections", fmt.Sprint(s.conns), "[0 0 1 0 0]")
		want(t, "reused", fmt.Sprint(first.Reused.Or(true), second.Reused.Or(false), other.Reused.Or(true)), "false true false")
		want(t, "connect", fmt.Sprint(first.ConnectUS.OK(), second.ConnectUS.OK()), "true false")
		var previous, inputs []string
		for _, m := range s.asked {
			previous, inputs = append(previous, fmt.Sprint(m["previous_response_id"])), append(inputs, fmt.Sprint(m["input"]))
			want(t, "type", m["type"], any("response.create"))
			if _, there := m["stream"]; there {
				t.Error("stream is implied over a WebSocket")
			}
		}
		want(t, "chain", fmt.Sprint(previous), "[<nil> resp_0 <nil> resp_1 <nil>]")
		want(t, "inputs", fmt.Sprint(inputs), "[hi more hi last something else]")
		want(t, "the last", changed.Outcome, timeline.OK)
		want(t, "pongs", fmt.Sprint(s.heard), "[10 still there 10 still there 10 still there 10 still there]")
		want(t, "key", f.request(0).Header.Get("Authorization"), "Bearer sk-key")
		want(t, "method", f.request(0).Method+" "+f.request(0).URL.Path+" "+f.request(0).Header.Get("Connection"), "GET /v1/responses Upgrade")
		s.mu.Unlock()
		c.EndSession("1")
		time.Sleep(time.Second)
		s.mu.Lock()
		want(t, "farewell", s.heard[len(s.heard)-1], "8 1000")
		s.mu.Unlock()
		want(t, "idle", c.Stats().Idle, 1)
	})
}

// Agents of one session have conversations of their own.
func TestWebSocketAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &turnServer{turn: func(n int, _ map[string]any) []string { return reply(fmt.Sprintf("resp_%d", n)) }}
		c := turnClient(t, &fake{serve: s.serve}, nil)
		turnOf(t.Context(), c, "1", "", "plan")
		turnOf(t.Context(), c, "1", "explore", "look")
		turnOf(t.Context(), c, "1", "", "plan", "AB", "go on")
		turnOf(t.Context(), c, "1", "explore", "look", "AB", "deeper")
		s.mu.Lock()
		want(t, "connections", fmt.Sprint(s.conns), "[0 1 0 1]")
		want(t, "the plan goes on", s.asked[2]["previous_response_id"], any("resp_0"))
		want(t, "the look goes on", s.asked[3]["previous_response_id"], any("resp_1"))
		s.mu.Unlock()
		c.EndSession("1")
		want(t, "idle", c.Stats().Idle, 0)
	})
}

// Without the response to go on with, the turn is sent whole; so it is on a new
// connection when the old one is gone.
func TestWebSocketChainBreaks(t *testing.T) {
	const gone = `{"type":"error","status":400,"error":{"type":"invalid_request_error","code":"previous_response_not_found","message":"no resp_0"}}`
	const old = `{"type":"error","status":400,"error":{"type":"invalid_request_error","code":"websocket_connection_limit_reached","message":"60 minutes"}}`
	for name, c := range map[string]struct {
		second          []string
		attempts, conns int
		retries         int
		conn            string
	}{
		"not found":            {[]string{"30ms TEXT " + gone}, 2, 1, 0, "[0 0 0]"},
		"not found, and close": {[]string{"30ms TEXT " + gone, "30ms CLOSE 1000"}, 2, 0, 0, ""},
		"too old":              {[]string{"30ms TEXT " + old}, 1, 2, 1, "[0 0 1]"},
		"going away":           {[]string{"30ms CLOSE 1001"}, 1, 2, 1, "[0 0 1]"},
		"cut":                  {[]string{"30ms CUT"}, 1, 2, 1, "[0 0 1]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &turnServer{turn: func(n int, _ map[string]any) []string {
					if n == 1 {
						return c.second
					}
					return reply(fmt.Sprintf("resp_%d", n))
				}}
				cl := turnClient(t, &fake{serve: s.serve}, nil)
				turnOf(t.Context(), cl, "1", "", "hi")
				tl := turnOf(t.Context(), cl, "1", "", "hi", "A B", "more")
				if tl.Outcome != timeline.OK {
					t.Fatal(tl.Outcome, tl.Error)
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				want(t, "tokens", fmt.Sprint(tokens(tl)), "[80000 100000]")
				want(t, "attempts", tl.Attempts, c.attempts)
				if c.conn != "" {
					want(t, "connections", fmt.Sprint(s.conns), c.conn)
					want(t, "dead connections", int(tl.ConnRetries), c.retries)
				}
				want(t, "the second", s.asked[1]["previous_response_id"], any("resp_0"))
				last := s.asked[2]
				want(t, "the third", last["previous_response_id"], nil)
				if in, _ := last["input"].([]any); len(in) != 3 {
					t.Errorf("input %v", last["input"])
				}
			})
		})
	}
}

// Every way a reply can go wrong, in the classes of its sibling over HTTP.
func TestWebSocketFailures(t *testing.T) {
	begun := []string{"10ms TEXT " + created("r"), "50ms TEXT " + delta("A")}
	for name, c := range map[string]struct {
		writes []string
		change func(*Config)
		class  timeline.Outcome
		says   string
		close  int64
		answer string // the code that the server is sent; empty: not looked at
	}{
		"an error event":             {append(slices.Clone(begun), `60ms TEXT {"type":"error","error":{"type":"server_error","code":"boom","message":"it broke"}}`), nil, timeline.StreamError, "it broke", 60_000, ""},
		"an error alone":             {[]string{`60ms TEXT {"type":"error","status":429,"error":{"type":"rate_limit","message":"slow down"}}`}, nil, timeline.StreamError, "slow down", 60_000, ""},
		"failed":                     {append(slices.Clone(begun), `60ms TEXT {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no luck"}}}`), nil, timeline.StreamError, "no luck", 60_000, ""},
		"close 1000 in the middle":   {append(slices.Clone(begun), "60ms CLOSE 1000"), nil, timeline.StreamTruncated, "1000 (normal closure)", 60_000, "8 1000"},
		"close 1008":                 {append(slices.Clone(begun), "60ms CLOSE 1008 no"), nil, timeline.StreamError, "1008 (policy violation): no", 60_000, "8 1008"},
		"close 1011 before anything": {[]string{"60ms CLOSE 1011 oops"}, nil, timeline.StreamError, "1011 (internal error): oops", 60_000, "8 1011"},
		"close 1013":                 {append(slices.Clone(begun), "60ms CLOSE 1013"), nil, timeline.StreamError, "1013 (try again later)", 60_000, "8 1013"},
		"close 4001":                 {append(slices.Clone(begun), "60ms CLOSE 4001 own"), nil, timeline.StreamError, "4001: own", 60_000, "8 4001"},
		"close without a code":       {append(slices.Clone(begun), "60ms HEX 8800"), nil, timeline.StreamTruncated, "closed the WebSocket", 60_000, "8 1000"},
		"close 1000 before anything": {[]string{"60ms CLOSE 1000"}, nil, timeline.ConnReset, "before any response", 60_000, "8 1000"},
		"cut":                        {append(slices.Clone(begun), "60ms CUT"), nil, timeline.StreamTruncated, "", 60_000, ""},
		"cut within a frame":         {append(slices.Clone(begun), "60ms HEX 817e0100", "60ms CUT"), nil, timeline.StreamTruncated, "", 60_000, ""},
		"cut before anything":        {[]string{"60ms CUT"}, nil, timeline.ConnReset, "before any response", 60_000, ""},
		"masked":                     {append(slices.Clone(begun), "60ms HEX 8180 00000000"), nil, timeline.Parse, "masked", 60_000, "8 1002"},
		"no UTF-8":                   {append(slices.Clone(begun), "60ms HEX 8101ff"), nil, timeline.Parse, "UTF-8", 60_000, "8 1007"},
		"huge":                       {append(slices.Clone(begun), "60ms HEX 817f00000000 01000001"), nil, timeline.Parse, "16 MiB", 60_000, "8 1009"},
		"invalid before anything":    {[]string{"60ms HEX 8300"}, nil, timeline.Parse, "opcode 3", 60_000, "8 1002"},
		"no token for long":          {append(slices.Clone(begun), "1s PING a", "2s PING b", "3s PING c"), func(c *Config) { c.IdleTimeout = 2 * time.Second }, timeline.TimeoutIdle, "", 2_050_000, "8 1000"},
		"no first token":             {[]string{"10ms TEXT " + created("r")}, func(c *Config) { c.TTFTTimeout = time.Second }, timeline.TimeoutTTFT, "", 1_000_000, "8 1000"},
		"nothing at all":             {nil, func(c *Config) { c.Timeout = time.Second }, timeline.TimeoutTotal, "no response", 1_000_000, "8 1000"},
		"empty":                      {[]string{"60ms TEXT " + completed("r")}, nil, timeline.EmptyOutput, "", 60_000, ""},
		"what is no JSON":            {append(slices.Clone(begun), "60ms TEXT hello", "80ms CLOSE 1000"), nil, timeline.StreamTruncated, "", 80_000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &turnServer{turn: func(int, map[string]any) []string { return c.writes }}
				cl := turnClient(t, &fake{serve: s.serve}, c.change)
				tl := turnOf(t.Context(), cl, "1", "", "hi")
				want(t, "outcome", tl.Outcome, c.class)
				if tl.Error == nil || tl.Error.Message == "" || !strings.Contains(tl.Error.Message, c.says) {
					t.Errorf("said %v, want %q", tl.Error, c.says)
				}
				wantUS(t, "close", tl.CloseUS, c.close)
				time.Sleep(10 * time.Second)
				s.mu.Lock()
				defer s.mu.Unlock()
				if c.answer != "" && (len(s.heard) == 0 || s.heard[len(s.heard)-1] != c.answer) {
					t.Errorf("the server heard %q, want %q", s.heard, c.answer)
				}
			})
		})
	}
}

// What belongs to the stream and what does not: fragments, pings, messages over several
// lines or as bytes, several in a read, none of anybody's.
func TestWebSocketMessages(t *testing.T) {
	pretty := strings.ReplaceAll(delta("A"), ",", ",\r\n ")
	for name, writes := range map[string][]string{
		"fragments": {"10ms TEXT " + created("r"), "50ms PARTS " + delta("A"), "70ms PARTS " + delta("B"), "70ms TEXT " + completed("r")},
		"pings":     {"5ms PING x", "10ms TEXT " + created("r"), "20ms PING y", "50ms TEXT " + delta("A"), "70ms TEXT " + delta("B"), "70ms PING z", "70ms TEXT " + completed("r")},
		"lines":     {"10ms TEXT " + created("r"), "50ms TEXT " + pretty, "70ms TEXT " + delta("B"), "70ms TEXT " + completed("r")},
		"bytes":     {"10ms HEX " + hex.EncodeToString([]byte(serverFrame(0x82, created("r")))), "50ms HEX " + hex.EncodeToString([]byte(serverFrame(0x82, delta("A")))), "70ms TEXT " + delta("B"), "70ms TEXT " + completed("r")},
		"behind it": append(reply("r"), `71ms TEXT {"type":"rate_limits.updated"}`, "72ms PING x"),
		"in pieces": {"10ms TEXT " + created("r"), "40ms HEX " + hex.EncodeToString([]byte(serverFrame(0x81, delta("A"))[:9])),
			"50ms HEX " + hex.EncodeToString([]byte(serverFrame(0x81, delta("A"))[9:])), "70ms TEXT " + delta("B"), "70ms TEXT " + completed("r")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &turnServer{turn: func(int, map[string]any) []string { return writes }, idle: []string{`0s TEXT {"type":"session.created"}`}}
				c := turnClient(t, &fake{serve: s.serve}, nil)
				for range 2 {
					tl := turnOf(t.Context(), c, "1", "", "hi")
					if tl.Outcome != timeline.OK || fmt.Sprint(tokens(tl)) != "[50000 70000]" || tl.Text != "AB" || tl.Flags != 0 {
						t.Errorf("%s %v: %v %q %v", tl.Outcome, tl.Error, tokens(tl), tl.Text, tl.Flags.Names())
					}
					time.Sleep(time.Second)
				}
				want(t, "connections", c.Stats().Opened, 1)
			})
		})
	}
}

// A gateway that passes events of HTTP on may say [DONE] behind the end of a reply:
// it may come when the next turn has been asked for, and is none of its reply.
func TestWebSocketDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &turnServer{turn: func(n int, _ map[string]any) []string {
			if n == 0 {
				return append(reply("r"), "75ms TEXT [DONE]")
			}
			return append([]string{"5ms TEXT [DONE]\n"}, reply("r")...)
		}}
		c := turnClient(t, &fake{serve: s.serve}, nil)
		for range 3 {
			tl := turnOf(t.Context(), c, "1", "", "hi")
			if tl.Outcome != timeline.OK || tl.Text != "AB" || len(tokens(tl)) != 2 {
				t.Errorf("%s %v: %v %q", tl.Outcome, tl.Error, tokens(tl), tl.Text)
			}
		}
		want(t, "connections", c.Stats().Opened, 1)
	})
}

// A server that answers the handshake by HTTP is told apart as over HTTP.
func TestWebSocketRefused(t *testing.T) {
	switchTo := "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
	for name, c := range map[string]struct {
		answer string
		class  timeline.Outcome
		says   string
	}{
		"401":            {whole("401 Unauthorized", "application/json", `{"error":{"message":"wrong key sk-key"}}`), timeline.HTTP4xx, "wrong key ***"},
		"404":            {whole("404 Not Found", "application/json", `{"detail":"Not Found"}`), timeline.HTTP4xx, "over HTTP"},
		"405":            {whole("405 Method Not Allowed", "text/plain", "no"), timeline.HTTP4xx, "over HTTP"},
		"429":            {whole("429 Too Many Requests", "application/json", `{"error":{"message":"later"}}`), timeline.HTTP429, "later"},
		"503":            {whole("503 Service Unavailable", "text/plain", "busy"), timeline.HTTP5xx, "busy"},
		"a web page":     {whole("200 OK", "text/html", "<html>"), timeline.Parse, "HTTP 200 instead of 101"},
		"a redirection":  {whole("307 Temporary Redirect", "text/plain", "", "location: /v2/responses"), timeline.RedirectRefused, "307"},
		"another place":  {whole("302 Found", "text/plain", "", "location: /v2/responses"), timeline.RedirectRefused, "redirects to /v2/responses; use that URL"},
		"a wrong accept": {switchTo + "sec-websocket-accept: x\r\n\r\n", timeline.Parse, "Sec-WebSocket-Accept"},
		"no accept":      {switchTo + "\r\n", timeline.Parse, "Sec-WebSocket-Accept"},
		"another":        {"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n", timeline.Parse, "another protocol"},
		"no HTTP":        {"SSH-2.0-x\r\n", timeline.Parse, "no valid HTTP/1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := turnClient(t, &fake{serve: play("20ms " + c.answer)}, func(c *Config) { c.Key = "sk-key" })
				tl := turnOf(t.Context(), cl, "1", "", "hi")
				want(t, "outcome", tl.Outcome, c.class)
				if tl.Error == nil || !strings.Contains(tl.Error.Message, c.says) || strings.Contains(tl.Error.Message, "sk-key") {
					t.Errorf("said %v, want %q", tl.Error, c.says)
				}
			})
		})
	}
}

// The handshake is a part of connecting, and so of the first TTFT alone.
func TestWebSocketHandshakeTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &turnServer{turn: func(int, map[string]any) []string { return reply("r") }}
		f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
			time.Sleep(30 * time.Millisecond)
			return s.serve(f, c, r)
		}}
		c := turnClient(t, f, nil)
		tl := turnOf(t.Context(), c, "1", "", "hi")
		wantUS(t, "connect", tl.ConnectUS, 30_000)
		wantUS(t, "sent", tl.SentUS, 30_000)
		want(t, "tokens", fmt.Sprint(tokens(tl)), "[80000 100000]")
		want(t, "tokens of the second", fmt.Sprint(tokens(turnOf(t.Context(), c, "1", "", "hi"))), "[50000 70000]")
	})
}

// The end of a run, and users who leave, end the reply and its connection.
func TestWebSocketCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &turnServer{turn: func(int, map[string]any) []string { return append(reply("r")[:2], "10s TEXT "+delta("late")) }}
		c := turnClient(t, &fake{serve: s.serve}, nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(ErrRunEnd) })
		tl := turnOf(ctx, c, "1", "", "hi")
		want(t, "outcome", tl.Outcome, timeline.CancelledRunEnd)
		wantUS(t, "close", tl.CloseUS, 1_000_000)
		want(t, "idle", c.Stats().Idle, 0)

		left := timeline.New()
		left.DueUS = c.clk.US()
		left.StartUS = left.DueUS
		c.Do(t.Context(), &api.Request{Model: "m", Stream: true, LeaveTokens: 1, Messages: hello.Messages}, left)
		want(t, "who left", left.Outcome, timeline.CancelledUser)
		wantUS(t, "when", left.CloseUS, 50_000)
	})
}

func TestWebSocketDryRun(t *testing.T) {
	c, err := New(Config{BaseURL: "wss://h/v1/responses", API: api.OpenAIResponses, Key: "sk-topsecret99"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.DryRun(hello)
	want(t, "error", err, nil)
	want(t, "command", got, `printf '%s\n' '{"input":"hi","model":"m","type":"response.create"}' | websocat -n \
  -H 'authorization: Bearer ***' \
  'wss://h/v1/responses'
`)
}

func TestWebSocketTargets(t *testing.T) {
	for url, want := range map[string]string{
		"ws://h:8000":                          "ws://h:8000/v1/responses",
		"WSS://h/v1":                           "wss://h/v1/responses",
		"wss://api.x.ai/v1/responses":          "wss://api.x.ai/v1/responses",
		"wss://h/openai/v1/responses?api=2026": "wss://h/openai/v1/responses?api=2026",
	} {
		c, err := New(Config{BaseURL: url, API: api.OpenAIResponses})
		if err != nil || c.URL() != want {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	for _, cfg := range []Config{{BaseURL: "ws://h", API: api.OpenAIChat}, {BaseURL: "ws://h", API: api.OpenAIResponses, HTTP2: true},
		{BaseURL: "ws://h", API: api.OpenAIResponses, Header: map[string][]string{"Sec-WebSocket-Key": {"x"}}}} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
}
