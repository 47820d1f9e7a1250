package engines

import "tokenmeter/wire/api"

// ollamaEngine is Ollama, whose models have "library" as their owner.
var ollamaEngine = &engine{
	name: "ollama", title: "Ollama",
	signs: []trait{
		{path: "/api/version", sign: api.Sign{"version"}, alone: true}, // Open WebUI's has a deployment_id
		{path: "/api/tags", sign: api.Sign{"models/digest"}},
		{path: "/", text: "Ollama is running"},
	},
	owners:  []trait{owner("library"), owner("ollama"), {path: "/v1/models", header: "ollama"}},
	speaks:  []string{api.OllamaChat.Name, api.OllamaGenerate.Name, "openai-chat", "openai-completions", "openai-responses", "anthropic"},
	version: struct{ path, name string }{"/api/version", "version"},
	models:  "/api/tags",
}
