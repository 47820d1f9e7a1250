package engines

import "tokenmeter/wire/api"

// llamaEngine is llama.cpp's server.
var llamaEngine = &engine{
	name: "llama.cpp", title: "llama.cpp",
	signs: []trait{
		{path: "/props", sign: api.Sign{"default_generation_settings"}},
		{path: "/v1/models", header: "llama.cpp"},
	},
	owners:  []trait{owner("llamacpp")},
	speaks:  []string{"openai-chat", "openai-completions", "openai-responses", "anthropic", api.LlamaCpp.Name},
	version: struct{ path, name string }{"/props", "build_info"},
}
