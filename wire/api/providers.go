package api

import "strings"

// Provider is a vendor's address, key and peculiarities.
type Provider struct {
	Name string
	// Hosts are the vendor's; a * stands for what has no dot.
	Hosts []string
	// URL is what to type, with what must be filled in in capitals.
	URL string
	// API is the one to name, where it is not openai-chat.
	API string
	// Keys are the variables that hold a key, the vendor's own first.
	Keys []string
	// KeyHeader carries the key where the API's own header does not.
	KeyHeader string
	// Bare is the base of a URL that names only the host; empty: /v1.
	Bare string
	// Messages is the base of Anthropic's API for such a URL; empty: the host alone.
	Messages string
	// Unversioned says that chat completions have no version in their path.
	Unversioned bool
	// TellsUsage says that its streams tell their usage though nobody asks.
	TellsUsage bool
	// Operation is what its path of chat completions ends in; empty: as everywhere.
	Operation string
	// Reads lists what is read of its replies beside the usual counts.
	Reads string
	// Note is what else to know.
	Note string
}

// Providers are those whose addresses are tested. Where a vendor has several
// hosts or APIs there is a line each.
var Providers = []*Provider{
	{Name: "OpenAI", Hosts: []string{"api.openai.com"}, URL: "https://api.openai.com/v1", Keys: []string{"OPENAI_API_KEY"},
		Reads: "cached, reasoning and rejected prediction tokens; `openai-processing-ms`", Note: "also `openai-responses`, `realtime`"},
	{Name: "Azure OpenAI, v1", Hosts: azure, URL: "https://RESOURCE.openai.azure.com/openai/v1", Bare: "/openai/v1",
		Keys: []string{"AZURE_OPENAI_API_KEY"}, KeyHeader: "api-key", Reads: "as OpenAI; chunks of the content filter are no tokens", Note: "so are `RESOURCE.cognitiveservices.azure.com`, `RESOURCE.openai.azure.us` and `.cn`"},
	{Name: "Azure OpenAI, deployments", Hosts: azure, URL: "https://RESOURCE.openai.azure.com/openai/deployments/NAME?api-version=2024-10-21",
		Keys: []string{"AZURE_OPENAI_API_KEY"}, KeyHeader: "api-key", Reads: "as OpenAI", Note: "the model is the deployment's: `--model NAME`"},
	{Name: "Azure AI Foundry", Hosts: []string{"*" + foundry}, URL: "https://RESOURCE" + foundry + "/openai/v1", Bare: "/openai/v1",
		Keys: []string{"AZURE_OPENAI_API_KEY"}, KeyHeader: "api-key", Reads: "as OpenAI", Note: "also a project's, `/api/projects/NAME`; with `/anthropic`: Anthropic's API"},
	{Name: "Azure AI Foundry, models", Hosts: []string{"*" + foundry}, URL: "https://RESOURCE" + foundry + "/models?api-version=2024-05-01-preview",
		Keys: []string{"AZURE_OPENAI_API_KEY"}, KeyHeader: "api-key", Reads: "as OpenAI"},
	{Name: "Google Gemini, OpenAI's path", Hosts: []string{"generativelanguage.googleapis.com"}, URL: "https://generativelanguage.googleapis.com/v1beta/openai", Bare: "/v1beta/openai",
		Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Reads: "thoughts that only the total counts; `extra_content.google.thought`"},
	{Name: "Google Gemini", Hosts: []string{"generativelanguage.googleapis.com"}, URL: "https://generativelanguage.googleapis.com", API: "gemini",
		Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Reads: "thoughts, beside its answer count; cached and tool tokens", Note: "the model's name is in the path; also `gemini-interactions`"},
	{Name: "Google Vertex AI, OpenAI's path", Hosts: vertex, URL: "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION/endpoints/openapi",
		Reads: "as Gemini", Note: "the key is an access token: `--api-key-file` with what `gcloud auth print-access-token` prints"},
	{Name: "Google Vertex AI, Gemini", Hosts: vertex, API: "gemini", KeyHeader: "authorization",
		URL:   "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION/publishers/google",
		Reads: "as Gemini", Note: "the key is an access token"},
	{Name: "Amazon Bedrock, OpenAI's path", Hosts: []string{"bedrock-runtime.*.amazonaws.com", "bedrock-runtime-fips.*.amazonaws.com"}, URL: "https://bedrock-runtime.REGION.amazonaws.com/openai/v1", Bare: "/openai/v1",
		Keys: []string{"AWS_BEARER_TOKEN_BEDROCK"}, Reads: "cached and reasoning tokens"},
	{Name: "Amazon Bedrock, Converse", Hosts: []string{"bedrock-runtime.*.amazonaws.com", "bedrock-runtime-fips.*.amazonaws.com"}, URL: "https://bedrock-runtime.REGION.amazonaws.com", API: "bedrock",
		Keys: []string{"AWS_BEARER_TOKEN_BEDROCK"}, Reads: "cache reads and writes, which are beside its input count; `metrics.latencyMs`", Note: "or signed, by `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`"},
	{Name: "Amazon Bedrock, Mantle", Hosts: []string{"bedrock-mantle.*.api.aws"}, URL: "https://bedrock-mantle.REGION.api.aws/v1",
		Keys: []string{"AWS_BEARER_TOKEN_BEDROCK"}, Reads: "cached and reasoning tokens", Note: "some models under `/openai/v1`"},
	{Name: "Anthropic", Hosts: []string{"api.anthropic.com"}, URL: "https://api.anthropic.com", API: "anthropic", Keys: []string{"ANTHROPIC_API_KEY"},
		Reads: "cache reads and writes, which are beside its input count"},
	{Name: "Anthropic on Vertex AI", Hosts: vertex, API: "anthropic",
		URL:   "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION/publishers/anthropic/models/MODEL:streamRawPredict",
		Reads: "as Anthropic", KeyHeader: "authorization",
		Note: "`--parameters '{\"anthropic_version\":\"vertex-2023-10-16\",\"model\":null}'`; the key is an access token"},
	{Name: "Anthropic on Bedrock", Hosts: []string{"bedrock-mantle.*.api.aws"}, URL: "https://bedrock-mantle.REGION.api.aws/anthropic", API: "anthropic",
		Keys: []string{"AWS_BEARER_TOKEN_BEDROCK"}, Reads: "as Anthropic"},
	{Name: "Mistral on Vertex AI", Hosts: vertex,
		URL:   "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION/publishers/mistralai/models/MODEL:streamRawPredict",
		Reads: "as Mistral", Note: "the key is an access token; so are other publishers' models that take chat completions"},
	{Name: "IBM watsonx, gateway", Hosts: []string{"*.ml.cloud.ibm.com"}, URL: "https://REGION.ml.cloud.ibm.com/ml/gateway/v1", Bare: "/ml/gateway/v1",
		Reads: "the usual counts", Note: "the key is an access token"},
	{Name: "IBM watsonx", Hosts: []string{"*.ml.cloud.ibm.com"}, URL: "https://REGION.ml.cloud.ibm.com/ml/v1/text/chat_stream?version=2024-10-08",
		Reads: "the usual counts",
		Note:  "`--parameters '{\"model_id\":\"NAME\",\"project_id\":\"ID\",\"model\":null,\"stream\":null,\"stream_options\":null}'`; the key is an access token"},
	{Name: "Writer", Hosts: []string{"api.writer.com"}, URL: "https://api.writer.com/v1/chat", Bare: "/v1/chat", Operation: "/chat", Keys: []string{"WRITER_API_KEY"},
		Reads: "the usual counts; completions have none"},
	{Name: "Mistral", Hosts: []string{"api.mistral.ai"}, URL: "https://api.mistral.ai/v1", Keys: []string{"MISTRAL_API_KEY"}, TellsUsage: true,
		Note:  "its Conversations API is not measured: OpenAI has another at that path",
		Reads: "thinking within a list of contents; usage beside the finish reason"},
	{Name: "Cohere, compatibility", Hosts: []string{"api.cohere.ai", "api.cohere.com"}, URL: "https://api.cohere.ai/compatibility/v1", Bare: "/compatibility/v1",
		Keys: []string{"CO_API_KEY", "COHERE_API_KEY"}, Reads: "the usual counts"},
	{Name: "Cohere", Hosts: []string{"api.cohere.com", "api.cohere.ai"}, URL: "https://api.cohere.com", API: "cohere", Keys: []string{"CO_API_KEY", "COHERE_API_KEY"},
		Reads: "the model's counts, not the billed ones; `thinking`, the plan of tools", Note: "the proxy also reads version 1, `/v1/chat`"},
	{Name: "Ollama", Hosts: []string{"ollama.com"}, URL: "https://ollama.com/api", API: "ollama-chat", Keys: []string{"OLLAMA_API_KEY"},
		Reads: "`thinking`; the durations of its own work; what of the prompt was cached (since August 2026)", Note: "with `/v1` behind the host: OpenAI's API"},
	{Name: "DeepSeek", Hosts: []string{"api.deepseek.com"}, URL: "https://api.deepseek.com", Messages: "/anthropic", Unversioned: true, Keys: []string{"DEEPSEEK_API_KEY"},
		Reads: "`reasoning_content`; `prompt_cache_hit_tokens`", Note: "Anthropic's API: `/anthropic` behind it, or `--api anthropic`; with `/beta`: `openai-completions`"},
	{Name: "xAI", Hosts: []string{"api.x.ai"}, URL: "https://api.x.ai/v1", Keys: []string{"XAI_API_KEY"},
		Reads: "reasoning tokens, which are beside its answer count; `reasoning_content`"},
	{Name: "Groq", Hosts: []string{"api.groq.com"}, URL: "https://api.groq.com/openai/v1", Bare: "/openai/v1", Keys: []string{"GROQ_API_KEY"},
		Reads: "`x_groq.usage`: queue, prompt and completion times; `reasoning`"},
	{Name: "Cerebras", Hosts: []string{"api.cerebras.ai"}, URL: "https://api.cerebras.ai/v1", Keys: []string{"CEREBRAS_API_KEY"},
		Reads: "`time_info`: queue, prompt and completion times; `reasoning`"},
	{Name: "Together", Hosts: []string{"api.together.xyz", "api.together.ai"}, URL: "https://api.together.xyz/v1", Keys: []string{"TOGETHER_API_KEY"},
		Reads: "`reasoning`; cached tokens beside the details"},
	{Name: "Fireworks", Hosts: []string{"api.fireworks.ai"}, URL: "https://api.fireworks.ai/inference/v1", Bare: "/inference/v1", Keys: []string{"FIREWORKS_API_KEY"},
		Reads: "cached tokens; `reasoning_content`"},
	{Name: "OpenRouter", Hosts: []string{"openrouter.ai"}, URL: "https://openrouter.ai/api/v1", Bare: "/api/v1", Messages: "/api", Keys: []string{"OPENROUTER_API_KEY"},
		TellsUsage: true, // https://openrouter.ai/docs/use-cases/usage-accounting
		Reads:      "`reasoning`, `reasoning_details`; `images`; comments while it waits; errors within a stream"},
	{Name: "Perplexity", Hosts: []string{"api.perplexity.ai"}, URL: "https://api.perplexity.ai", Unversioned: true, Keys: []string{"PERPLEXITY_API_KEY"}, TellsUsage: true,
		Reads: "`reasoning_tokens` beside its answer count; whole messages beside the deltas"},
	{Name: "Z.ai (Zhipu)", Hosts: []string{"api.z.ai"}, URL: "https://api.z.ai/api/paas/v4", Bare: "/api/paas/v4", Messages: "/api/anthropic", Keys: []string{"ZAI_API_KEY", "ZHIPUAI_API_KEY"},
		Reads: "`reasoning_content`; cached tokens", Note: "Anthropic's API: `/api/anthropic`, or the host alone with `--api anthropic`"},
	{Name: "Zhipu, China", Hosts: []string{"open.bigmodel.cn"}, URL: "https://open.bigmodel.cn/api/paas/v4", Bare: "/api/paas/v4", Messages: "/api/anthropic", Keys: []string{"ZHIPUAI_API_KEY"},
		Reads: "as Z.ai"},
	{Name: "Volcengine Ark", Hosts: []string{"ark.*.volces.com"}, URL: "https://ark.cn-beijing.volces.com/api/v3", Bare: "/api/v3", Keys: []string{"ARK_API_KEY"},
		Reads: "`reasoning_content`; cached and reasoning tokens"},
	{Name: "GitHub Models", Hosts: []string{"models.github.ai"}, URL: "https://models.github.ai/inference", Bare: "/inference", Unversioned: true, Keys: []string{"GITHUB_TOKEN"},
		Reads: "the usual counts"},
	{Name: "MiniMax", Hosts: []string{"api.minimax.io", "api.minimaxi.com"}, URL: "https://api.minimax.io/v1", Messages: "/anthropic", Keys: []string{"MINIMAX_API_KEY"},
		Reads: "`reasoning_details`; errors in `base_resp`; a last message that repeats all"},
	{Name: "Moonshot", Hosts: []string{"api.moonshot.ai", "api.moonshot.cn"}, URL: "https://api.moonshot.ai/v1", Messages: "/anthropic", Keys: []string{"MOONSHOT_API_KEY"},
		Reads: "`reasoning_content`; usage within the choice; cached tokens beside the details"},
	{Name: "Alibaba DashScope", Hosts: []string{"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"}, URL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Bare: "/compatible-mode/v1", Keys: []string{"DASHSCOPE_API_KEY"},
		Reads: "`reasoning_content`; cached tokens"},
}

