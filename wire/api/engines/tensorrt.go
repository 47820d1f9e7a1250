package engines

// tensorRTEngine is TensorRT-LLM's own server, trtllm-serve.
var tensorRTEngine = &engine{
	name: "tensorrt-llm", title: "TensorRT-LLM",
	owners: []trait{owner("tensorrt_llm")},
	speaks: []string{"openai-chat", "openai-completions"},
}
