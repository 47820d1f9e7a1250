package published

import "tokenmeter/physics/sim"

// Misconceptions are said often and are not so.
var Misconceptions = []Claim{
	{
		Name: "gpus_add_up", Said: "Twice the GPUs, twice the speed.",
		True: "The weights are shared out, the launches, the sampling and two sums over all GPUs in each layer are not: each doubling brings less.",
		Shows: []Show{
			{"llama-3.1-70b/h100x2-fp8", sim.Scheduling{}, []int{1}, 1000, 300},
			{"llama-3.1-70b/h100x2-fp8", sim.Scheduling{TensorParallel: 4}, []int{1}, 1000, 300},
			{"llama-3.1-70b/h100x2-fp8", sim.Scheduling{TensorParallel: 8}, []int{1}, 1000, 300},
		},
		Holds: []Ratio{
			{Says: "tokens/s of a stream, four GPUs against two", Figure: "decode_tps", Row: 1, To: 0, Min: 1.1, Max: 1.8},
			{Says: "eight against four", Figure: "decode_tps", Row: 2, To: 1, Min: 1.05, Max: 1.6},
		},
	},
	{
		Name: "one_speed", Said: "A model has one speed.",
		True: "Each token reads the cache of all tokens before it, so one answer gets slower from its first token to its last; how much depends on the cache's share of the bytes read.",
		Shows: []Show{
			{"llama-3.1-8b/h100", sim.Scheduling{}, []int{1}, 100, 50000},
			{"llama-3.1-8b/h100", sim.Scheduling{}, []int{1}, 100, 500},
		},
		Holds: []Ratio{
			{Says: "tokens/s of 50,000 tokens, at the end against the start", Figure: "late_tps", Over: "early_tps", Row: 0, To: 0, Min: 0.4, Max: 0.9},
			{Says: "of 500 tokens", Figure: "late_tps", Over: "early_tps", Row: 1, To: 1, Min: 0.97, Max: 1},
		},
	},
	{
		Name: "tps_is_tps", Said: "A server with more tokens per second is faster for its users.",
		True: "The rate of the server adds up its streams. A fuller batch raises it and slows every one of them.",
		Shows: []Show{
			{"llama-3.1-8b/h100", sim.Scheduling{}, []int{1, 64, 256}, 1000, 300},
		},
		Holds: []Ratio{
			{Says: "tokens/s of all, 256 streams against 1", Figure: "system_output_tps", Row: 2, To: 0, Min: 20, Max: 100},
			{Says: "tokens/s of one of them", Figure: "decode_tps", Row: 2, To: 0, Min: 0.05, Max: 0.4},
			{Says: "TTFT", Figure: "ttft_ms", Row: 2, To: 0, Min: 2, Max: unbounded},
		},
	},
	{
		Name: "arithmetic", Said: "Three times the arithmetic, three times the tokens.",
		True: "A stream alone waits for the memory. An H100 has 3.2 times the arithmetic of an A100 and 1.6 times its bandwidth; an H200 has an H100's arithmetic and 1.4 times its bandwidth. The prompt is arithmetic: TTFT follows that.",
		Shows: []Show{
			{"llama-3.1-8b/a100-80", sim.Scheduling{}, []int{1}, 4000, 300},
			{"llama-3.1-8b/h100", sim.Scheduling{}, []int{1}, 4000, 300},
			{"llama-3.1-8b/h200", sim.Scheduling{}, []int{1}, 4000, 300},
		},
		Holds: []Ratio{
			{Says: "tokens/s of a stream, H100 against A100", Figure: "decode_tps", Row: 1, To: 0, Min: 1.3, Max: 1.7},
			{Says: "H200 against H100", Figure: "decode_tps", Row: 2, To: 1, Min: 1.2, Max: 1.45},
			{Says: "TTFT, A100 against H100", Figure: "ttft_ms", Row: 0, To: 1, Min: 2.5, Max: 3.2},
		},
	},
	{
		Name: "four_bits", Said: "Weights of four bits make it four times as fast.",
		True: "They quarter the bytes of the weights, so a stream alone gains most of that; what is not weights stays. A full batch waits for the arithmetic, which is done in 16 bits as before, and gains nothing. Eight bits with units for them gain in both.",
		Shows: []Show{
			{"llama-3.1-8b/h100", sim.Scheduling{}, []int{1, 256}, 1000, 300},
			{"llama-3.1-8b/h100", sim.Scheduling{Quantization: "int4"}, []int{1, 256}, 1000, 300},
			{"llama-3.1-8b/h100", sim.Scheduling{Quantization: "fp8"}, []int{1, 256}, 1000, 300},
		},
		Holds: []Ratio{
			{Says: "tokens/s of a stream alone, four bits against 16", Figure: "decode_tps", Row: 2, To: 0, Min: 2, Max: 3.5},
			{Says: "of 256 streams, four bits", Figure: "decode_tps", Row: 3, To: 1, Min: 0.95, Max: 1.15},
			{Says: "of 256 streams, eight bits", Figure: "decode_tps", Row: 5, To: 1, Min: 1.5, Max: 2.1},
		},
	},
}

