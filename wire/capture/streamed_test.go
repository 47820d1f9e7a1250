package capture_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestStreamed replays answers of which some tokens are in N and were not streamed as
// text, so that they are in no pace. name.expect.json holds a part of the record. Where
// the facts are from:
//
//   - pictures in an answer: https://openrouter.ai/docs/features/multimodal/image-generation
//     (delta.images, image_tokens), https://ai.google.dev/gemini-api/docs/image-generation
//     (1,290 tokens a picture), https://ai.google.dev/api/generate-content#UsageMetadata,
//     https://platform.openai.com/docs/guides/tools-image-generation (counted apart)
//   - sound in an answer: https://platform.openai.com/docs/guides/audio
//   - sound and pictures whose tokens usage does not count: vllm-project/vllm-omni,
//     entrypoints/openai/serving_chat.py (chat_completion_stream_generator)
//   - the token that ends the text: SGLang, tokenizer_manager.py (output_ids); TGI's
//     generate_stream (its last token is special); Ollama, runner/llamarunner/runner.go
//     (numPredicted++ before TokenIsEog) and ggml-org/llama.cpp, tools/server (n_decoded);
//     recorded-*: answers of a real llama-server and a real Ollama, whose times are made
//   - a thought whose head alone is streamed: charm.land/fantasy v0.48.0, providertests/testdata/
//     TestOpenAICompatibleCommon/xai-grok-code-fast, with times of 20 ms
//   - ids without text: SGLang, tokenizer_manager.py (BatchTokenIDOut has output_ids, no text);
//     vLLM, entrypoints/serve/disagg/protocol.py (GenerateStreamResponse); TensorRT-LLM,
//     serve/postprocess_handlers.py (text "" and token_ids without detokenize)
//
// The paces are worked out by hand: the time between the texts, by their tokens.
func TestStreamed(t *testing.T) {
	paths, err := filepath.Glob("testdata/streamed/*.capture.jsonl")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d captures, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(path, ".capture.jsonl")
		t.Run(filepath.Base(name), func(t *testing.T) {
			want := map[string]any{}
			data, err := os.ReadFile(name + ".expect.json")
			if err == nil {
				err = json.Unmarshal(data, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := recordOf(t, path)
			for key, value := range want {
				have, ok := got[key]
				n, number := value.(float64)
				if number && math.Abs(got.num(key)-n) <= 0.0005*n || !number && ok && reflect.DeepEqual(have, value) {
					continue
				}
				t.Errorf("%s is %v, want %v", key, have, value)
			}
		})
	}
}
