package engines

import "tokenmeter/wire/api"

// tgiEngine is Hugging Face's text-generation-inference.
var tgiEngine = &engine{
	name: "tgi", title: "TGI",
	signs: []trait{
		{path: "/info", sign: api.Sign{"model_id", "max_total_tokens"}},
		{path: "/info", sign: api.Sign{"router=text-generation-router"}},
	},
	speaks:  []string{"openai-chat", "openai-completions", api.TGI.Name},
	version: struct{ path, name string }{"/info", "version"},
	models:  "/info",
}
