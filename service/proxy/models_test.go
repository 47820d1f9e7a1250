package proxy

import (
	"cmp"
	"strings"
	"testing"
	"testing/synctest"
)

// Servers and gateways have models beside the one of the body: LiteLLM's engines and ?model=,
// Databricks' and Vertex AI's endpoints, llama-swap's upstream, Ray Serve's prefixes;
// OpenRouter's models, LiteLLM's and Anthropic's fallbacks, a tool's own model, watsonx'
// model_id, Azure's and SageMaker's headers. A route of some models takes none of others.
// Sources: litellm/proxy/proxy_server.py, openrouter.ai/docs/guides/routing,
// docs.litellm.ai/docs/proxy/client_side_fallbacks, databricks-sdk serving_endpoints.query,
// github.com/mostlygeek/llama-swap, learn.microsoft.com/azure/machine-learning (azureml-model-deployment)
func TestModelsBesideTheOneAskedFor(t *testing.T) {
	const mine = `{"model":"mine","messages":[{"role":"user","content":"x"}]}`
	body := func(more string) string {
		return strings.Replace(mine, `{"model":"mine",`, `{"model":"mine",`+more+`,`, 1)
	}
	for name, tc := range map[string]struct {
		path, body, header string
		passes             bool
	}{
		// What the path names.
		"LiteLLM's engines":                {"/engines/other/chat/completions", mine, "", false},
		"with slashes":                     {"/engines/org/other/chat/completions", mine, "", false},
		"of mine":                          {"/engines/mine/chat/completions", mine, "", true},
		"vectors of engines":               {"/v1/engines/other/embeddings", mine, "", false},
		"Docker's backend":                 {"/engines/llama.cpp/v1/chat/completions", mine, "", true},
		"Databricks":                       {"/serving-endpoints/other/invocations", mine, "", false},
		"Databricks, mine":                 {"/serving-endpoints/mine/invocations", mine, "", true},
		"Databricks, by OpenAI's client":   {"/serving-endpoints/chat/completions", mine, "", true},
		"SageMaker":                        {"/endpoints/other/invocations-response-stream", mine, "", false},
		"tuned at Google":                  {"/v1beta/tunedModels/other:generateContent", mine, "", false},
		"Vertex AI's endpoint":             {"/v1/projects/p/locations/l/endpoints/123:generateContent", mine, "", false},
		"Vertex AI's endpoint, completion": {"/v1/projects/p/locations/l/endpoints/123/chat/completions", mine, "", false},
		"Vertex AI's open endpoint":        {"/v1beta1/projects/p/locations/l/endpoints/openapi/chat/completions", mine, "", true},
		"Hugging Face":                     {"/models/org/other/v1/chat/completions", mine, "", false},
		"Hugging Face's pipelines":         {"/models/org/other", mine, "", false},
		"llama-swap":                       {"/upstream/other/v1/chat/completions", mine, "", false},
		"a model called like an API":       {"/serving-endpoints/text/invocations", mine, "", false},
		"one at llama-swap":                {"/upstream/embeddings/v1/chat/completions", mine, "", false},
		"Ray Serve":                        {"/other/v1/chat/completions", mine, "", false},
		"a prefix written out":             {"/team/llm/v1/chat/completions", mine, "", true},
		"Groq":                             {"/openai/v1/chat/completions", mine, "", true},
		"Gemini by OpenAI's client":        {"/v1beta/openai/chat/completions", mine, "", true},
		"Zhipu":                            {"/api/paas/v4/chat/completions", mine, "", true},
		"DashScope":                        {"/compatible-mode/v1/chat/completions", mine, "", true},
		"Ark":                              {"/api/v3/chat/completions", mine, "", true},
		"Fireworks":                        {"/inference/v1/chat/completions", mine, "", true},
		"Cohere":                           {"/compatibility/v1/chat/completions", mine, "", true},
		"what is done, unknown":            {"/v1/rerank", mine, "", true},
		"an answer's id":                   {"/v1/responses/resp_1/cancel", mine, "", true},
		"a thread's id":                    {"/v1/threads/thread_1/messages", mine, "", true},
		"a store's id":                     {"/v1/vector_stores/vs_1/files", mine, "", true},
		"a store that is searched":         {"/v1/vector_stores/vs_1/search", mine, "", true},
		"a container's id":                 {"/v1/containers/c_1/files", mine, "", true},
		"an evaluation's id":               {"/v1/evals/e_1/runs", mine, "", true},
		// What the body names.
		"OpenRouter's models":       {chatPath, body(`"models":["other"],"route":"fallback"`), "", false},
		"OpenRouter's models, mine": {chatPath, body(`"models":["mine","mine-2"]`), "", true},
		"fallbacks":                 {chatPath, body(`"fallbacks":["other"]`), "", false},
		"fallbacks with models":     {chatPath, body(`"fallbacks":[{"model":"other","messages":[]}]`), "", false},
		"a fallback twice":          {chatPath, body(`"fallbacks":[{"model":"other","model":"mine"}]`), "", false},
		"LiteLLM's by model":        {chatPath, body(`"fallbacks":[{"mine":["other"]}]`), "", false},
		"LiteLLM's dictionary":      {chatPath, body(`"context_window_fallback_dict":{"mine":"other"}`), "", false},
		"of mine only":              {chatPath, body(`"fallbacks":[{"model":"mine","max_tokens":5},{"mine":["mine-2"]}]`), "", true},
		"Vercel's":                  {chatPath, body(`"providerOptions":{"gateway":{"models":["other"]}}`), "", false},
		"a tool's model":            {chatPath, body(`"tools":[{"type":"advisor_20260301","name":"advisor","model":"other"}]`), "", false},
		"LiteLLM's deployment":      {chatPath, body(`"deployment_id":"other"`), "", false},
		"watsonx":                   {chatPath, body(`"model_id":"other"`), "", false},
		// Which of a server's fine-tuned weights: the same as a model of another name elsewhere.
		// Sources: sglang/srt/managers/io_struct.py, text-generation-inference's and lorax' openapi.json,
		// llama.cpp/tools/server/README.md
		"SGLang's adapter":       {chatPath, body(`"lora_path":"other"`), "", false},
		"SGLang's adapters":      {"/generate", body(`"text":["x","y"],"lora_path":[null,"other"]`), "", false},
		"TGI's adapter":          {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_id":"other"}}`, "", false},
		"TGI's, of mine":         {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_id":"mine-2","max_new_tokens":5}}`, "", true},
		"TGI's, two in one text": {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_id":"mine,other"}}`, "", false},
		"LoRAX' mixture":         {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_parameters":{"ids":["mine","other"],"weights":[0.5,0.5]}}}`, "", false},
		"LoRAX' mixture of mine": {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_parameters":{"ids":["mine","mine-2"],"weights":[0.5,0.5]}}}`, "", true},
		"LoRAX' other place":     {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_id":"mine","adapter_source":"s3"}}`, "", false},
		"LoRAX' merge of mine":   {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_parameters":{"ids":["mine","mine-2"],"weights":[0.5,0.5],"merge_strategy":"ties","density":0.2,"majority_sign_method":"total"}}}`, "", true},
		"LoRAX' merge":           {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_parameters":{"ids":["mine","other"],"merge_strategy":"ties"}}}`, "", false},
		"one by its name":        {chatPath, body(`"lora_request":{"lora_name":"mine-2","scale":"full"}`), "", true},
		"another by its name":    {chatPath, body(`"lora_request":{"lora_name":"other","scale":"full"}`), "", false},
		"vLLM's on SageMaker":    {"/invocations", mine, "X-Amzn-SageMaker-Adapter-Identifier: other", false},
		"its own":                {"/invocations", mine, "X-Amzn-SageMaker-Adapter-Identifier: mine-2", true},
		"an adapter's query":     {chatPath + "?lora_path=other", mine, "", false},
		"a kind of sampling":     {chatPath, body(`"preset":"min_p"`), "", true},
		"llama.cpp's":            {chatPath, body(`"lora":[{"id":0,"scale":1}]`), "", false},
		"by its number":          {chatPath, body(`"lora_id":3`), "", false},
		"TGI's model":            {"/generate", `{"model":"mine","inputs":"x","parameters":{"model":"other"}}`, "", false},
		"no adapter":             {chatPath, body(`"lora_path":null,"lora":[],"adapter_id":""`), "", true},
		"none of a batch":        {"/generate", body(`"text":["x","y"],"lora_path":[null,null]`), "", true},
		"none of TGI": {"/generate", `{"model":"mine","inputs":"x","parameters":{"adapter_id":null,"adapter_parameters":{"ids":[],"weights":[]},"adapter_source":null,` +
			`"best_of":null,"details":true,"stop":["</s>"],"return_full_text":false}}`, "", true},
		"how strong one is":       {chatPath, body(`"lora_scale":0.6`), "", true},
		"DashScope's options":     {"/api/v1/services/aigc/text-generation/generation", `{"model":"mine","input":{"messages":[]},"parameters":{"result_format":"message","incremental_output":true,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"adapter":{"type":"string"},"model":{"type":"string"}}}}}]}}`, "", true},
		"a tool about adapters":   {chatPath, body(`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"adapter_id":{"type":"string","enum":["other"]}},"required":["adapter_id"]}}}]`), "", true},
		"other words":             {chatPath, body(`"exploration":"wide","adaptive":"yes","plugins":[{"id":"web"}]`), "", true},
		"a list in one text":      {chatPath, `{"model":"mine, other","messages":[]}`, "", false},
		"too deep":                {chatPath, body(`"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40)), "", false},
		"brackets that don't fit": {chatPath, body(`"a":{"b":[}]`), "", false},
		"no fallbacks":            {chatPath, body(`"provider":{"allow_fallbacks":true}`), "", true},
		"what a text speaks of":   {chatPath, `{"model":"mine","messages":[{"role":"user","content":"{\"model\":\"other\"}","model":"other"}]}`, "", true},
		"a tool with a model's field": {chatPath, body(`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",` +
			`"properties":{"model":{"type":"string","enum":["other"]}},"required":["model"]}}}]`), "", true},
		"a tool with examples":      {chatPath, body(`"tools":[{"name":"f","input_schema":{"type":"object","default":{"model":"other"}},"input_examples":[{"model":"other"}]}]`), "", true},
		"a template's own words":    {chatPath, body(`"chat_template_kwargs":{"model":"other"}`), "", true},
		"Cohere's results of tools": {chatPath, body(`"tool_results":[{"call":{"name":"f","parameters":{"q":"x"}},"outputs":[{"model":"X1"}]}],"chat_history":[{"tool_calls":[{"name":"f","parameters":{"car_model":"X1"}}]}]`), "", true},
		"a schema's classes":        {chatPath, body(`"tools":[{"type":"function","function":{"name":"f","parameters":{"$defs":{"Fallback":{"type":"string"}},"dependentRequired":{"model":["year"]}}}}]`), "", true},
		"Ollama's form":             {chatPath, body(`"format":{"$defs":{"FallbackPolicy":{"type":"object"}}}`), "", true},
		"Cohere's tools":            {chatPath, body(`"tools":[{"name":"f","parameter_definitions":{"fallback":{"description":"a city"}}}]`), "", true},
		"in full":                   {"/v1/projects/p/locations/l/publishers/google/models/mine:countTokens", `{"model":"projects/p/locations/l/publishers/google/models/mine","contents":[]}`, "", true},
		"in full, another":          {chatPath, body(`"models":["projects/p/locations/l/publishers/google/models/other"]`), "", false},
		"the client's own notes":    {chatPath, body(`"metadata":{"model":"other"}`), "", true},
		// What stands beside them.
		"LiteLLM's query":     {chatPath + "?model=other", mine, "", false},
		"a query of mine":     {chatPath + "?model=mine&api-version=2024-10-21", mine, "", true},
		"Azure's query":       {chatPath + "?deployment=other", mine, "", false},
		"Azure's header":      {chatPath, mine, "azureml-model-deployment: other", false},
		"SageMaker's header":  {chatPath, mine, "x-amzn-sagemaker-target-model: other", false},
		"a gateway's setting": {chatPath, mine, `x-portkey-config: {"targets":[{"override_params":{"model":"other"}}]}`, false},
		"a browser's device":  {chatPath, mine, `sec-ch-ua-model: "Pixel 7"`, true},
		"another setting":     {chatPath, mine, `x-portkey-config: {"retry":{"attempts":2}}`, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, answerOK, func(c *Config) {
				c.Routes[0].Paths, c.Routes[0].Models = []string{"* /*", "POST /team/llm/v1/chat/completions"}, []string{"mine*"}
			})
			status := 404
			if tc.passes {
				status = 200
			}
			got := h.talk(post(tc.path, tc.body, cmp.Or(tc.header, "x-a: b")), 0)
			if want(t, name, got.StatusCode, status); status == 404 && !strings.Contains(got.body, "model") {
				t.Errorf("%s: %s", name, got.body)
			}
			h.settled()
			want(t, name+": requests that got through", len(h.up.requests) > 0, tc.passes)
		})
	}
	// Whatever the method is.
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, func(c *Config) { c.Routes[0].Paths, c.Routes[0].Models = []string{"PUT /v1/*"}, []string{"mine"} })
		put := func(body string) int {
			return h.talk(strings.Replace(post("/v1/x", body), "POST ", "PUT ", 1), 0).StatusCode
		}
		want(t, "PUT", put(body(`"models":["other"]`)), 404)
		want(t, "PUT of mine", put(mine), 200)
	})
	// A route for all models beside it takes what names others.
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, func(c *Config) {
			rest := c.Routes[0]
			c.Routes[0].Name, c.Routes[0].Models, rest.Name = "mine", []string{"mine"}, "rest"
			c.Routes = append(c.Routes, rest)
		})
		want(t, "with a route for all", h.talk(post("/team/v1/chat/completions", body(`"models":["other"]`)), 0).StatusCode, 200)
		h.settled()
		want(t, "the route", h.sink.one(t).Labels.Route, "mine")
	})
}

func TestVersionsOfPaths(t *testing.T) {
	for word, is := range map[string]bool{"v1": true, "v4.1": true, "v1beta": true, "v1beta1": true, "v2alpha": true, "v": false, "v1-large": false, "vicuna": false, "vbeta": false, "1": false} {
		want(t, word, isVersion(word), is)
	}
}

// Names of members are looked at without an allocation each: a body may have millions. What
// a client is told of a name is short.
func TestManyMembers(t *testing.T) {
	data := []byte(`{"model":"mine","a":{` + strings.Repeat(`"abcd":1,"Some_Other-Name":"x",`, 10_000) + `"z":1}}`)
	if n := testing.AllocsPerRun(5, func() { eachModel(data, span{0, len(data)}, ofNone, 0, func(string) {}) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, func(c *Config) { c.Routes[0].Models = []string{"mine"} })
		got := h.talk(post(chatPath, `{"model":"mine","models":["`+strings.Repeat("long", 100_000)+`"]}`), 0)
		if want(t, "status", got.StatusCode, 404); len(got.body) > 1000 {
			t.Errorf("%d bytes of an answer", len(got.body))
		}
	})
}
