package sim

import (
	"strconv"

	"tokenmeter/physics/engine"
)

// load is what /metrics tells of the scheduler's present state. The pacing
// goroutine takes it when asked.
func (s *Server) load() (st engine.Stats) {
	if m, ok := s.model.(*scheduled); ok {
		return m.e.Stats()
	}
	st.Running, st.Waiting = s.fixed.running, len(s.fixed.waiting)
	return st
}

// metricsPage answers /metrics in the names of the server it is like.
func (s *Server) metricsPage() []byte {
	state := make(chan engine.Stats, 1)
	s.post(message{look: func() { state <- s.load() }})
	st := <-state
	m := s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.cfg.Like == LikeLlama {
		return m.llama(st)
	}
	return m.vllm(st, s.modelName(), s.cfg.Engine)
}

func (m *metrics) vllm(st engine.Stats, model string, cfg *engine.Config) []byte {
	p := page{labels: `engine="0",model_name=` + string(appendJSONString(nil, model))}
	p.single("gauge", "vllm:num_requests_running", "Number of requests in model execution batches.", float64(st.Running))
	p.single("gauge", "vllm:num_requests_waiting", "Number of requests waiting to be processed.", float64(st.Waiting))
	usage := 0.0
	if st.Blocks > 0 {
		usage = float64(st.BlocksUsed) / float64(st.Blocks)
	}
	p.single("gauge", "vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", usage)
	p.single("counter", "vllm:num_preemptions_total", "Cumulative number of preemptions from the engine.", float64(st.Preemptions))
	p.single("counter", "vllm:prompt_tokens_total", "Number of prefill tokens processed.", float64(m.promptTokens+m.cachedTokens))
	p.single("counter", "vllm:generation_tokens_total", "Number of generation tokens processed.", float64(m.outputTokens))
	p.single("counter", "vllm:prefix_cache_queries_total", "Prefix cache queries, in tokens.", float64(st.CacheAsked))
	p.single("counter", "vllm:prefix_cache_hits_total", "Prefix cache hits, in tokens.", float64(st.CacheHit))
	if cfg != nil && cfg.Speculation != nil {
		p.single("counter", "vllm:spec_decode_num_drafts_total", "Number of spec decoding drafts.", float64(st.Drafts))
		p.single("counter", "vllm:spec_decode_num_draft_tokens_total", "Number of draft tokens.", float64(st.Drafted))
		p.single("counter", "vllm:spec_decode_num_accepted_tokens_total", "Number of accepted tokens.", float64(st.Accepted))
	}
	if cfg != nil && cfg.Blocks > 0 {
		p.head("vllm:cache_config_info", "gauge", "Information of the LLMEngine CacheConfig")
		p.sample("vllm:cache_config_info", `,block_size="`+strconv.Itoa(cfg.BlockSize())+`",num_gpu_blocks="`+strconv.Itoa(cfg.Blocks)+`"`, 1)
	}
	p.head("vllm:request_success_total", "counter", "Count of successfully processed requests.")
	for _, reason := range []string{"stop", "length", "abort", "error"} {
		p.sample("vllm:request_success_total", `,finished_reason="`+reason+`"`, float64(m.finished[reason]))
	}
	p.histogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.", m.ttft)
	p.histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", m.itl)
	p.histogram("vllm:request_time_per_output_token_seconds", "Histogram of time per output token of a request in seconds.", m.tpot)
	p.histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", m.e2e)
	p.histogram("vllm:request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", m.queue)
	p.histogram("vllm:request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", m.prefill)
	p.histogram("vllm:request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", m.decode)
	p.histogram("vllm:request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", m.inference)
	p.histogram("vllm:request_prompt_tokens", "Number of prefill tokens processed.", m.prompts)
	p.histogram("vllm:request_generation_tokens", "Number of generation tokens processed.", m.outputs)
	return p.b
}

func (m *metrics) llama(st engine.Stats) []byte {
	var p page
	rate := func(n uint64, s float64) float64 {
		if s == 0 {
			return 0
		}
		return float64(n) / s
	}
	p.single("counter", "llamacpp:prompt_tokens_total", "Number of prompt tokens processed, excluding cached tokens", float64(m.promptTokens))
	p.single("counter", "llamacpp:prompt_tokens_cached_total", "Number of prompt tokens reused from the cache", float64(m.cachedTokens))
	p.single("counter", "llamacpp:prompt_seconds_total", "Total time spent processing prompts", m.promptSeconds)
	p.single("counter", "llamacpp:tokens_predicted_total", "Number of generation tokens processed", float64(m.outputTokens))
	p.single("counter", "llamacpp:tokens_predicted_seconds_total", "Total time spent generating tokens", m.decodeSeconds)
	p.single("counter", "llamacpp:n_decode_total", "Total number of llama_decode() calls", float64(st.Steps))
	p.single("counter", "llamacpp:n_tokens_max", "Largest observed sequence length (prompt + generation)", float64(m.longest))
	p.single("gauge", "llamacpp:prompt_tokens_seconds", "Average prompt throughput in tokens/s", rate(m.promptTokens, m.promptSeconds))
	p.single("gauge", "llamacpp:predicted_tokens_seconds", "Average generation throughput in tokens/s", rate(m.outputTokens, m.decodeSeconds))
	p.single("gauge", "llamacpp:requests_processing", "Number of requests processing", float64(st.Running))
	p.single("gauge", "llamacpp:requests_deferred", "Number of requests deferred", float64(st.Waiting))
	busy := 0.0
	if st.Steps > 0 {
		busy = float64(st.Sequences) / float64(st.Steps)
	}
	p.single("gauge", "llamacpp:n_busy_slots_per_decode", "Average number of busy slots per llama_decode() call", busy)
	return p.b
}
