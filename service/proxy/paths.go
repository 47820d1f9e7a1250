package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tokenmeter/wire/api"
)

// pathRule is a path that is let through, with its methods.
type pathRule struct {
	methods []string // nil: see allows
	any     bool     // every method
	pattern string
}

// reading are the methods that change nothing.
var reading = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

// socketMethod stands among methods for a GET that asks to become a WebSocket.
const socketMethod = "WEBSOCKET"

// parsePath reads PATH, METHOD PATH, METHOD,METHOD PATH or * PATH.
func parsePath(text string) (pathRule, error) {
	r := pathRule{pattern: text}
	if methods, path, ok := strings.Cut(text, " "); ok {
		r.pattern = strings.TrimSpace(path)
		if r.any = methods == "*"; !r.any {
			r.methods = strings.Split(methods, ",")
		}
		for _, m := range r.methods {
			if !token(m) || strings.ToUpper(m) != m {
				return r, fmt.Errorf("%q is no list of methods: write GET or GET,POST before the path, WEBSOCKET for WebSockets, or * for all", methods)
			}
		}
	}
	operation := strings.HasPrefix(r.pattern, "*:") // models/NAME:generateContent
	if !strings.HasPrefix(strings.TrimPrefix(r.pattern, "*"), "/") && !operation {
		return r, fmt.Errorf("%q is no path: it begins with /, or with a * before its first slash or colon", r.pattern)
	}
	return r, nil
}

// CheckPath says what is wrong with a path of a route; nil: nothing.
func CheckPath(text string) error {
	_, err := parsePath(text)
	return err
}

// allows reports whether a path that fits may be asked for by this method. With
// GET come HEAD and OPTIONS, with any other OPTIONS. Where no methods were given
// they are GET and POST, and GET only where POST would write what stays. Where GET goes,
// a WebSocket does.
func (r *pathRule) allows(method, path string) bool {
	allowed := r.allowed(path)
	return r.any || slices.Contains(allowed, method) || method == socketMethod && slices.Contains(allowed, http.MethodGet)
}

func (r *pathRule) allowed(path string) []string {
	switch {
	case r.methods == nil && keepsThings(path):
		return reading
	case r.methods == nil:
		return append(slices.Clone(reading), http.MethodPost)
	case strings.HasPrefix(r.pattern, "*") && (slices.Contains(r.methods, http.MethodPost) || slices.Contains(r.methods, socketMethod)) && queued(path) && !queued(r.pattern):
		return nil // */chat/completions means any prefix, but not a job in place of the answer
	case slices.Contains(r.methods, http.MethodGet):
		return append(slices.Clone(r.methods), http.MethodHead, http.MethodOptions)
	}
	return append(slices.Clone(r.methods), http.MethodOptions)
}

// keepsThings reports whether a path is among those under which servers keep
// models, files and jobs of whoever has the key: a POST there makes something that
// stays, or begins what is paid for after the request has ended.
func keepsThings(path string) bool {
	last, before := "", ""
	for _, name := range segments(path) {
		switch {
		case pathWords[name]&keeps != 0, isQueue(name):
			last = name
		case before == "api" && slices.Contains(ollamaKeeps, name):
			last = name
		}
		before = name
	}
	switch last {
	case "":
		return false
	case "models": // Gemini's operations are models/NAME:generateContent
		_, operation, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
		return !answers(operation)
	case "projects", "organization", "organizations", "batch": // whose completions are behind them at Google, Azure and Volcengine
		return api.OfPath(path) == nil
	}
	return true
}

// ollamaKeeps are Ollama's paths below /api by which it keeps models.
var ollamaKeeps = []string{"pull", "push", "create", "copy", "delete", "blobs"}

// queued reports whether what stands behind a segment of a path is answered later, to
// whoever has the key: /v1/async/chat/completions of Bifrost, Perplexity and Zhipu,
// /queue/chat/completions of LiteLLM.
func queued(path string) bool { return slices.ContainsFunc(segments(path), isQueue) }

func isQueue(segment string) bool {
	return segment == "queue" || segment == "jobs" || strings.HasPrefix(segment, "async")
}

// segments are those of a path that say what it is, in small letters: without empty ones,
// which servers pass over, and the names of models and deployments, which are the users' own.
func segments(path string) []string {
	var out []string
	before := ""
	for segment := range strings.FieldsFuncSeq(strings.ToLower(path), func(r rune) bool { return r == '/' }) {
		if before == "deployments" || before == "model" || before == "models" {
			before = "" // whatever the name is
			continue
		}
		before = segment
		out = append(out, segment)
	}
	return out
}

