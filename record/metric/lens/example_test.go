package lens_test

import (
	"fmt"
	"slices"

	"tokenmeter/record/metric/lens"
	"tokenmeter/record/timeline"
)

// A role chunk after 9 ms, the first token after 50: one tool counts the role
// chunk as first token.
func ExampleApply() {
	tl := timeline.New()
	tl.Streamed, tl.HTTPStatus, tl.Outcome = true, 200, timeline.OK
	tl.Events.Append(timeline.Event{AtUS: 9_000, Kind: timeline.Role})
	tl.Events.Append(timeline.Event{AtUS: 50_000, Kind: timeline.Text, Read: 1})
	tl.Usage.Output = timeline.Some(int64(1))

	tables, err := lens.Apply([]string{"vllm-rust", "sglang"}, slices.Values([]*timeline.Timeline{tl}), lens.Facts{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, table := range tables {
		for _, row := range table.Rows {
			if row.Name == "mean_ttft_ms" {
				fmt.Println(table.Tool, row.Name, row.Value.Or(0))
			}
		}
	}
	// Output:
	// vllm bench serve (Rust) mean_ttft_ms 9
	// sglang.bench_serving mean_ttft_ms 50
}
