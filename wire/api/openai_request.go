package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// OpenAIChat is POST /v1/chat/completions.
var OpenAIChat = &API{
	Name: "openai-chat",
	Path: "/v1/chat/completions",
	// Perplexity, MiniMax, Mistral's agents, Databricks, IBM watsonx, what Vertex AI has of others than Anthropic.
	Aliases: []string{"/v1/sonar", "/chatcompletion_v2", "/agents/completions", anyInvocations, "/text/chat_stream", "/text/chat", "/models/MODEL:streamRawPredict", "/models/MODEL:rawPredict"},
	Build:   buildOpenAIChat,
	Decoder: func() Decoder { return new(openaiDecoder) },
	Opening: `"delta":{`,
	Signs:   []Sign{{"choices/delta"}, {"choices/message"}, {"object=chat.completion*"}},
}

// anyInvocations ends Databricks' paths, and those of containers on Amazon SageMaker
// whatever they do.
const anyInvocations = "/invocations"

// OpenAICompletions is POST /v1/completions, the older API without a chat template.
var OpenAICompletions = &API{
	Name:    "openai-completions",
	Path:    "/v1/completions",
	Aliases: []string{"/inference/v1/generate"}, // vLLM's, of token ids
	Build:   buildOpenAICompletions,
	Decoder: func() Decoder { return new(openaiDecoder) },
	Signs:   []Sign{{"choices/text"}, {"object=text_completion"}},
}

func buildOpenAIChat(r *Request) (Call, error) {
	body := openaiBody(r)
	r.tooled = true // they are written as they stand
	r.filmed = true
	body["messages"] = r.parts(r.Messages, "text", chatImage)
	return r.call("/v1/chat/completions", body)
}

func buildOpenAICompletions(r *Request) (Call, error) {
	body := openaiBody(r)
	body["prompt"] = r.Prompt()
	return r.call("/v1/completions", body)
}

func openaiBody(r *Request) map[string]any {
	body := map[string]any{"model": r.Model, "stream": r.Stream}
	if r.Stream && !r.TellsUsage {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	r.limits(body, cmp.Or(r.MaxTokensField, "max_tokens"))
	return body
}

// length is how long the answer shall be, under an API's name for it; empty: nobody said.
//
// It is not inlined: the copies made the lean binary 7 kB larger.
//
//go:noinline
func (r *Request) length(field string) map[string]any {
	r.sized = true
	if n, ok := r.MaxTokens.Get(); ok {
		return map[string]any{field: n}
	}
	return nil
}

// limits writes how long the answer shall be, and that its end token is ignored.
func (r *Request) limits(body map[string]any, field string) {
	maps.Copy(body, r.length(field))
	r.endless = true
	if r.IgnoreEOS {
		body["ignore_eos"] = true
	}
}

// within writes an object of settings, unless it is empty.
func within(body map[string]any, name string, settings map[string]any) {
	if len(settings) > 0 {
		body[name] = settings
	}
}

// system takes what the system says out of the conversation.
func (r *Request) system() (said []string, others []Message) {
	for _, m := range r.onlySystem() {
		if m.Role == "system" {
			said = append(said, m.Content)
		} else {
			others = append(others, m)
		}
	}
	return said, others
}

// onlySystem is the conversation for an API that doesn't know developer, which is OpenAI's
// newer name for the system.
func (r *Request) onlySystem() []Message {
	messages := slices.Clone(r.Messages)
	for i := range messages {
		if messages[i].Role == "developer" {
			messages[i].Role = "system"
		}
	}
	return messages
}

// textParts are texts as parts of a content.
func textParts(texts []string) (parts []any) {
	for _, text := range texts {
		parts = append(parts, map[string]any{"text": text})
	}
	return parts
}

var errNoIgnoreEOS = errors.New("this API has no field that makes a model go on to the asked length (ignore_eos); leave that out, or use the server's openai-chat or openai-completions")

// IgnoresEOS reports whether a request can ask for an answer that goes on to the asked length.
func (a *API) IgnoresEOS() bool {
	if a.Build == nil {
		return false
	}
	_, err := a.Build(&Request{IgnoreEOS: true})
	return !errors.Is(err, errNoIgnoreEOS)
}

// call finishes a request: further fields replace what the builder wrote, those
// of an object within it member by member, and null leaves out what the builder wrote.
func (r *Request) call(path string, body map[string]any) (Call, error) {
	if r.hasImages() && !r.pictured {
		return Call{}, errNoImages
	}
	if !r.filmed && r.hasVideos() {
		return Call{}, errNoVideos
	}
	if r.hasTools() && !r.tooled {
		return Call{}, errNoTools
	}
	if r.IgnoreEOS && r.sized && !r.endless {
		return Call{}, errNoIgnoreEOS
	}
	for name, value := range r.Extra {
		if value == nil {
			delete(body, name)
			continue
		}
		inner, isObject := body[name].(map[string]any)
		if more, ok := value.(map[string]any); ok && isObject {
			maps.Copy(inner, more)
			maps.DeleteFunc(inner, func(_ string, v any) bool { return v == nil })
			continue
		}
		body[name] = value
	}
	if r.sound() != nil {
		return Call{}, errNoSound
	}
	data, err := json.Marshal(body)
	if err != nil {
		return Call{}, fmt.Errorf("the request body cannot be written as JSON: %w", err)
	}
	return Call{Path: path, Body: data}, nil
}
