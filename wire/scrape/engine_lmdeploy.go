package scrape

// LMDeploy, which took over vLLM's names.
var lmdeploy = table{"lmdeploy", `
running         lmdeploy:num_requests_running
waiting         lmdeploy:num_requests_waiting
kv_usage        lmdeploy:gpu_cache_usage_perc
prefix_hit_rate lmdeploy:prefix_cache_hit_rate
prompt_tokens   lmdeploy:prompt_tokens_total
cached_tokens   lmdeploy:cached_tokens_total
output_tokens   lmdeploy:generation_tokens_total
requests        lmdeploy:request_success_total
ttft            lmdeploy:time_to_first_token_seconds
itl             lmdeploy:iter_token_latency
tpot            lmdeploy:time_per_output_token_seconds
e2e             lmdeploy:e2e_request_latency_seconds
queue           lmdeploy:request_queue_time_seconds
prefill         lmdeploy:request_prefill_time_seconds
decode          lmdeploy:request_decode_time_seconds
`}
