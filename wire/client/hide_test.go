package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// What a server says of the key gets into no field of the record.
func TestRecordsKeepSecrets(t *testing.T) {
	const key = "key-0123456789abcdef"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":"c %[1]s","reasoning_content":"r %[1]s",`+
			`"tool_calls":[{"index":0,"function":{"name":"t","arguments":"%[1]s"}}]},"finish_reason":"%[1]s"}]}`+"\n\n", key)
		io.WriteString(w, "data: [DONE]\n\n")
	}))
	defer srv.Close()
	c, err := New(Config{BaseURL: srv.URL, API: api.OpenAIChat, Header: http.Header{"Authorization": {"Bearer " + key}},
		Stream: api.StreamOptions{KeepText: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tl := timeline.New()
	c.Do(context.Background(), &api.Request{Model: "m", Stream: true}, tl)
	if tl.Outcome != timeline.OK || tl.Text != "c ***" || tl.FinishReason != "***" {
		t.Errorf("%s, text %q, finish reason %q", tl.Outcome, tl.Text, tl.FinishReason)
	}
	if all := fmt.Sprintf("%+v", *tl); strings.Contains(all, "0123456789") {
		t.Errorf("%s", all)
	}
}

// Nor does a key that the server makes a name of what nobody reads, though such names are
// cut and lose their unusual letters.
func TestNamesOfTheUnreadKeepSecrets(t *testing.T) {
	for _, key := range []string{"Ab+Cd/Ef=gh12xyz==", "key~0123456789@abcdef", strings.Repeat("0f9", 40), strings.Repeat("q", 60) + "0f90f90f90f90f90f90f9"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":"c","%[1]s":"so it is","in":{"%[1]s":"so it is"}},"finish_reason":"no key %[1]s"}]}`+"\n\n", key)
			fmt.Fprintf(w, `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":9,"token%[1]s":7}}`+"\n\n", key)
			io.WriteString(w, "data: [DONE]\n\n")
		}))
		c, err := New(Config{BaseURL: srv.URL, API: api.OpenAIChat, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		tl := timeline.New()
		c.Do(context.Background(), &api.Request{Model: "m", Stream: true}, tl)
		c.Close()
		srv.Close()
		if !strings.Contains(string(tl.Unread), "text:delta.***") || !strings.Contains(string(tl.Unread), "finish:no?key?***") {
			t.Errorf("%s: unread %q", key, tl.Unread)
		}
		letters := func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}
		for at, plain := 0, strings.Map(letters, key); at+6 <= len(plain); at++ {
			if shown := strings.Map(letters, fmt.Sprintf("%+v", *tl)); strings.Contains(shown, plain[at:at+6]) {
				t.Errorf("%s: %s is shown in %q", key, plain[at:at+6], tl.Unread)
			}
		}
	}
}

// A key that the cut of a long text halves is hidden, wherever in a reply it stands, and
// whatever the words behind the cut are.
func TestHalvedKeysAreHidden(t *testing.T) {
	const key = "zk-CANARYtok3n0123456789abcdefghijklmnopqrstuvwxyz"
	const html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 400\r\n\r\n"
	for name, c := range map[string]struct {
		reply string // @ is letters and the key
		cuts  int    // at how many letters the text is cut
	}{
		"an error's message": {"HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: 1400\r\n\r\n{\"error\":{\"type\":\"t\",\"code\":\"c\",\"message\":\"@\"}}", 1024},
		"an error's code":    {"HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: 1400\r\n\r\n{\"error\":{\"message\":\"m\",\"code\":\"@\",\"type\":\"t\"}}", 251},
		"a page":             {html + "<p>@", 253},
		"a kind":             {"HTTP/1.1 200 OK\r\nContent-Type: text/@\r\nContent-Length: 400\r\n\r\n<html>", 251},
		"a trailer":          {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Err: @\r\nX-Other: a\r\n\r\n", 1017},
		"the server's name":  {"HTTP/1.1 200 OK\r\nServer: @\r\nContent-Type: application/json\r\nContent-Length: 1400\r\n\r\n{\"system_fingerprint\":\"fp_1\",\"choices\":[{\"message\":{\"content\":\"a\"}}]}", 256},
		"a broken header":    {"HTTP/1.1 200 OK\r\nbad @: x\r\n\r\n", 60},
		"a broken status":    {"HTTP/9 @ OK\r\n\r\n", 57},
		"a coding":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: @\r\n\r\n", 64},
		"a length":           {"HTTP/1.1 200 OK\r\nContent-Length: @\r\n\r\n", 64},
	} {
		halved, last := false, ""
		for pad := c.cuts - len(key) - 2; pad < c.cuts+2; pad++ {
			told := strings.Repeat("x", max(pad, 0)) + key
			reply := strings.Replace(c.reply, "@", told, 1)
			if _, body, _ := strings.Cut(reply, "\r\n\r\n"); strings.Contains(reply, "1400\r\n") {
				reply += strings.Repeat(" ", max(1400-len(body), 0))
			} else if strings.Contains(reply, "400\r\n") {
				reply += strings.Repeat(" ", max(400-len(body), 0))
			}
			var all string
			synctest.Test(t, func(t *testing.T) {
				f := &fake{serve: play("10ms " + reply)}
				tl := send(t.Context(), pipeClient(t, f, func(c *Config) { c.Key = key }))
				all = strings.ToLower(fmt.Sprintf("%+v, %+v", tl.Error, *tl))
			})
			if strings.Contains(all, "canary") {
				t.Errorf("%s, %d letters before: %.300s", name, pad, all)
			}
			last, halved = all, halved || strings.Contains(all, "zk-c") && !strings.Contains(all, "zk-canary")
		}
		if !halved {
			t.Errorf("%s: the cut is elsewhere: %.1500s", name, last)
		}
	}
}
