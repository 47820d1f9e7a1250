package scrape

// Triton with its TensorRT-LLM backend: one name, and what it counts in a label.
var triton = table{"triton", `
running  nv_trt_llm_request_metrics request_type=scheduled
waiting  nv_trt_llm_request_metrics request_type=waiting
kv_usage nv_trt_llm_kv_cache_block_metrics kv_cache_block_type=fraction
requests nv_inference_request_success
`}
