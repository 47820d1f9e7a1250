package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
