package api

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Address is where an API lies on a server, read from the path of a URL as
// people write it: with or without a version, behind a prefix, as a base that an
// SDK takes, or as the whole endpoint.
//
// A path that ends in an API's operation (/chat/completions, /messages, …) is the
// whole endpoint. A base with a version segment of its own (/v4,
// /v1beta/openai, an Azure deployment) gets only what follows the version in the
// API's own path. Any other base gets the API's whole path. A path that ends in # is the
// endpoint as it stands, whatever it is called.
type Address struct {
	root      string // before the version: where the server's other services lie
	base      string // what an operation follows; no slash at its end
	rest      string // of the base, what stands behind the version
	whole     string // the endpoint, where the path named an operation
	operation string // which one
	versioned bool   // an API's own version is not added
	beta      bool   // the API is Google's, whose newest version has models that the others lack
	deployed  bool   // the base ends in an Azure deployment
	exact     bool   // the path was said to be the endpoint
}

// AddressOf takes the path of a URL apart; apiPath is that of the API that will
// be spoken.
func AddressOf(host, path, apiPath string) Address {
	path, exact := strings.CutSuffix(path, "#")
	a := Address{exact: exact, base: ofSegments(splitPath(path)), beta: strings.HasPrefix(apiPath, "/v1beta/")}
	if base, ok := strings.CutSuffix(a.base, "/models"); ok && !exact && endsInVersion(base) { // the list of models, as it was copied
		a.base = base
	}
	if a.base == "/api" && !exact && isOllama(host) {
		a.base = "" // its OpenAI path lies beside it
	}
	p := ProviderOf(host)
	if !exact {
		a.base = p.base(host, a.base, apiPath)
	}
	op := cmp.Or(operationOf(a.base), p.operationOf(a.base), endOf(a.base))
	if exact && op == "" {
		op = cmp.Or(a.base[max(strings.LastIndexByte(a.base, '/'), 0):], "/")
	}
	if i := strings.LastIndex(a.base, "/models/"); op == "" && i >= 0 && strings.HasPrefix(apiPath, "/v1beta/models/") {
		a.base = a.base[:i] // Gemini's path names the model, too
	}
	if op != "" {
		a.whole, a.operation = cmp.Or(a.base, "/"), op
		a.base = strings.TrimSuffix(a.base, op)
		if p == nil && a.whole != "/" && strings.HasSuffix(path, "/") { // some servers' endpoints end so, those of known vendors don't
			a.whole += "/"
		}
	} else if p != nil && !isMessages(apiPath) {
		_, tail := splitVersion(apiPath)
		models := a.base == "/models" && strings.HasSuffix(host, foundry)
		a.versioned = (p.Unversioned || models) && tail == OpenAIChat.tail()
	}
	if host == "api.deepseek.com" && a.base == "/beta" || host == "api.infomaniak.com" && strings.HasPrefix(a.base, "/1/ai/") {
		a.versioned = true // their names of versions
	}
	a.root = a.base
	segments := splitPath(a.base)
	at := len(segments) - 1
	for at >= 0 && !isVersion(segments[at]) {
		at--
	}
	last := len(segments) - 1
	switch deployment := slices.Index(segments, "deployments"); {
	case deployment >= 0 && deployment == last-1:
		a.versioned, a.deployed = true, true
		a.root = ofSegments(segments[:deployment])
	case at >= 0 && (at == last || !addsVersion(apiPath, segments[at+1:])):
		a.versioned = true
		a.root, a.rest = ofSegments(segments[:at]), ofSegments(segments[at+1:])
	case last >= 0 && segments[last] == "serving-endpoints": // Databricks
		a.versioned = true
	case a.whole != "" && strings.HasPrefix(apiPath, "/v1/"): // a vendor without versions
		a.versioned = true
	}
	return a
}

// addsVersion reports whether an API's own SDKs add its version to any base that does
// not end in one: Anthropic's, and Google's but where resources of Vertex AI follow.
func addsVersion(apiPath string, behind []string) bool {
	return isMessages(apiPath) || strings.HasPrefix(apiPath, "/v1beta/") && behind[0] != "projects" && behind[0] != "publishers"
}

