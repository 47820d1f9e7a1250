//go:build linux

package main

import "path"

// sources are differences that a record of arrivals cannot know, each with the
// place in the tool's source.
var sources = []struct{ lens, shape, figure, because string }{
	{"vllm", "reasoning_content", "*", "vllm/benchmarks/lib/endpoint_request_func.py:396: it reads `reasoning` alone. A record does not say which name it had."},
	{"vllm*", "*", "total_token_throughput", "vllm/benchmarks/serve.py:649: without usage it counts the prompt by its tokenizer. A record has no count then."},
	{"vllm*", "*", "max_output_tokens_per_s", "vllm/benchmarks/serve.py:742: whole seconds from the first send; a token at an edge falls on either side."},
	{"aiperf", "*", "total_token_throughput", inputs},
	{"aiperf", "*", "prefill_throughput_per_user *", inputs},
	{"llmeter", "*", "average_output_tokens_per_minute", "llmeter/tokenizers.py:88: without usage it splits the text at spaces. A record has no words."},
	{"inference-perf", "many tokens", "latency.inter_token_latency.*", "inference_perf/reportgen/base.py:588-622: it tokenises each chunk again. A record has the text's tokens in sum, not those of each chunk."},
	{"genai-bench", "*", "requests_per_second", seconds},
	{"genai-bench", "*", "mean_*_per_s", seconds},
	{"genai-bench", "*", "input_throughput.*", "genai_bench/user/openai_user.py:571-584: without usage it counts the prompt by its tokenizer. A record has no count then."},
}

const seconds = "genai_bench/cli/utils.py:40-46: once a second it looks whether its run is over; a record ends with the last answer."

const inputs = "aiperf/records/inference_result_parser.py:452-457: it tokenises prompts itself. Without usage a record has no such length."

func because(lens, shape, figure string) string {
	for _, r := range sources {
		l, _ := path.Match(r.lens, lens)
		s, _ := path.Match(r.shape, shape)
		f, _ := path.Match(r.figure, figure)
		if l && s && f {
			return r.because
		}
	}
	return ""
}
