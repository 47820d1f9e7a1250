package engines

// vllmEngine is vLLM.
var vllmEngine = &engine{
	name: "vllm", title: "vLLM",
	owners:  []trait{owner("vllm"), {path: "/v1/models", header: "vllm"}},
	speaks:  []string{"openai-chat", "openai-completions", "openai-responses", "anthropic"},
	version: struct{ path, name string }{"/version", "version"},
	control: Control{
		Resets:     []string{"/reset_prefix_cache", "/reset_mm_cache", "/reset_encoder_cache"},
		ResetGuard: "vLLM serves it only when it was started with VLLM_SERVER_DEV_MODE=1",
		Start:      "/start_profile", Stop: "/stop_profile",
		ProfileGuard: "vLLM serves it only when it was started with a profiler: a profiler-config since 0.13, VLLM_TORCH_PROFILER_DIR before",
	},
}
