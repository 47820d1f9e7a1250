package engines

// vllmEngine is vLLM.
var vllmEngine = &engine{
	name: "vllm", title: "vLLM",
	owners:  []trait{owner("vllm"), {path: "/v1/models", header: "vllm"}},
	speaks:  []string{"openai-chat", "openai-completions", "openai-responses", "anthropic"},
	version: struct{ path, name string }{"/version", "version"},
}