// vertex are the hosts of Google's Vertex AI: of a region, global, and of several regions.
// Source: google-genai 3.6.1, _api_client.py
var vertex = []string{"*-aiplatform.googleapis.com", "aiplatform.googleapis.com", "aiplatform.*.rep.googleapis.com"}

// foundry is where resources of Azure AI Foundry are.
const foundry = ".services.ai.azure.com"

// azure are the names of one resource: by product, as the portal shows it, and in the clouds
// of the US government and of China.
// Source: https://learn.microsoft.com/azure/ai-services/cognitive-services-custom-subdomains
var azure = []string{"*.openai.azure.com", "*.cognitiveservices.azure.com", "*.openai.azure.us", "*.cognitiveservices.azure.us", "*.openai.azure.cn", "*.cognitiveservices.azure.cn"}

// ProviderOf finds the vendor of a host; nil: none that is known. A port of the
// host's makes it another.
func ProviderOf(host string) *Provider {
	host = strings.ToLower(strings.TrimSuffix(host, ":443"))
	for _, p := range Providers {
		if p.has(host) {
			return p
		}
	}
	return nil
}

func (p *Provider) has(host string) bool {
	for _, pattern := range p.Hosts {
		before, after, open := strings.Cut(pattern, "*")
		if host == pattern {
			return true
		}
		if middle, ok := strings.CutPrefix(host, before); ok && open {
			middle, ok = strings.CutSuffix(middle, after)
			if ok && middle != "" && !strings.Contains(middle, ".") {
				return true
			}
		}
	}
	return false
}