// isMessages reports whether a path is one of Anthropic's API.
func isMessages(apiPath string) bool {
	_, tail := splitVersion(apiPath)
	return tail == Anthropic.tail() || strings.HasPrefix(tail, Anthropic.tail()+"/")
}

// Plain reports whether paths stay as they are.
func (a Address) Plain() bool { return a.base == "" && a.whole == "" && !a.versioned }

// Endpoint is the path that the API's path is at.
func (a Address) Endpoint(apiPath string) string {
	version, tail := splitVersion(apiPath)
	if op := operationOf(tail); a.whole != "" && (a.exact || !siblings(op, a.operation)) {
		return a.whole
	} else if a.whole != "" {
		return a.base + op
	}
	return a.join(version, tail, apiPath)
}

// Lookup is the path of something else on the server, which a GET asks for.
func (a Address) Lookup(path string) string {
	version, tail := splitVersion(path)
	if version != "" && a.deployed {
		return a.root + tail // a deployment has no list of models
	}
	if version != "" && a.beta {
		path = "/v1beta" + tail
	}
	return a.join(version, tail, path)
}

// Through is the path of a request that is passed on.
func (a Address) Through(path string) string {
	switch version, tail := splitVersion(path); {
	case a.whole != "" && (operationOf(path) == a.operation || (a.exact || a.chats()) && operationOf(path) == OpenAIChat.tail()):
		return a.whole
	case a.deployed && tail == "/models":
		return a.root + tail
	case a.root != "" && strings.HasPrefix(path, a.root+"/"), a.base != "" && strings.HasPrefix(path, a.base+"/"):
		return path
	case overlap(a.base, path) > 0:
		return joinPath(a.base, path)
	case version != "" || besideVersions(path):
		return a.join(version, tail, path)
	}
	return joinPath(a.base, path)
}

// chats reports whether the endpoint takes chat completions under a name of its own.
func (a Address) chats() bool {
	of := OfPath(a.whole)
	return of == nil || of == OpenAIChat
}

func (a Address) join(version, tail, path string) string {
	switch {
	case version == "":
		return joinPath(a.beside(), path)
	case !a.versioned:
		return joinPath(a.base, path)
	case a.rest != "" && strings.HasPrefix(tail, a.rest+"/"): // the base has the start of the operation
		return strings.TrimSuffix(a.base, a.rest) + tail
	}
	return a.base + tail
}

// beside is where paths without a version lie: before a version that the base
// ends in.
func (a Address) beside() string {
	if a.versioned && a.rest == "" {
		return a.root
	}
	return a.base
}

// besideVersions reports whether a path belongs to what servers have beside the
// versions of an API.
func besideVersions(path string) bool {
	for _, a := range All {
		if version, _ := splitVersion(a.Path); version == "" && path == a.Path {
			return true
		}
	}
	return slices.Contains(Probes, path) || path == "/health" || path == "/ping" || path == "/metrics" || path == "/generate"
}

// tail is the API's path without its version.
func (a *API) tail() string {
	_, tail := splitVersion(a.Path)
	return tail
}

// siblings reports whether two operations are those of one API for a stream and
// for a whole reply: they lie at the same place.
func siblings(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != b && (a+"_stream" == b || a+"-stream" == b || strings.HasPrefix(a, ":") && strings.HasPrefix(b, ":"))
}

// Operations are the ends of paths by which an API's endpoints are known, the
// API's own first. MODEL stands for the name of any model.
func (a *API) Operations() []string {
	if a.Common {
		return []string{a.Path}
	}
	return append([]string{a.tail()}, a.Aliases...)
}

