package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// One request, and what its timeline says.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}`+"\n\n")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()

	clk := clock.Start()
	c, err := client.New(client.Config{BaseURL: server.URL, API: api.OpenAIChat, Clock: clk,
		Stream: api.StreamOptions{KeepText: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	tl := timeline.New()
	tl.DueUS = clk.US()
	tl.StartUS = tl.DueUS
	c.Do(context.Background(), &api.Request{Model: "any", Stream: true,
		Messages: []api.Message{{Role: "user", Content: "Hi"}}}, tl)
	fmt.Println(tl.Outcome, tl.HTTPStatus, tl.Text, tl.FinishReason)
	// Output: ok 200 Hello stop
}

func ExampleJoinURL() {
	for _, base := range []string{"http://h", "http://h/v1/", "http://h/proxy/x", "http://h/v1/chat/completions"} {
		url, _ := client.JoinURL(base, "/v1/chat/completions")
		fmt.Println(url)
	}
	// Output:
	// http://h/v1/chat/completions
	// http://h/v1/chat/completions
	// http://h/proxy/x/v1/chat/completions
	// http://h/v1/chat/completions
}
