package engines

import (
	"encoding/json"
	"net/http"
	"slices"

	"tokenmeter/wire/api"
)

// Answer is what a server said to a probe.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Server is what the answers tell of a server.
type Server struct {
	Engine  string   // vllm, sglang, llama.cpp, ollama, tgi, …; empty: unknown
	Title   string   // the engine as its makers write it: vLLM; empty: unknown
	Version string   // empty: unknown
	Models  []string // as a request names them
	More    bool     // the list of models has further pages: what is not in Models may be there
	APIs    []string // names of the APIs it speaks, the best first; empty: unknown
	By      string   // the probe that told: "/props"; empty: none did
}

// modelLists is where the names of models stand: a list and the name of its
// elements, or a single name.
var modelLists = []struct{ path, list, name string }{
	{"/v1/models", "data", "id"},
	{"/v1/models", "models", "name"}, // Gemini's and Cohere's, by the same path
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
	if e, by := engineOf(answers, bodies); e != nil {
		s = Server{Engine: e.name, Title: e.title, APIs: slices.Clone(e.speaks), By: by}
		if e.version.path != "" {
			s.Version = textAt(bodies[e.version.path], e.version.name)
		}
	}
	_, isList := api.Follow(bodies["/v1/models"], []string{"data"})
	if isList = isList || len(namesIn(bodies["/v1/models"], "data", "id")) > 0; s.Engine == "" && isList {
		s.APIs, s.By = []string{api.OpenAIChat.Name, api.OpenAICompletions.Name}, "/v1/models"
	}
	for _, m := range modelLists {
		if s.Models = namesIn(bodies[m.path], m.list, m.name); len(s.Models) > 0 {
			break
		}
	}
	s.More = hasMore(bodies["/v1/models"])
	return s
}

// MayHave reports whether a model is on the list, or may be on a further page of it.
// Google's lists have models/ before each name, Ollama's a tag behind it: requests need not.
func (s Server) MayHave(model string) bool {
	for _, name := range []string{model, "models/" + model, model + ":latest"} {
		if slices.Contains(s.Models, name) {
			return true
		}
	}
	return s.More
}

// hasMore reads how Anthropic, Google and Cohere say that a list goes on.
func hasMore(list any) bool {
	more, _ := api.Follow(list, []string{"has_more"})
	return more == true || textAt(list, "nextPageToken") != "" || textAt(list, "next_page_token") != ""
}

func textAt(value any, name string) string {
	at, _ := api.Follow(value, []string{name})
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
	elements, bare := value.([]any) // Together's list has no object around it. Source: together-python, resources/models.py
	if !bare {
		at, _ := api.Follow(value, []string{list})
		elements, _ = at.([]any)
	}
	var names []string
	for _, e := range elements {
		s, isName := e.(string)
		if !isName {
			s = textAt(e, name)
		}
		if s != "" {
			names = append(names, s)
		}
	}
	return names
}
