package metric_test

import (
	"fmt"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// A stream of three tokens, and what they say.
func ExampleOf() {
	tl := timeline.New()
	tl.Streamed, tl.Outcome = true, timeline.OK
	tl.Events.Append(timeline.Event{AtUS: 5_000, Kind: timeline.Role})
	for i := range int64(3) {
		tl.Events.Append(timeline.Event{AtUS: 214_000 + 20_000*i, Kind: timeline.Text, Bytes: 4, Read: i + 1})
	}
	tl.Usage.Output = timeline.Some(int64(3))

	r := metric.Of(tl)
	fmt.Println("TTFT", r.TTFTMS.Or(0), "ms")
	fmt.Println("TPOT", r.TPOTMS.Or(0), "ms")
	fmt.Println("E2E", r.E2EMS.Or(0), "ms")
	// Output:
	// TTFT 214 ms
	// TPOT 20 ms
	// E2E 254 ms
}

func ExampleLookup() {
	d, _ := metric.Lookup("time between tokens")
	fmt.Println(d.Name, "in", d.Unit)
	_, err := metric.Lookup("tpto")
	fmt.Println(err)
	// Output:
	// itl_ms in ms
	// no metric is called "tpto"; did you mean tpot_ms?
}
