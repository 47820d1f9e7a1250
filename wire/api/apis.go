package api

import (
	"fmt"
	"strings"
)

// All lists the APIs. A new one is a file of its own and a line here.
var All = []*API{
	OpenAIChat,
	OpenAICompletions,
	Realtime, // its events are those of the next with a sign of their own
	OpenAIResponses,
	Anthropic,
	OllamaChat,
	OllamaGenerate,
	LlamaCpp,
	TGI,
	SGLang,
	Gemini,
	GeminiInteractions,
	Bedrock,
	Cohere,
	Triton,
	Embeddings,
	Rerank,
	TEIRerank,
	Speech,
	Transcription,
	Images,
}

// ByName finds an API. The error lists the names there are.
func ByName(name string) (*API, error) {
	names := make([]string, len(All))
	for i, a := range All {
		if a.Name == name {
			return a, nil
		}
		names[i] = a.Name
	}
	return nil, fmt.Errorf("unknown API %q; known are %s", name, strings.Join(names, ", "))
}
