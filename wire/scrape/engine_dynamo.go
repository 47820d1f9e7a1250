package scrape

// NVIDIA Dynamo, its frontend and the workers behind it. Queued are those without a
// first token. Its prompts' tokens, and those that a cache had, are sums of histograms.
var dynamo = table{"dynamo", `
running         dynamo_frontend_active_requests dynamo_frontend_inflight_requests
waiting         dynamo_frontend_queued_requests
kv_usage        dynamo_component_gpu_cache_usage_percent dynamo_component_kvstats_gpu_cache_usage_percent
prefix_hit_rate dynamo_component_kvstats_gpu_prefix_cache_hit_rate
prompt_tokens   dynamo_frontend_input_sequence_tokens_sum
cached_tokens   dynamo_frontend_cached_tokens_sum
prefix_queries  dynamo_frontend_input_sequence_tokens_sum
prefix_hits     dynamo_frontend_cached_tokens_sum
output_tokens   dynamo_frontend_output_tokens_total
requests        dynamo_frontend_requests_total
ttft            dynamo_frontend_time_to_first_token_seconds
itl             dynamo_frontend_inter_token_latency_seconds
e2e             dynamo_frontend_request_duration_seconds
`}