// KeyHeader is the header that carries a key to a URL's host and path.
func KeyHeader(host, path string, a *API) string {
	p := ProviderOf(host)
	switch {
	case a == Gemini && express(path):
		return a.AuthHeader
	case strings.HasSuffix(path, "RawPredict"), p != nil && p.Hosts[0] == vertex[0]:
		return "authorization" // Google's access token, whatever the API
	case strings.Contains(path, "/openai/deployments/"), p != nil && p.KeyHeader == "api-key" && a != Anthropic: // whose own header Azure takes there
		return "api-key"
	case a == nil || a.AuthHeader == "":
		return "authorization"
	}
	return a.AuthHeader
}

// express reports whether a path is of Vertex AI's express mode, which takes keys in place of
// access tokens. Source: google-genai's _api_client.py
func express(path string) bool {
	return strings.Contains(path+"/", "/publishers/google/") && !strings.Contains(path, "/projects/")
}

// PassedKeyHeader is KeyHeader for a path that is passed on. Vendors that have a native API
// beside OpenAI's take its key in its own header; others that speak it, as gateways and
// engines do, take OpenAI's for all.
func PassedKeyHeader(host, path string) string {
	a := OpenAIChat
	switch of := OfPath(path); {
	case host == "generativelanguage.googleapis.com" && !strings.Contains(path, "/openai/"), express(path):
		a = Gemini
	case host == "api.anthropic.com" && of != OpenAIChat, strings.HasSuffix(host, foundry) && strings.HasPrefix(path, "/anthropic/"):
		a = Anthropic
	}
	return KeyHeader(host, path, a)
}

