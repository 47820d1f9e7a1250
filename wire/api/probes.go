package api

// Probes are the paths below a server's root whose answers to GETs tell servers apart,
// worth asking for in this order: the first is enough for most. None of them makes a
// server compute anything.
var Probes = []string{
	"/v1/models",       // the names of the models; owned_by often names the engine
	"/api/version",     // Ollama, and its version
	"/api/tags",        // Ollama's models
	"/props",           // llama.cpp, and its build
	"/get_server_info", // SGLang, and its version
	"/get_model_info",  // SGLang's model
	"/info",            // text-generation-inference: version and model
	"/version",         // the version of vLLM
	"/v2",              // Triton, and its version
}
