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
