package scrape

// vLLM: engine v1, and before it v0 with older names, some of which were renamed by
// vllm-project/vllm#18354 (kv_cache_usage_perc) and #24110 (inter_token_latency).
var vllm = table{"vllm", `
running              vllm:num_requests_running
waiting              vllm:num_requests_waiting
swapped              vllm:num_requests_swapped
kv_usage             vllm:kv_cache_usage_perc vllm:gpu_cache_usage_perc
prefix_hit_rate      vllm:gpu_prefix_cache_hit_rate
spec_accept_rate     vllm:spec_decode_draft_acceptance_rate
prompt_tokens        vllm:prompt_tokens_total
cached_tokens        vllm:prompt_tokens_cached_total
output_tokens        vllm:generation_tokens_total
prefix_queries       vllm:prefix_cache_queries_total vllm:gpu_prefix_cache_queries_total
prefix_hits          vllm:prefix_cache_hits_total vllm:gpu_prefix_cache_hits_total
preemptions          vllm:num_preemptions_total
requests             vllm:request_success_total
spec_drafts          vllm:spec_decode_num_drafts_total
spec_draft_tokens    vllm:spec_decode_num_draft_tokens_total
spec_accepted_tokens vllm:spec_decode_num_accepted_tokens_total
ttft                 vllm:time_to_first_token_seconds
itl                  vllm:inter_token_latency_seconds vllm:time_per_output_token_seconds
tpot                 vllm:request_time_per_output_token_seconds
e2e                  vllm:e2e_request_latency_seconds
queue                vllm:request_queue_time_seconds vllm:time_in_queue_requests
prefill              vllm:request_prefill_time_seconds
decode               vllm:request_decode_time_seconds
`}
