package capture_test

import (
	"fmt"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/wire/capture"
)

func ExampleAnalyze() {
	file := strings.NewReader(`{"capture":"tokenmeter/v1","status":200,"head_ms":5,"headers":{"content-type":"text/event-stream"},"request":null}
{"t_ms":214,"data":"data: {\"choices\":[{\"delta\":{\"content\":\"A\"}}]}\n\n"}
{"t_ms":234,"data":"data: {\"choices\":[{\"delta\":{\"content\":\"B\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}
{"t_ms":235,"end":"eof"}
`)
	tl, err := capture.Analyze(file, capture.Options{Name: "x.capture.jsonl"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := metric.Of(tl)
	fmt.Println(r.API, r.Outcome, r.TTFTMS.Or(0), r.TPOTMS.Or(0))
	// Output: openai-chat ok 214 20
}
