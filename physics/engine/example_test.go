package engine_test

import (
	"fmt"
	"slices"
	"time"

	"tokenmeter/physics/engine"
)

// What would ten users see who ask a Llama 3.1 8B on one H100 at once?
func Example() {
	law, err := engine.Deployment{Model: "llama-3.1-8b", Accelerator: "h100"}.Law()
	if err != nil {
		fmt.Println(err)
		return
	}
	var requests []*engine.Request
	for range 10 {
		requests = append(requests, &engine.Request{PromptTokens: 1000, OutputTokens: 200})
	}
	e, err := engine.New(engine.Config{Law: law, MaxSequences: 256, MaxBatchTokens: 8192}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := e.Run(slices.Values(requests)); err != nil {
		fmt.Println(err)
		return
	}
	r := requests[0]
	fmt.Println("TTFT", r.TTFT().Round(time.Millisecond), "TPOT", r.TPOT().Round(100*time.Microsecond))
	// Output: TTFT 198ms TPOT 8.1ms
}

// A law can be anything that says how long a step takes.
func ExampleLawFunc() {
	law := engine.LawFunc(func(b *engine.Batch) time.Duration {
		return time.Duration(5+b.Decode) * time.Millisecond
	})
	fmt.Println(law.Step(&engine.Batch{Decode: 3}))
	// Output: 8ms
}
