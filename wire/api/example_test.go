package api_test

import (
	"fmt"
	"net/http"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// A stream turns the bytes of a reply and their times into a timeline.
func ExampleStream() {
	tl := timeline.New()
	s := api.NewStream(tl, api.OpenAIChat, api.StreamOptions{KeepText: true})
	s.Head(5_000, api.Head{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}})
	s.Read(214_000, 0, []byte(`data: {"choices":[{"delta":{"content":"Hel"}}]}`+"\n\n"))
	s.Read(234_000, 0, []byte(`data: {"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n"))
	s.End(235_000, timeline.EOF, nil, nil)
	fmt.Println(tl.Outcome, tl.Text)
	for ev := range tl.Events.All() {
		fmt.Println(ev.AtUS, ev.Kind)
	}
	// Output:
	// ok Hello
	// 214000 text
	// 234000 text
	// 234000 done
}
