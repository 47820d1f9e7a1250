package engines

// nodeLlamaEngine is node-llama-cpp, llama.cpp below a server of its own.
var nodeLlamaEngine = &engine{
	name: "node-llama-cpp", title: "node-llama-cpp",
	owners: []trait{owner("node-llama-cpp")},
	speaks: []string{"openai-chat", "openai-completions"},
}
