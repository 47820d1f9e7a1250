package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

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
	{"/get_server_info", "SGLang, and its version"},
	{"/get_model_info", "SGLang's model"},
	{"/info", "text-generation-inference: version and model"},
	{"/version", "the version of vLLM"},
	{"/v2", "Triton, and its version"},
}

// Answer is what a server said to a probe.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Server is what the answers tell of a server.
type Server struct {
	Engine  string   // vllm, sglang, llama.cpp, ollama, tgi, …; empty: unknown
	Version string   // empty: unknown
	Models  []string // as a request names them
	APIs    []string // names of the APIs it speaks, the best first; empty: unknown
	By      string   // the probe that told: "/props"; empty: none did
}

// trait is a sign of an engine in the answer to a probe.
type trait struct {
	path   string
	sign   Sign   // conditions on the answer's JSON
	text   string // or the start of its body
	header string // or its Server header
	engine string
}

// traits are tried in order; the first that holds names the engine. What only
// one engine has comes before what others imitate.
var traits = []trait{
	{path: "/api/version", sign: Sign{"version"}, engine: "ollama"},
	{path: "/api/tags", sign: Sign{"models/digest"}, engine: "ollama"},
	{path: "/", text: "Ollama is running", engine: "ollama"},
	{path: "/props", sign: Sign{"default_generation_settings"}, engine: "llama.cpp"},
	{path: "/v1/models", header: "llama.cpp", engine: "llama.cpp"},
	{path: "/get_server_info", sign: Sign{"model_path"}, engine: "sglang"},
	{path: "/get_server_info", sign: Sign{"internal_states"}, engine: "sglang"},
	{path: "/get_model_info", sign: Sign{"model_path"}, engine: "sglang"},
	{path: "/info", sign: Sign{"model_id", "max_total_tokens"}, engine: "tgi"},
	{path: "/info", sign: Sign{"router=text-generation-router"}, engine: "tgi"},
	{path: "/v2", sign: Sign{"name=triton*"}, engine: "triton"},
	{path: "/v1/models", sign: Sign{"data/owned_by=vllm"}, engine: "vllm"},
	{path: "/v1/models", sign: Sign{"data/owned_by=sglang"}, engine: "sglang"},
	{path: "/v1/models", sign: Sign{"data/owned_by=llamacpp"}, engine: "llama.cpp"},
	{path: "/v1/models", sign: Sign{"data/owned_by=library"}, engine: "ollama"},
	{path: "/v1/models", sign: Sign{"data/owned_by=lmdeploy"}, engine: "lmdeploy"},
	{path: "/v1/models", sign: Sign{"data/owned_by=tensorrt_llm"}, engine: "tensorrt-llm"},
	{path: "/v1/models", sign: Sign{"data/owned_by=node-llama-cpp"}, engine: "node-llama-cpp"},
	{path: "/v1/models", sign: Sign{"data/type=model", "has_more"}, engine: "anthropic"},
}

// spoken are the APIs of an engine, the best first.
var spoken = map[string][]string{
	"vllm":           {"openai-chat", "openai-completions", "openai-responses", "anthropic"},
	"sglang":         {"openai-chat", "openai-completions", "sglang"},
	"llama.cpp":      {"openai-chat", "openai-completions", "openai-responses", "anthropic", "llamacpp"},
	"ollama":         {"ollama-chat", "ollama-generate", "openai-chat", "openai-completions", "openai-responses", "anthropic"},
	"tgi":            {"openai-chat", "openai-completions", "tgi"},
	"triton":         {"triton"},
	"lmdeploy":       {"openai-chat", "openai-completions"},
	"tensorrt-llm":   {"openai-chat", "openai-completions"},
	"node-llama-cpp": {"openai-chat", "openai-completions"},
	"anthropic":      {"anthropic"},
}

// versions is where the engines tell their version.
var versions = map[string]struct{ path, name string }{
	"ollama":    {"/api/version", "version"},
	"llama.cpp": {"/props", "build_info"},
	"sglang":    {"/get_server_info", "version"},
	"tgi":       {"/info", "version"},
	"vllm":      {"/version", "version"},
	"triton":    {"/v2", "version"},
}

// modelLists is where the names of models stand: a list and the name of its
// elements, or a single name.
var modelLists = []struct{ path, list, name string }{
	{"/v1/models", "data", "id"},
	{"/api/tags", "models", "name"},
	{"/info", "", "model_id"},
	{"/get_model_info", "", "model_path"},
}

// Sniff tells what server gave these answers, by probe path. It asks nothing
// itself; answers that are missing or not 200 only leave more unknown.
func Sniff(answers map[string]Answer) Server {
	bodies := make(map[string]any)
	for path, a := range answers {
		var v any
		if a.Status == http.StatusOK && json.Unmarshal(a.Body, &v) == nil {
			bodies[path] = v
		}
	}
	var s Server
	for _, t := range traits {
		if t.holds(answers[t.path], bodies[t.path]) {
			s.Engine, s.By = t.engine, t.path
			break
		}
	}
	s.APIs = slices.Clone(spoken[s.Engine])
	if _, isList := follow(bodies["/v1/models"], []string{"data"}); s.Engine == "" && isList {
		s.APIs, s.By = []string{OpenAIChat.Name, OpenAICompletions.Name}, "/v1/models"
	}
	if v := versions[s.Engine]; v.path != "" {
		s.Version = textAt(bodies[v.path], v.name)
	}
	for _, m := range modelLists {
		if s.Models = namesIn(bodies[m.path], m.list, m.name); len(s.Models) > 0 {
			break
		}
	}
	return s
}

func (t *trait) holds(a Answer, body any) bool {
	switch {
	case t.header != "":
		return a.Header.Get("Server") == t.header
	case a.Status != http.StatusOK:
		return false
	case t.text != "":
		return strings.HasPrefix(strings.TrimSpace(string(a.Body)), t.text)
	}
	return body != nil && t.sign.holds(body)
}

func textAt(value any, name string) string {
	at, _ := follow(value, []string{name})
	s, _ := at.(string)
	return s
}

func namesIn(value any, list, name string) []string {
	if list == "" {
		if s := textAt(value, name); s != "" {
			return []string{s}
		}
		return nil
	}
	at, _ := follow(value, []string{list})
	elements, _ := at.([]any)
	var names []string
	for _, e := range elements {
		if s := textAt(e, name); s != "" {
			names = append(names, s)
		}
	}
	return names
}