// base is what a path stands for that names no operation: of a host alone, of a project of
// Azure AI Foundry. Bases of Anthropic's API stay as they are.
func (p *Provider) base(host, path, apiPath string) string {
	version, _ := splitVersion(apiPath)
	segments := splitPath(path)
	switch {
	case p != nil && path == "" && isMessages(apiPath):
		return p.Messages
	case p == nil || isMessages(apiPath) || strings.Contains(apiPath[strings.LastIndexByte(apiPath, '/')+1:], ":"): // Google's operations are of its own API
	case p.Operation != "":
		if (path == "" || path == "/v1") && (apiPath == "" || apiPath == OpenAIChat.Path) {
			return p.Bare
		}
	case path == "" && (version == "v1" || apiPath == ""): // it is a base of OpenAI's API
		return p.Bare
	case strings.HasPrefix(p.Bare, "/v1beta/") && version == "v1" && len(segments) == 1 && endsInVersion(path): // Google's own APIs' base
		return p.Bare
	case p.Bare == "/compatibility/v1" && apiPath == OpenAIChat.Path && (path == "/v1" || path == "/v2"): // Cohere's own APIs' bases
		return p.Bare
	case strings.HasSuffix(host, foundry) && len(segments) == 3 && segments[1] == "projects":
		return path + p.Bare
	}
	return path
}

// OfPath is the API whose operation a path ends in at the vendor, nil where that is nobody's:
// a vendor's own operation takes chat completions.
func (p *Provider) OfPath(path string) *API {
	switch {
	case p.operationOf(path) != "":
		return OpenAIChat
	case p != nil && p.Bare == "/compatibility/v1" && path == "/v1/chat": // version 1 of Cohere's own
		return Cohere
	}
	return OfPath(path)
}

// operationOf is the operation of the vendor's own that a path ends in; empty: none.
func (p *Provider) operationOf(path string) string {
	if p == nil || p.Operation == "" || !strings.HasSuffix(path, p.Operation) {
		return ""
	}
	return p.Operation
}