// answers reports whether an operation of Google's on a model ends with its answer. The
// others begin a job (batchGenerateContent, asyncBatchEmbedContent, predictLongRunning)
// or change the model (upload, copy, export).
func answers(operation string) bool {
	for _, start := range []string{"generate", "stream", "embed", "batchEmbed", "predict", "rawPredict", "count", "compute"} {
		if strings.HasPrefix(operation, start) {
			return operation != "predictLongRunning"
		}
	}
	return false
}

// DefaultPaths are let through where nothing else is said: what every
// API that is known answers, and what clients ask for before.
func DefaultPaths() []string {
	var paths []string
	for _, a := range api.All {
		if a.Build == nil {
			continue // over a WebSocket
		}
		for _, path := range a.Paths() {
			paths = append(paths, "POST "+path)
		}
	}
	return append(paths, "POST /v1/messages/count_tokens", "POST */v1/messages/count_tokens", "POST *:countTokens", "POST */model/*/count-tokens", "POST */responses/input_tokens",
		"POST */responses/compact", // Codex's, when its context is full
		"POST "+writerChat, "POST *"+cohereEmbed,
		"POST */model/*/invoke", "POST */model/*/invoke-with-response-stream", // Bedrock's of any make: vectors, too
		// Google's vectors and pictures, which leave nothing there; what begins a job (:predictLongRunning, :batchGenerateContent) does.
		"POST */models/*:embedContent", "POST */models/*:batchEmbedContents", "POST */models/*:predict",
		"WEBSOCKET */responses", "WEBSOCKET */realtime", "WEBSOCKET */ws/*BidiGenerateContent", // OpenAI's, Azure's, Google's Live
		"GET */v1/models", "GET /v1/models/*", "GET /openai/v1/models/*", // behind any prefix; Groq's and Azure's
		"GET /models", "GET /models/*", "GET */v2/models", "GET */v3/models", "GET */v4/models", // DeepSeek's, Perplexity's; Qianfan's, Ark's, Zhipu's
		"GET */openai/models", "GET /openai/models/*", "GET /v1beta/openai/models/*", // Azure's of before, and Gemini's by OpenAI's API
		"GET /v1beta/models", "GET /v1beta/models/*", // Gemini's
		"GET /api/tags", "GET /api/ps", "GET /api/version", "POST /api/show", // Ollama's
		"GET /api/v0/models", "GET /api/v0/models/*", // LM Studio's
		"GET /info", "GET /get_model_info", "GET /model_info", // TGI's and SGLang's, whose own clients begin with it
		"GET,POST /", // Ollama's programs ask by HEAD whether it is there; TGI's clients generate there
		"GET /health", "GET /ping", "GET /version")
}

// writerChat is where Writer takes chat completions; at other servers it is of no known API.
// Source: writerai/resources/chat.py
const writerChat = "/v1/chat"

// cohereEmbed is the end of the path of Cohere's vectors, which vLLM and gateways have too.
// Source: https://docs.cohere.com/reference/embed
const cohereEmbed = "/v2/embed"

// ofPath is the API that a POST to a path is of; nil: none is known. TGI's and Hugging
// Face's clients generate at the root. Source: https://huggingface.github.io/text-generation-inference
func (r *route) ofPath(path string) *api.API {
	switch {
	case path == "/":
		return api.TGI
	case strings.HasSuffix(path, cohereEmbed):
		return api.Embeddings // what it answers is read, what it asks is another form
	}
	return r.targets[0].up.vendor.OfPath(path)
}

// byPath lists the routes that let a request through by its path and method, in
// order. When there are none, allowed are the methods by which the path is.
func (p *Proxy) byPath(method, path string) (found []*route, allowed []string) {
	for _, r := range p.routes {
		fits := false
		for i := range r.rules {
			if rule := &r.rules[i]; matches(rule.pattern, path) {
				fits = fits || rule.allows(method, path)
				allowed = append(allowed, rule.allowed(path)...)
			}
		}
		if fits {
			found = append(found, r)
		}
	}
	slices.Sort(allowed)
	allowed = slices.DeleteFunc(allowed, func(m string) bool { return m == socketMethod })
	return found, slices.Compact(allowed)
}
