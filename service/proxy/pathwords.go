package proxy

import (
	"strings"
	"sync"
)

// wordKind is what a word of a path says.
type wordKind uint8

const (
	keeps    wordKind = 1 << iota // servers keep things there of whoever has the key, or begin what is paid for later
	ofThing                       // the name behind it is of something that is no model
	ofModel                       // the name behind it is a model's, and may end the path
	anyModel                      // so it is, whatever it is called: but for what is in besideModels
	noModel                       // it is no model's name itself, as words of the two kinds before are none
)

// pathWords are the words of paths that vendors, gateways and servers have, in small letters,
// each in one row.
var pathWords = func() map[string]wordKind {
	words := map[string]wordKind{}
	for _, of := range []struct {
		kind  wordKind
		words string
	}{
		{keeps | ofThing, `projects organizations threads assistants batches files uploads vector_stores containers evals skills cachedcontents
			filesearchstores fine-tunes conversations`},
		{keeps | ofModel, `models`},
		{keeps | ofModel | anyModel, `tunedmodels`},
		{keeps, `fine_tuning fine-tuning organization load_lora_adapter unload_lora_adapter batch video videos video-generation video-synthesis tasks
			embed-jobs model-invocation-job model-customization-jobs
			video_generation image-synthesis`}, // MiniMax's, DashScope's
		{ofThing, `locations accounts publishers regions region workspaces orgs tenants responses jobs sessions runs prompts collections datasets
			voices slots`},
		{ofModel, `model endpoints run`},
		{ofModel | anyModel, `engines deployments serving-endpoints upstream`},
		{noModel, `ai ml llm api-inference beta rest app apis gateway proxy router inference infer serverless text generation services aigc
			multimodal-generation text-generation text-embedding text-rerank compatible-mode compatible-api paas coding plan cortex cloud client openapi
			invocations foundry providers completions rawpredict streamrawpredict labels versions tokenize detokenize score pooling classify
			invocations-response-stream compatibility hf-inference fim agents actions 20231130 openai anthropic google gemini azure bedrock vertex
			vertex_ai vertex-ai cohere vllm sglang llama.cpp mlx`},
	} {
		for word := range strings.FieldsSeq(of.words) {
			words[word] |= of.kind
		}
	}
	return words
}()

// besideModels are what stands behind words of anyModel and is no model: Docker's backends,
// what Databricks' address for OpenAI's clients goes on with.
var besideModels = map[string]string{
	"engines":           " llama.cpp vllm mlx sglang ",
	"serving-endpoints": " chat completions embeddings responses ",
}

// namesAnyModel reports whether a word of a path is a model's name by the one before it.
func namesAnyModel(before, word string) bool {
	return pathWords[before]&anyModel != 0 && !strings.Contains(besideModels[before], " "+word+" ")
}

// defaultWords are those of the paths of the APIs that are known, which are no models' names.
var defaultWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	paths := strings.Join(DefaultPaths(), "/")
	for _, word := range strings.FieldsFunc(strings.ToLower(paths), func(r rune) bool { return strings.ContainsRune("/ :*,", r) }) {
		words[word] = true
	}
	return words
})