// Paths are patterns of the paths at which the API is met: its own, and with *
// for any prefix, model or other version. What has no version of its own is met at
// its own path alone; messages exist in other APIs (/v1/threads/ID/messages), so
// theirs needs its version. What stands before a model's name stays in the pattern:
// other services' paths end in /invoke or /generate, too.
func (a *API) Paths() []string {
	if strings.Contains(a.Path, "MODEL") {
		var paths []string
		for _, op := range a.Operations() {
			paths = append(paths, anyModel(op))
		}
		return paths
	}
	switch version, tail := splitVersion(a.Path); {
	case version == "":
		return append([]string{a.Path}, a.Aliases...)
	case a == Images:
		return []string{a.Path, "*" + tail, "*/images/edits"}
	default:
		if a == Anthropic || a.Common {
			tail = a.Path
		}
		paths := []string{a.Path, "*" + tail}
		for _, op := range a.Aliases {
			if op == anyInvocations {
				op = "/serving-endpoints/*" + op
			}
			paths = append(paths, anyModel(op))
		}
		return paths
	}
}

// anyModel is the pattern of an operation behind any prefix and of any model. Where a
// model is known by how its name begins, it is Bedrock's, which has them at /model/.
func anyModel(op string) string {
	before, end := splitModel(op)
	switch {
	case before == "":
		return "*" + end
	case before[0] != '/':
		before = "/model/*" + before
	}
	return "*" + before + "*" + end
}

// splitModel splits an operation at the model's name.
func splitModel(op string) (before, end string) {
	if before, end, ok := strings.Cut(op, "MODEL"); ok {
		return before, end
	}
	return "", op
}

// OfPath tells the API whose operation a path ends in; nil: none.
func OfPath(path string) *API {
	a, _ := ofPath(path)
	return a
}

// OfBase tells the API that a base is named for, with or without a version behind
// it: vendors and gateways have Anthropic's API at /anthropic, and Ollama calls /api
// its own. nil: none.
func OfBase(host, path string) *API {
	segments := splitPath(path)
	if len(segments) == 1 && segments[0] == "api" && isOllama(host) {
		return OllamaChat
	}
	if endsInVersion(path) {
		segments = segments[:len(segments)-1]
	}
	if n := len(segments); n > 0 && segments[n-1] == "anthropic" {
		return Anthropic
	}
	return nil
}

// isOllama reports whether a host is Ollama's, or has the port that Ollama listens on
// where it isn't told another. Both have their API at /api, as its documents name the base.
// Source: https://docs.ollama.com/api/introduction
func isOllama(host string) bool {
	p := ProviderOf(host)
	return strings.HasSuffix(host, ":11434") || p != nil && p.API == OllamaChat.Name
}

// ModelOf is the model that the query of a URL names, Azure's by its deployment; empty: none.
func ModelOf(query url.Values) string { return cmp.Or(query.Get("model"), query.Get("deployment")) }

func endsInVersion(path string) bool {
	segments := splitPath(path)
	return len(segments) > 0 && isVersion(segments[len(segments)-1])
}

// Generates reports whether a path that is of no known API may be the base of one that
// generates: these names are of services that answer with no tokens, or of other APIs: of
// text-embeddings-inference, llama.cpp's server, vLLM, NVIDIA's NIM, Voyage and vendors' own.
func Generates(path string) bool {
	segments := splitPath(path)
	if len(segments) == 0 {
		return true
	}
	if OfPath(path) == nil && endOf(path) != "" {
		return false
	}
	last := segments[len(segments)-1]
	switch last[strings.LastIndexByte(last, ':')+1:] {
	case "embeddings", "embed", "embedding", "embed_all", "embed_sparse", "multimodalembeddings", "contextualizedembeddings",
		"rerank", "reranking", "ranking", "similarity", "apply-template", "moderations", "classify", "pooling", "tokenize", "detokenize",
		"count_tokens", "input_tokens", "countTokens", "compact", "embedContent", "batchEmbedContents", "translations", "tags":
		return false
	}
	return true
}

