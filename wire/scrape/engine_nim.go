package scrape

// NVIDIA NIM for LLMs: vLLM's names without a prefix. Newer ones may show vLLM's own.
var nim = table{"nim", `
running       num_requests_running
waiting       num_requests_waiting
kv_usage      gpu_cache_usage_perc
prompt_tokens prompt_tokens_total
output_tokens generation_tokens_total
requests      request_success_total request_finish_total
ttft          time_to_first_token_seconds
itl           time_per_output_token_seconds
e2e           e2e_request_latency_seconds
`}
