package scrape

// TensorRT-LLM, as trtllm-serve tells it, and as Dynamo passes it on (trtllm: for trtllm_).
var trtllm = table{"trtllm", `
running              trtllm_num_requests_running
waiting              trtllm_num_requests_waiting
kv_usage             trtllm_kv_cache_utilization
prefix_hit_rate      trtllm_kv_cache_hit_rate
prompt_tokens        trtllm_prompt_tokens_total
cached_tokens        trtllm_prompt_cached_tokens_total
output_tokens        trtllm_generation_tokens_total
requests             trtllm_request_success_total
ttft                 trtllm_time_to_first_token_seconds
tpot                 trtllm_time_per_output_token_seconds
e2e                  trtllm_e2e_request_latency_seconds
queue                trtllm_request_queue_time_seconds
prefill              trtllm_request_prefill_time_seconds
decode               trtllm_request_decode_time_seconds
spec_draft_tokens    trtllm_spec_decode_num_draft_tokens_total trtllm_spec_decode_drafted_tokens_total
spec_accepted_tokens trtllm_spec_decode_num_accepted_tokens_total trtllm_spec_decode_accepted_tokens_total
spec_accept_length   trtllm_spec_decode_acceptance_length
`}
