package engines

import "tokenmeter/wire/api"

// tritonEngine is NVIDIA's Triton inference server.
var tritonEngine = &engine{
	name: "triton", title: "Triton",
	signs:   []trait{{path: "/v2", sign: api.Sign{"name=triton*"}}},
	speaks:  []string{api.Triton.Name},
	version: struct{ path, name string }{"/v2", "version"},
}
