package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What the client gets is what the upstream sent, however it was cut up and
// whatever it is.
func FuzzBytesPassUnchanged(f *testing.F) {
	formats := []string{
		role + tok("A") + ping + fin + usage(1, 2) + done,
		strings.ReplaceAll(role+tok("A")+fin+usage(1, 2)+done, "\n", "\r\n"),
		strings.ReplaceAll(role+tok("A")+fin+usage(1, 2)+done, "\n", "\r"),
		`{"message":{"content":"A"},"done":false}` + "\n" + `{"done":true,"eval_count":1}` + "\n",
		"event: message_start\ndata: {\"type\":\"message_start\"}\n\n",
		"\x00\x00\x00\x5b\x00\x00\x00\x4b\x98\x1f\x01\xff binary",
		"[{\"candidates\":[]}\r\n,\r\n{}]",
	}
	for i, body := range formats {
		f.Add([]byte(body), []byte{byte(i), 1, 7, 200}, uint8(i), false)
		f.Add([]byte(body), []byte{3}, uint8(i), true)
	}
	paths := []string{chatPath, "/v1/completions", "/api/chat", "/v1/messages", "/v1/responses", "/generate", "/v1/messages/count_tokens"}
	kinds := []string{"text/event-stream", "application/x-ndjson", "application/json", "application/vnd.amazon.eventstream", "", "text/event-stream;charset=utf-8"}
	f.Fuzz(func(t *testing.T, body, cuts []byte, form uint8, length bool) {
		synctest.Test(t, func(t *testing.T) {
			head := "HTTP/1.1 200 OK\r\ncontent-type: " + kinds[int(form)%len(kinds)] + "\r\n"
			serve := func(c net.Conn, _ *received) bool {
				if length {
					head += fmt.Sprintf("content-length: %d\r\n\r\n", len(body))
				} else {
					head += "transfer-encoding: chunked\r\n\r\n"
				}
				if _, err := c.Write([]byte(head)); err != nil {
					return false
				}
				rest := body
				for i := 0; len(rest) > 0; i++ {
					n := len(rest)
					if len(cuts) > 0 {
						n = min(n, 1+int(cuts[i%len(cuts)]))
					}
					part := rest[:n]
					rest = rest[n:]
					if !length {
						part = []byte(chunk(string(part)))
					}
					if _, err := c.Write(part); err != nil {
						return false
					}
					time.Sleep(time.Millisecond)
				}
				if !length {
					_, _ = c.Write([]byte(lastChunk))
				}
				return true
			}
			h := open(t, serve, func(c *Config) { c.Routes[0].Usage = UsageOff })
			got := h.talk(post(paths[int(form/8)%len(paths)], hello), 0)
			h.settled()
			if got.err != nil || got.body != string(body) {
				t.Errorf("got %q (%v), want %q", got.body, got.err, body)
			}
			if n := h.p.Stats().Requests; n != 1 {
				t.Errorf("%d records", n)
			}
		})
	})
}

// The stripper removes the usage event and nothing else, wherever the reads end.
func FuzzStripper(f *testing.F) {
	plain := ": hi\n\n" + role + tok("A") + `data: {"choices":[],"usage":null}` + "\n\n" + fin
	for _, end := range []string{"\n", "\r\n", "\r"} {
		f.Add([]byte(strings.ReplaceAll(plain, "\n", end)), []byte(strings.ReplaceAll(done, "\n", end)), []byte(end), []byte{1, 2, 3})
	}
	f.Fuzz(func(t *testing.T, before, after, end, cuts []byte) {
		switch string(end) {
		case "\n", "\r\n", "\r":
		default:
			return
		}
		stop := append(append([]byte{}, end...), end...)
		before = bytes.TrimLeft(bytes.ReplaceAll(before, []byte("usage"), nil), "\r\n")
		after = bytes.TrimLeft(bytes.ReplaceAll(after, []byte("usage"), nil), "\r\n")
		if len(before) > 0 {
			before = append(bytes.TrimRight(before, "\r\n"), stop...)
		}
		event := append([]byte(`data: {"id":"x","choices":[],"usage":{"prompt_tokens":1}}`), stop...)
		all := append(append(append([]byte{}, before...), event...), after...)
		wanted := append(append([]byte{}, before...), after...)
		s := newStripper()
		var got []byte
		write := func(p []byte) error { got = append(got, p...); return nil }
		for i, rest := 0, all; len(rest) > 0; i++ {
			n := len(rest)
			if len(cuts) > 0 {
				n = min(n, 1+int(cuts[i%len(cuts)]))
			}
			if err := s.feed(rest[:n], write); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		_ = s.end(true, write)
		if !bytes.Equal(got, wanted) || s.removed != 1 {
			t.Errorf("removed %d of %q\ngot  %q\nwant %q", s.removed, all, got, wanted)
		}
	})
}

// A body that the proxy adds to is still the same JSON, with one member more.
func FuzzUsageIsAskedFor(f *testing.F) {
	for _, body := range []string{hello, `{}`, `{"stream":true}`, `{"stream":true,"stream_options":{}}`, `{"stream":true,"stream_options":null}`,
		`{"stream":true,"stream_options":{"include_usage":false}}`, `{"stream":true,"stream_options":{"a":[1,{"b":"}"}]}}`, `{"a":"\"}","stream":true}`, ` { "stream" : true } `,
		`{"stream":true,"stream":false}`, `[]`, `{"stream":true`, `{"model":5,"user":{},"stream":true}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := readAsked(body)
		if err != nil {
			return
		}
		out, ok := a.withUsage(append([]byte{}, body...))
		var before, after map[string]any
		if json.Unmarshal(body, &before) != nil {
			return
		}
		if !ok {
			if !bytes.Equal(out, body) {
				t.Errorf("%q became %q", body, out)
			}
			return
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q became %q: %v", body, out, err)
		}
		if before["stream"] != true {
			t.Errorf("asked for usage of no stream: %q", body)
		}
		options, _ := after["stream_options"].(map[string]any)
		if options["include_usage"] != true {
			t.Errorf("%q became %q", body, out)
		}
		delete(options, "include_usage")
		if was, had := before["stream_options"].(map[string]any); !had && len(options) > 0 || had && len(was) != len(options) {
			t.Errorf("options %v became %v", was, options)
		}
		delete(before, "stream_options")
		delete(after, "stream_options")
		if fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("%v became %v", before, after)
		}
	})
}
