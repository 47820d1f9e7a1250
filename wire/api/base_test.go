package api

import "testing"

// A # at the end of a path makes it the endpoint of whatever is asked, and the list of models
// stands beside it. Source: https://apisix.apache.org/docs/apisix/plugins/ai-proxy/, whose
// routes are exact paths.
func TestPathsThatAreEndpointsAsTheyStand(t *testing.T) {
	for _, c := range []struct{ host, path, endpoint, models string }{
		{"h", "/anything#", "/anything", "/models"},
		{"h", "/prod/chat/#", "/prod/chat/", "/prod/models"},
		{"h", "/team/v1/ask#", "/team/v1/ask", "/team/v1/models"},
		{"h", "/v1#", "/v1", "/models"},
		{"h", "/v1/chat/completions#", "/v1/chat/completions", "/v1/models"},
		{"h", "/generate#", "/generate", "/models"},
		{"h", "/#", "/", "/models"},
		{"api.cohere.com", "/v2#", "/v2", "/models"},
		{"h:11434", "/api#", "/api", "/models"},
	} {
		for _, a := range []*API{OpenAIChat, Anthropic, TGI, Gemini} {
			if got := AddressOf(c.host, c.path, a.Path).Endpoint(a.Path); got != c.endpoint {
				t.Errorf("%s at %s%s: %s, want %s", a.Name, c.host, c.path, got, c.endpoint)
			}
		}
		address := AddressOf(c.host, c.path, OpenAIChat.Path)
		if got := address.Lookup("/v1/models"); got != c.models {
			t.Errorf("models at %s%s: %s, want %s", c.host, c.path, got, c.models)
		}
		if got := address.Through(OpenAIChat.Path); got != c.endpoint {
			t.Errorf("chat passed on to %s%s: %s", c.host, c.path, got)
		}
	}
	if got := AddressOf("h", "/anything", OpenAIChat.Path).Endpoint(OpenAIChat.Path); got != "/anything/v1/chat/completions" {
		t.Errorf("without the #: %s", got)
	}
}

