package scrape

// SGLang, started with --enable-metrics.
var sglang = table{"sglang", `
running            sglang:num_running_reqs
waiting            sglang:num_queue_reqs
kv_usage           sglang:token_usage
prefix_hit_rate    sglang:cache_hit_rate
spec_accept_rate   sglang:spec_accept_rate
spec_accept_length sglang:spec_accept_length
prompt_tokens      sglang:prompt_tokens_total
cached_tokens      sglang:cached_tokens_total
prefix_queries     sglang:prompt_tokens_total
prefix_hits        sglang:cached_tokens_total
output_tokens      sglang:generation_tokens_total
preemptions        sglang:num_retracted_requests_total
requests           sglang:num_requests_total
ttft               sglang:time_to_first_token_seconds
itl                sglang:inter_token_latency_seconds sglang:time_per_output_token_seconds
e2e                sglang:e2e_request_latency_seconds
queue              sglang:queue_time_seconds
`}
