package scrape

// Triton with its TensorRT-LLM backend: one name, and what it counts in a label.
// Older ones tell blocks of the KV cache, but no fraction.
var triton = table{"triton", `
running         nv_trt_llm_request_metrics request_type=scheduled
waiting         nv_trt_llm_request_metrics request_type=waiting
kv_usage        nv_trt_llm_kv_cache_block_metrics kv_cache_block_type=fraction
kv_blocks_used  nv_trt_llm_kv_cache_block_metrics kv_cache_block_type=used
kv_blocks_all   nv_trt_llm_kv_cache_block_metrics kv_cache_block_type=max
requests        nv_inference_request_success
gpu_utilization nv_gpu_utilization
gpu_memory_used nv_gpu_memory_used_bytes
gpu_memory_all  nv_gpu_memory_total_bytes
gpu_power_w     nv_gpu_power_usage
gpu_energy_j    nv_energy_consumption
`}
