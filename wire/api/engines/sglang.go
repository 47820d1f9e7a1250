package engines

import "tokenmeter/wire/api"

// sglangEngine is SGLang.
var sglangEngine = &engine{
	name: "sglang", title: "SGLang",
	signs: []trait{
		{path: "/get_server_info", sign: api.Sign{"model_path"}},
		{path: "/get_server_info", sign: api.Sign{"internal_states"}},
		{path: "/get_model_info", sign: api.Sign{"model_path"}},
	},
	owners:  []trait{owner("sglang"), {path: "/v1/models", header: "sglang"}},
	speaks:  []string{"openai-chat", "openai-completions", api.SGLang.Name},
	version: struct{ path, name string }{"/get_server_info", "version"},
	models:  "/get_model_info",
	control: Control{
		Resets: []string{"/flush_cache"},
		Start:  "/start_profile", Stop: "/stop_profile",
		ProfileGuard: "SGLang writes traces where SGLANG_TORCH_PROFILER_DIR says",
	},
}
