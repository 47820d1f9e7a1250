package translate

import (
	"fmt"
	"strconv"
)

// sglang is SGLang's bench_serving. It has its flags from vLLM's tool, and other defaults.
// Source: python/sglang/bench_serving.py and benchmark/datasets/common.py.
var sglang = &tool{
	shortens: true,
	names:    []string{"python3 -m sglang.bench_serving", "python -m sglang.bench_serving"},
	switches: vllm.switches,
	lists:    vllm.lists,
	flags:    vllm.flags,
	end:      sglangEnd,
}

func sglangEnd(c *call) {
	port := "30000"
	switch c.or("", "backend") {
	case "vllm", "vllm-chat", "trt":
		port = "8000"
	case "lmdeploy", "lmdeploy-chat":
		port = "23333"
	}
	if c.url == "" {
		address(c, c.or("localhost", "host")+":"+c.or(port, "port"))
	}
	c.byDefault("api", "sglang", "backend")
	if !c.has("ignore-eos", "disable-ignore-eos") {
		c.on("ignore-eos")
	}
	c.load()
	c.byDefault("warmup", "1", "warmup-requests")
	switch name := c.or("sharegpt", "dataset-name"); name {
	case "random", "random-ids":
		ratio, _ := strconv.ParseFloat(c.or("0", "random-range-ratio"), 64)
		c.set("input-tokens", upTo(c.or("1024", "random-input-len"), ratio))
		c.set("output-tokens", upTo(c.or("1024", "random-output-len"), ratio))
	default:
		c.dataset(name)
	}
	c.note("an ITL there is a gap between chunks, and E2E ends with [DONE]: report --lens sglang shows them")
}

// upTo is the range of lengths below a length that a ratio opens; 0 opens all of it.
func upTo(length string, ratio float64) string {
	n, err := strconv.Atoi(length)
	if err != nil || ratio >= 1 {
		return length
	}
	return fmt.Sprintf("uniform:%d,%d", max(int(float64(n)*ratio), 1), n)
}
