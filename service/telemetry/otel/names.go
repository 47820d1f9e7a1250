package otel

// names are those of one edition of the GenAI semantic conventions. They are
// written down here because the conventions are still moving, and libraries of
// constants with them.
type names struct {
	schema string // URL; empty: unreleased

	duration      string // of a whole operation
	firstChunk    string
	perChunk      string
	cacheWrite    string // an attribute of spans
	tokenUsage    string // a histogram with gen_ai.token.type; empty: those below
	inputCounter  string
	outputCounter string
	cacheCounter  string
	writeCounter  string
	thinkCounter  string
	inputSizes    string
	outputSizes   string
	embedDuration string // of embeddings, in place of duration
	embedSizes    string // their input, in place of all other tokens
}

var v141 = names{
	schema:     "https://opentelemetry.io/schemas/1.41.0",
	duration:   "gen_ai.client.operation.duration",
	firstChunk: "gen_ai.client.operation.time_to_first_chunk",
	perChunk:   "gen_ai.client.operation.time_per_output_chunk",
	cacheWrite: "gen_ai.usage.cache_creation.input_tokens",
	tokenUsage: "gen_ai.client.token.usage",
}

var next = names{
	duration:      "gen_ai.client.inference.duration",
	firstChunk:    "gen_ai.client.inference.time_to_first_chunk",
	perChunk:      "gen_ai.client.inference.time_per_output_chunk",
	cacheWrite:    "gen_ai.usage.cache_write.input_tokens",
	inputCounter:  "gen_ai.client.inference.usage.input_tokens",
	outputCounter: "gen_ai.client.inference.usage.output_tokens",
	cacheCounter:  "gen_ai.client.inference.usage.cache_read.input_tokens",
	writeCounter:  "gen_ai.client.inference.usage.cache_write.input_tokens",
	thinkCounter:  "gen_ai.client.inference.usage.reasoning.output_tokens",
	inputSizes:    "gen_ai.client.inference.operation.input_tokens",
	outputSizes:   "gen_ai.client.inference.operation.output_tokens",
	embedDuration: "gen_ai.client.embeddings.duration",
	embedSizes:    "gen_ai.client.embeddings.operation.input_tokens",
}

// Both editions have these.
const (
	serverDuration = "gen_ai.server.request.duration"
	serverFirst    = "gen_ai.server.time_to_first_token"
	serverPerToken = "gen_ai.server.time_per_output_token"
)

// Buckets of the conventions, and some beyond: their durations end at 82 s and
// their chunks begin at 10 ms.
var (
	durationEdges = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36}
	chunkEdges    = []float64{0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	usageEdges    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	perTokenEdges = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5}
	firstEdges    = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 15, 20, 30, 45, 60, 120, 300}
)

// operation and provider are what an API is called by the conventions. A server
// that speaks another's dialect is named by the dialect: a proxy can't tell.
func operation(name string) string {
	switch name {
	case "openai-completions", "ollama-generate", "tgi", "llamacpp", "sglang", "triton":
		return "text_completion"
	case "gemini":
		return "generate_content"
	case "embeddings":
		return "embeddings"
	case "rerank", "speech", "transcription", "images": // the conventions have no name of their own
		return name
	}
	return "chat"
}

func provider(name string) string {
	switch name {
	case "anthropic", "cohere", "sglang", "tgi", "llamacpp", "triton":
		return name
	case "gemini":
		return "gcp.gemini"
	case "mistral":
		return "mistral_ai"
	case "bedrock":
		return "aws.bedrock"
	case "ollama-chat", "ollama-generate":
		return "ollama"
	}
	return "openai"
}

// modality is of what an operation's tokens are, as far as its API alone tells: a chat
// may have pictures and sounds in it, which its count holds too.
func modality(operation string) string {
	if operation == "text_completion" {
		return "text"
	}
	return "unknown"
}
