package scrape

// llama.cpp, started with --metrics. It has no histograms; its replies tell the times
// of each request. Its prompt tokens are those that no cache had.
var llamacpp = table{"llamacpp", `
running              llamacpp:requests_processing
waiting              llamacpp:requests_deferred
kv_usage             llamacpp:kv_cache_usage_ratio
prompt_tokens        llamacpp:prompt_tokens_total
cached_tokens        llamacpp:prompt_tokens_cached_total
prefix_queries       llamacpp:prompt_tokens_total
prefix_queries       llamacpp:prompt_tokens_cached_total
prefix_hits          llamacpp:prompt_tokens_cached_total
output_tokens        llamacpp:tokens_predicted_total
prompt_s             llamacpp:prompt_seconds_total
decode_s             llamacpp:tokens_predicted_seconds_total
spec_drafts          llamacpp:spec_decode_num_drafts_total
spec_draft_tokens    llamacpp:spec_decode_num_draft_tokens_total
spec_accepted_tokens llamacpp:spec_decode_num_accepted_tokens_total
`}
