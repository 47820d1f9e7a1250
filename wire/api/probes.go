package api

// Probe is a GET request whose answer tells servers apart. None of them makes a
// server compute anything.
type Probe struct {
	Path   string // below the server's root
	Proves string // what an answer of status 200 is good for
}

// Probes are worth asking for in this order: the first is enough for most.
var Probes = []Probe{
	{"/v1/models", "the names of the models; owned_by often names the engine"},
	{"/api/version", "Ollama, and its version"},
	{"/api/tags", "Ollama's models"},
	{"/props", "llama.cpp, and its build"},
	{"/get_server_info", "api.SGLang, and its version"},
	{"/get_model_info", "SGLang's model"},
	{"/info", "text-generation-inference: version and model"},
	{"/version", "the version of vLLM"},
	{"/v2", "api.Triton, and its version"},
}