// Techniques are ways to serve, and what each does.
var Techniques = []Claim{
	{
		Name: "speculation", Said: "A small model drafts, the large one checks.",
		True: "With one stream TPOT halves or better. With a full batch the checking costs what it saves.",
		Shows: []Show{
			{"llama-3.1-70b/h100x4", sim.Scheduling{}, []int{1, 128}, 1000, 300},
			{"llama-3.1-70b/h100x4", sim.Scheduling{Speculate: 4, Draft: "llama-3.2-1b"}, []int{1, 128}, 1000, 300},
		},
		Holds: []Ratio{
			{Says: "TPOT of one stream, with a draft against without", Figure: "tpot_ms", Row: 2, To: 0, Min: 0.35, Max: 0.55},
			{Says: "of 128 streams", Figure: "tpot_ms", Row: 3, To: 1, Min: 0.85, Max: 1.2},
		},
	},
	{
		Name: "static_batching", Said: "A batch is filled and run to its end.",
		True: "Who is done early keeps an empty place, and who comes waits for the slowest: less throughput and longer TTFT than where each step takes whom it has room for.",
		Shows: []Show{
			{"llama-3.1-8b/h100", sim.Scheduling{MaxSequences: 32}, []int{64}, 200, 300},
			{"llama-3.1-8b/h100", sim.Scheduling{Batching: "static", MaxSequences: 32}, []int{64}, 200, 300},
		},
		Holds: []Ratio{
			{Says: "tokens/s of all, static against continuous", Figure: "system_output_tps", Row: 1, To: 0, Min: 0.6, Max: 0.9},
			{Says: "TTFT", Figure: "ttft_ms", Row: 1, To: 0, Min: 1.2, Max: 3},
		},
	},
	{
		Name: "split", Said: "Prompts and answers on GPUs of their own.",
		True: "Long prompts no longer hold up the tokens of others; they queue for the half of the GPUs that works on them. (Both sides have two GPUs here.)",
		Shows: []Show{
			{"llama-3.1-8b/h100", sim.Scheduling{TensorParallel: 2}, []int{32}, 8000, 300},
			{"llama-3.1-8b/h100", sim.Scheduling{Split: "1:1"}, []int{32}, 8000, 300},
		},
		Holds: []Ratio{
			{Says: "TPOT, apart against together", Figure: "tpot_ms", Row: 1, To: 0, Min: 0.4, Max: 0.95},
			{Says: "TTFT", Figure: "ttft_ms", Row: 1, To: 0, Min: 2, Max: unbounded},
		},
	},
	{
		Name: "beams", Said: "A beam search keeps several answers and delivers the best.",
		True: "The width multiplies the batch: little for one request, all of it for many. Nothing comes before the end, so TTFT is E2E.",
		Shows: []Show{
			{"llama-3.1-8b/h100", sim.Scheduling{}, []int{1, 64}, 1000, 300},
			{"llama-3.1-8b/h100", sim.Scheduling{BeamWidth: 4}, []int{1, 64}, 1000, 300},
		},
		Holds: []Ratio{
			{Says: "tokens/s of one request, four beams against none", Figure: "system_output_tps", Row: 2, To: 0, Min: 0.9, Max: 1},
			{Says: "of 64 requests", Figure: "system_output_tps", Row: 3, To: 1, Min: 0.3, Max: 0.8},
			{Says: "TTFT of one request", Figure: "ttft_ms", Row: 2, To: 0, Min: 20, Max: unbounded},
		},
	},
}