// endOf is the end of a path that no base has, though the API behind it is not known:
// Vertex AI's endpoints, whose containers may speak any, Snowflake's, watsonx's,
// DashScope's, Baseten's, SageMaker's, RunPod's, Replicate's, Cloudflare's, Triton's and
// LM Studio's own,
// and what containers on Azure's machine learning do, whatever that is.
// Empty: none.
func endOf(path string) string {
	for _, end := range []string{":predict", ":rawPredict", ":complete", "/text/generation", "/text/generation_stream", "/text-generation/generation",
		"/multimodal-generation/generation", "/production/predict", "/development/predict", "/invocations-response-stream", "/runsync", "/v1/predictions", "/score", "/api/v1/chat"} {
		if strings.HasSuffix(path, end) {
			return end
		}
	}
	for _, of := range [][2]string{{"/ai/run/", ""}, {"/environments/", "/predict"}, {"/deployment/", "/predict"}, {"/v2/models/", "/infer"}, {"/models/", "/predictions"}, {"/v2/", "/run"}} {
		if i := strings.Index(path, of[0]); i >= 0 && strings.HasSuffix(path[i+len(of[0])-1:], of[1]) {
			return path[i:]
		}
	}
	return ""
}

// operationOf is the operation that a path ends in, behind the model's name.
func operationOf(path string) string {
	_, op := ofPath(path)
	_, end := splitModel(op)
	return end
}

// ReadPath tells what the path of a request says where the API names the model in
// it: the model, and whether a stream is asked for. ok is false where the body
// tells.
func (a *API) ReadPath(path string) (model string, stream, ok bool) {
	op, _ := a.operation(path)
	before, end := splitModel(op)
	if before == "" { // an end for any model
		before, _ = splitModel(a.tail())
	}
	rest := strings.TrimSuffix(path, end)
	i := strings.LastIndex(rest, before)
	if before == "" || end == "" || i < 0 {
		return "", false, false
	}
	name := strings.LastIndexByte(rest[:i+len(before)], '/') + 1 // before may hold the name's beginning
	model, _, _ = strings.Cut(rest[name:], "/versions/")         // Triton's
	return model, strings.Contains(strings.ToLower(end), "stream"), true
}

// ofPath finds the operation of which most stands in a path, with MODEL where the
// model's name is.
func ofPath(path string) (best *API, operation string) {
	most := 0
	for _, a := range All {
		if op, n := a.operation(path); n > most {
			best, operation, most = a, op, n
		}
	}
	return best, operation
}

// countTokens is the name that stands for a model where Bedrock and Vertex AI count.
const countTokens = "count-tokens"

// operation is the one of the API's operations of which most stands in a path, and how
// many bytes of the path it is; 0: none does.
func (a *API) operation(path string) (best string, most int) {
	for _, op := range a.Operations() {
		before, end := splitModel(op)
		rest, ok := strings.CutSuffix(path, end)
		if strings.HasSuffix(rest, "/"+countTokens) { // Anthropic's SDK counts at Vertex AI as if by a model of this name
			continue
		}
		if n := len(before) + len(end); ok && n > most && strings.Contains(rest, before) {
			best, most = op, n
		}
	}
	return best, most
}

// isVersion reports whether a segment of a path is a version: v1, v4, v1beta,
// v1beta1, v1.0.
func isVersion(segment string) bool {
	if len(segment) < 2 || len(segment) > 10 || segment[0]|0x20 != 'v' || segment[1] < '0' || segment[1] > '9' {
		return false
	}
	for i := range len(segment) {
		c := segment[i] | 0x20
		if !('0' <= segment[i] && segment[i] <= '9') && !('a' <= c && c <= 'z') && segment[i] != '.' {
			return false
		}
	}
	return true
}

// splitVersion splits a path at a version that it starts with.
func splitVersion(path string) (version, tail string) {
	first, _, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !more || !isVersion(first) {
		return "", path
	}
	return first, path[len(first)+1:]
}

// joinPath joins at the longest run of segments that ends base and starts path:
// what the base has of it is not repeated.
func joinPath(base, path string) string {
	return ofSegments(append(slices.Clip(splitPath(base)), splitPath(path)[overlap(base, path):]...))
}

func overlap(base, path string) int {
	have, want := splitPath(base), splitPath(path)
	for n := min(len(have), len(want)); n > 0; n-- {
		if slices.Equal(have[len(have)-n:], want[:n]) {
			return n
		}
	}
	return 0
}

func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

func ofSegments(segments []string) string {
	if len(segments) == 0 {
		return ""
	}
	return "/" + strings.Join(segments, "/")
}