// Bases that are named for an API, lists of models that were copied, and services
// that generate nothing: what people paste.
func TestBasesAsPasted(t *testing.T) {
	for path, want := range map[string]string{
		"/anthropic": "anthropic", "/anthropic/v1": "anthropic", "/apps/anthropic/v1": "anthropic", "/api/anthropic/": "anthropic",
		"": "", "/": "", "/v1": "", "/openai/v1": "", "/anthropics": "", "/anthropic/models": "",
	} {
		got := ""
		if a := OfBase("h", path); a != nil {
			got = a.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, c := range []struct{ path, endpoint string }{
		{"/v1/models", "/v1/chat/completions"},
		{"/openai/v1/models/", "/openai/v1/chat/completions"},
		{"/api/v3/models", "/api/v3/chat/completions"},
		{"/models", "/models/v1/chat/completions"}, // a base may be called so
		{"/2/models", "/2/models/v1/chat/completions"},
	} {
		if got := AddressOf("h", c.path, OpenAIChat.Path).Endpoint(OpenAIChat.Path); got != c.endpoint {
			t.Errorf("%s: %s, want %s", c.path, got, c.endpoint)
		}
	}
	if got := AddressOf("h", "/apps/anthropic/v1", Anthropic.Path).Endpoint(Anthropic.Path); got != "/apps/anthropic/v1/messages" {
		t.Errorf("Anthropic's base with a version: %s", got)
	}
	// Google's SDK adds its version to any base (http_options.base_url), Vertex AI's
	// resources have it in front of them.
	for path, want := range map[string]string{
		"/v1/ACCOUNT/GATEWAY/google-ai-studio":                         "/v1/ACCOUNT/GATEWAY/google-ai-studio/v1beta/models/MODEL:streamGenerateContent",
		"/v1/ACCOUNT/GATEWAY/google-ai-studio/v1":                      "/v1/ACCOUNT/GATEWAY/google-ai-studio/v1/models/MODEL:streamGenerateContent",
		"/v1/gemini-proxy":                                             "/v1/gemini-proxy/v1beta/models/MODEL:streamGenerateContent",
		"/gemini":                                                      "/gemini/v1beta/models/MODEL:streamGenerateContent",
		"/v1/projects/P/locations/L/publishers/google":                 "/v1/projects/P/locations/L/publishers/google/models/MODEL:streamGenerateContent",
		"/v1beta/models/gemini-x":                                      "/v1beta/models/MODEL:streamGenerateContent",
		"/v1beta/models/gemini-x:streamGenerateContent":                "/v1beta/models/gemini-x:streamGenerateContent",
		"/v1/projects/P/locations/L/publishers/google/models/gemini-x": "/v1/projects/P/locations/L/publishers/google/models/MODEL:streamGenerateContent",
		"/v1beta1/publishers/google":                                   "/v1beta1/publishers/google/models/MODEL:streamGenerateContent",
	} {
		for _, host := range []string{"h", "generativelanguage.googleapis.com"} {
			if got := AddressOf(host, path, Gemini.Path).Endpoint(Gemini.Path); got != want {
				t.Errorf("Gemini at %s%s: %s, want %s", host, path, got, want)
			}
		}
	}
	// Vendors with other names for their versions.
	for _, c := range []struct{ host, path, api, want, models string }{
		{"api.deepseek.com", "/beta", OpenAICompletions.Path, "/beta/completions", "/beta/models"},
		{"api.deepseek.com", "/beta", OpenAIChat.Path, "/beta/chat/completions", "/beta/models"},
		{"api.deepseek.com", "/beta/completions", OpenAICompletions.Path, "/beta/completions", "/beta/models"},
		{"api.infomaniak.com", "/1/ai/77/openai", OpenAIChat.Path, "/1/ai/77/openai/chat/completions", "/1/ai/77/openai/models"},
		{"api.infomaniak.com", "/2/ai/77/openai/v1", OpenAIChat.Path, "/2/ai/77/openai/v1/chat/completions", "/2/ai/77/openai/v1/models"},
		{"h", "/beta", OpenAICompletions.Path, "/beta/v1/completions", "/beta/v1/models"},
	} {
		a := AddressOf(c.host, c.path, c.api)
		if got := a.Endpoint(c.api); got != c.want {
			t.Errorf("%s%s: %s, want %s", c.host, c.path, got, c.want)
		}
		if got := a.Lookup("/v1/models"); got != c.models {
			t.Errorf("%s%s has its models at %s, want %s", c.host, c.path, got, c.models)
		}
	}
	if got := AddressOf("r.services.ai.azure.com", "/models", OpenAIChat.Path).Endpoint(OpenAIChat.Path); got != "/models/chat/completions" {
		t.Errorf("models of Azure AI Foundry: %s", got)
	}
	// Whole endpoints whose last part is a vendor's own.
	for _, c := range []struct{ host, path, endpoint, models string }{
		{"us-south.ml.cloud.ibm.com", "/ml/v1/text/chat_stream", "/ml/v1/text/chat_stream", "/ml/v1/models"},
		{"h", "/ml/v1/deployments/d/text/chat", "/ml/v1/deployments/d/text/chat", "/ml/v1/models"},
		{"h", "/v1/projects/p/locations/l/publishers/mistralai/models/m@1:streamRawPredict", "/v1/projects/p/locations/l/publishers/mistralai/models/m@1:streamRawPredict", ""},
		{"api.writer.com", "/v1/chat", "/v1/chat", "/v1/models"},
		{"api.writer.com", "/v1/chat/completions", "/v1/chat/completions", "/v1/models"},
		{"api.writer.com", "/v1", "/v1/chat", "/v1/models"}, // the base of its own SDK, writerai/_client.py, and without a path
		{"api.writer.com", "", "/v1/chat", "/v1/models"},
		{"us-south.ml.cloud.ibm.com", "", "/ml/gateway/v1/chat/completions", "/ml/gateway/v1/models"},
		{"us-south.ml.cloud.ibm.com", "/ml/gateway/v1", "/ml/gateway/v1/chat/completions", "/ml/gateway/v1/models"},
		// The base of Google's own APIs, as @ai-sdk/google and Google's REST pages have it.
		{"generativelanguage.googleapis.com", "/v1beta", "/v1beta/openai/chat/completions", "/v1beta/openai/models"},
		{"generativelanguage.googleapis.com", "/v1beta/models", "/v1beta/openai/chat/completions", "/v1beta/openai/models"},
		{"generativelanguage.googleapis.com", "/v1", "/v1beta/openai/chat/completions", "/v1beta/openai/models"},
		{"generativelanguage.googleapis.com", "/v1beta/openai", "/v1beta/openai/chat/completions", "/v1beta/openai/models"},
		{"h", "/v1beta", "/v1beta/chat/completions", "/v1beta/models"},
		// The names of one resource of Azure, and a project as its portal shows it.
		{"r.cognitiveservices.azure.com", "", "/openai/v1/chat/completions", "/openai/v1/models"},
		{"r.openai.azure.us", "", "/openai/v1/chat/completions", "/openai/v1/models"},
		{"r.openai.azure.cn", "/openai/deployments/d", "/openai/deployments/d/chat/completions", "/openai/models"},
		{"r.services.ai.azure.com", "/api/projects/p", "/api/projects/p/openai/v1/chat/completions", "/api/projects/p/openai/v1/models"},
		{"r.services.ai.azure.com", "/api/projects/p/openai/v1", "/api/projects/p/openai/v1/chat/completions", "/api/projects/p/openai/v1/models"},
		// Of an API that the path does not tell.
		{"eu-aiplatform.googleapis.com", "/v1/projects/p/locations/eu/endpoints/1:rawPredict", "/v1/projects/p/locations/eu/endpoints/1:rawPredict", ""},
		{"a.snowflakecomputing.com", "/api/v2/cortex/inference:complete", "/api/v2/cortex/inference:complete", ""},
		{"us-south.ml.cloud.ibm.com", "/ml/v1/text/generation_stream", "/ml/v1/text/generation_stream", ""},
		{"api.cloudflare.com", "/client/v4/accounts/a/ai/run/@cf/meta/llama-3.1-8b-instruct", "/client/v4/accounts/a/ai/run/@cf/meta/llama-3.1-8b-instruct", ""},
		{"model-a.api.baseten.co", "/environments/production/predict", "/environments/production/predict", ""},
		{"model-a.api.baseten.co", "/deployment/d/predict", "/deployment/d/predict", ""},
		{"runtime.sagemaker.us-east-1.amazonaws.com", "/endpoints/e/invocations-response-stream", "/endpoints/e/invocations-response-stream", ""},
		{"h", "/v2/models/m/infer", "/v2/models/m/infer", ""},
		{"api.runpod.ai", "/v2/e/runsync", "/v2/e/runsync", ""},
		{"api.runpod.ai", "/v2/e/run", "/v2/e/run", ""},
		{"api.runpod.ai", "/v2/e/openai/v1", "/v2/e/openai/v1/chat/completions", "/v2/e/openai/v1/models"},
		{"h", "/team/run", "/team/run/v1/chat/completions", "/team/run/v1/models"},
		{"e.eastus2.inference.ml.azure.com", "/score", "/score", ""},
		{"api.mistral.ai", "/v1/agents/completions", "/v1/agents/completions", "/v1/models"},
		{"api.replicate.com", "/v1/models/o/m/predictions", "/v1/models/o/m/predictions", ""},
		{"h", "/team/generation", "/team/generation/v1/chat/completions", "/team/generation/v1/models"},
		{"h", "/predict", "/predict/v1/chat/completions", "/predict/v1/models"},
		{"api.cohere.com", "/v2", "/compatibility/v1/chat/completions", "/compatibility/v1/models"}, // the base of @ai-sdk/cohere
		{"api.cohere.ai", "/v1", "/compatibility/v1/chat/completions", "/compatibility/v1/models"},
		{"h", "/regeneration", "/regeneration/v1/chat/completions", "/regeneration/v1/models"},
		{"h", "/api/projects/p", "/api/projects/p/v1/chat/completions", "/api/projects/p/v1/models"},
		{"h", "/serving-endpoints/m/invocations", "/serving-endpoints/m/invocations", ""},
		{"api.perplexity.ai", "/v1/sonar", "/v1/sonar", ""},
		{"h", "/v1/chat", "/v1/chat/completions", "/v1/chat/models"}, // of others it is none
	} {
		a := AddressOf(c.host, c.path, OpenAIChat.Path)
		if got := a.Endpoint(OpenAIChat.Path); got != c.endpoint {
			t.Errorf("%s%s: %s, want %s", c.host, c.path, got, c.endpoint)
		}
		if got := a.Lookup("/v1/models"); c.models != "" && got != c.models {
			t.Errorf("%s%s has its models at %s, want %s", c.host, c.path, got, c.models)
		}
		if got := a.Through(OpenAIChat.Path); got != c.endpoint {
			t.Errorf("%s%s: a proxy asks %s, want %s", c.host, c.path, got, c.endpoint)
		}
	}
	if got := AddressOf("h", "/v1beta/models/m:streamGenerateContent", "").Through("/v1/chat/completions"); got != "/v1beta/models/m/chat/completions" {
		t.Errorf("chat completions at Gemini's whole endpoint: %s", got)
	}
	for _, path := range []string{"/rerank", "/reranking", "/v1/reranking", "/team/v1/reranking"} { // all four are llama.cpp's
		if got := AddressOf("h", path, Rerank.Path).Endpoint(Rerank.Path); got != path || OfPath(path) != Rerank {
			t.Errorf("%s: asked at %s, of %v", path, got, OfPath(path))
		}
	}
	for path, want := range map[string]bool{
		"/v1/embeddings": false, "/v1/rerank/": false, "/api/embed": false, "/v1/moderations": false,
		// lmstudio-ai/docs 1_developer/_2_rest
		// llama.cpp's README, NIM's and Voyage's references, TEI's OpenAPI description
		"/reranking": false, "/v1/reranking": false, "/embedding": false, "/v1/ranking": false, "/embed_all": false, "/v1/multimodalembeddings": false, "/apply-template": false, "/ranking/v1": true, "/rankings": true,
		"/v1/messages/count_tokens": false, "/v1/responses/input_tokens": false, "/v1/responses/compact": false, "/v1beta/models/m:countTokens": false,
		"/v1beta/models/m:embedContent": false, "/v1/audio/translations": false, "/api/tags": false, "/models/llama3:8b": true, "/endpoints/1:predict": false, "/ai/run/@cf/m": false, "/environments/production/predict": false, "/team/generation": true, "/v2/models/m/generate": true, "/cortex/inference:complete": false, "/score": false, "/api/v1/chat": false, "/v1/chat": true, "/v2/chat": true, "/api/chat": true, "/chat": true, "/v1/score": false, "/v2/e/run": false, "/scores": true, "/ml/v1/text/generation_stream": false, "/v1/models/m:generateContent": true,
		"/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict": true,
		"/v1": true, "": true, "/v1/chat/completions": true, "/embeddings/v1": true,
	} {
		if Generates(path) != want {
			t.Errorf("%s generates: %v", path, !want)
		}
	}
	for path, want := range map[string]bool{
		"/v1/realtime": true, "/openai/v1/realtime": true, "/openai/realtime": true,
		"/realtime/v1": false, "/v1/realtime/sessions": false, "/v1/realtimes": false, "/v1/responses": false, "": false,
	} {
		if (OfPath(path) == Realtime) != want {
			t.Errorf("%s is the Realtime API: %v", path, !want)
		}
	}
}

// Google's keys go where its own clients send them: access tokens of Vertex AI at any of its
// hosts, a key of its express mode and of the Gemini API by its own header.
// Source: google-genai 3.6.1, _api_client.py; anthropic 2.14, lib/vertex/_client.py
func TestGooglesKeys(t *testing.T) {
	const project = "/v1/projects/p/locations/us/publishers/google/models/g:streamGenerateContent"
	for _, c := range []struct {
		host, path string
		api        *API
		want       string
	}{
		{"us-central1-aiplatform.googleapis.com", project, Gemini, "authorization"},
		{"aiplatform.us.rep.googleapis.com", project, Gemini, "authorization"},
		{"aiplatform.eu.rep.googleapis.com", "/v1/projects/p/locations/eu/publishers/anthropic/models/c:streamRawPredict", Anthropic, "authorization"},
		{"aiplatform.eu.rep.googleapis.com", "/v1/projects/p/locations/eu/publishers/google", Gemini, "authorization"},
		{"aiplatform.googleapis.com", "/v1/publishers/google/models/g:streamGenerateContent", Gemini, "x-goog-api-key"},
		{"aiplatform.googleapis.com", "/v1beta1/publishers/google/models/g:generateContent", Gemini, "x-goog-api-key"},
		{"aiplatform.googleapis.com", "/v1/publishers/google", Gemini, "x-goog-api-key"}, // a base
		{"generativelanguage.googleapis.com", "/v1beta/models/g:streamGenerateContent", Gemini, "x-goog-api-key"},
		{"generativelanguage.googleapis.com", "/v1beta/openai", OpenAIChat, "authorization"},
		{"rep.googleapis.com", "/v1beta/models/g:streamGenerateContent", Gemini, "x-goog-api-key"},
	} {
		if got := KeyHeader(c.host, c.path, c.api); got != c.want {
			t.Errorf("%s%s: %s, want %s", c.host, c.path, got, c.want)
		}
	}
}
