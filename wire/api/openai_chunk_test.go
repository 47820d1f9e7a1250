package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// said is what a chunk means, in a form that can be compared.
type said struct {
	Choices  []saidChoice
	Usage    timeline.Usage
	HasUsage bool
	Progress bool
	Timed    bool
	Failed   bool
	Model    string
	Text     string
}

type saidChoice struct {
	Index  int
	Kind   timeline.Kind
	Bytes  int64
	IDs    int64
	Finish string
}

// byScan reads a chunk with the decoder, byJSON with encoding/json.
func byScan(data []byte) (said, bool) {
	d := new(openaiDecoder)
	if !d.read(framing.Event{Data: data}, &Stream{opts: StreamOptions{KeepText: true}}) {
		return said{}, false
	}
	out := said{Usage: d.usage.Usage, HasUsage: d.hasUsage, Progress: d.progress, Timed: d.timed,
		Failed: len(d.errors) > 0 || d.object.Is("error"), Model: d.model.String()}
	for _, ch := range d.choices {
		out.Choices = append(out.Choices, saidChoice{ch.index, ch.said.kind(), ch.said.bytes, ch.ids, ch.finish.String()})
	}
	for _, p := range d.pieces {
		out.Text += p.text.String()
	}
	return out, true
}

func byJSON(data []byte) said {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return said{}
	}
	top := object(v)
	out := said{Model: str(top["model"]), Progress: isObject(top["prompt_progress"]), Timed: isObject(top["timings"])}
	code, _ := whole53(object(top["base_resp"])["status_code"])
	out.Failed = isProblem(top["error"]) || str(top["object"]) == "error" || code != 0
	usages := map[string]any{"usage": top["usage"]}
	for name, v := range top {
		switch name {
		case "usage", "choices", "timings", "metrics", "prompt_progress", "error", "base_resp", "model", "object":
		default:
			if u, ok := object(v)["usage"]; ok {
				usages[name] = u
			}
		}
	}
	for i, c := range array(top["choices"]) {
		if u, ok := object(c)["usage"]; ok {
			usages["choice "+string(rune('0'+i))] = u
		}
		out.Choices = append(out.Choices, choiceByJSON(object(c), &out.Text))
		out.Failed = out.Failed || isProblem(object(c)["error"])
	}
	n := 0
	for _, u := range usages {
		if isObject(u) {
			n++
			out.HasUsage = true
			out.Usage = usageByJSON(object(u))
		}
	}
	if n > 1 {
		out.Usage = timeline.Usage{Total: timeline.Some(int64(-1))} // not compared: the order decides
	}
	return out
}

func choiceByJSON(c map[string]any, text *string) saidChoice {
	out := saidChoice{Finish: str(c["finish_reason"]), IDs: notTold}
	if n, ok := whole53(c["index"]); ok {
		out.Index = int(n)
	}
	if l, ok := c["token_ids"].([]any); ok {
		out.IDs = int64(len(l))
	} else {
		for _, name := range []string{"content", "refusal", "tokens"} {
			if l, ok := object(c["logprobs"])[name].([]any); ok {
				out.IDs = max(out.IDs, 0) + int64(len(l))
			}
		}
	}
	kinds := map[timeline.Kind]bool{}
	add := func(kind timeline.Kind, v any) {
		if s := str(v); s != "" {
			kinds[kind] = true
			out.Bytes += int64(len(s))
			*text += s
		}
	}
	deltaByJSON(object(c["delta"]), add, kinds)
	if len(kinds) == 0 { // else it repeats what the delta said
		add(timeline.Text, c["text"])
	}
	reasoningByJSON(c, add, kinds)
	if out.Bytes == 0 && !kinds[timeline.Media] && !kinds[timeline.Reasoning] { // else it repeats what the delta said
		deltaByJSON(object(c["message"]), add, kinds)
	}
	out.Kind = timeline.Empty
	for _, k := range saidOrder {
		if kinds[k] {
			out.Kind = k
			break
		}
	}
	return out
}

func deltaByJSON(d map[string]any, add func(timeline.Kind, any), kinds map[timeline.Kind]bool) {
	add(timeline.Text, d["content"])
	parts := append(array(d["content"]), d["content"])
	if isAnswer(object(d["content"])) {
		add(timeline.Text, "\x00") // bytes of the source, not compared
		parts = nil
	}
	for _, p := range parts {
		if _, ok := p.(string); ok {
			continue
		}
		add(timeline.Text, object(p)["text"])
		add(timeline.Refusal, object(p)["refusal"])
		reasoningByJSON(object(p), add, map[timeline.Kind]bool{})
		for _, name := range []string{"audio", "images", "image_url"} {
			if hasMedia(object(p)[name]) {
				kinds[timeline.Media] = true
			}
		}
	}
	for _, p := range array(d["content"]) {
		add(timeline.Text, p)
	}
	var thinking []string
	for _, b := range array(d["content_blocks"]) {
		thinking = append(thinking, blockByJSON(object(b), kinds)...)
	}
	reasoningByJSON(d, add, kinds, thinking...)
	if sealedByJSON(object(d["provider_specific_fields"])["thinking_blocks"]) {
		kinds[timeline.Reasoning] = true
	}
	add(timeline.Refusal, d["refusal"])
	if str(d["role"]) != "" {
		kinds[timeline.Role] = true
	}
	functions := []any{d["function_call"]}
	for _, call := range array(d["tool_calls"]) {
		functions = append(functions, object(call)["function"], object(call)["custom"])
	}
	for _, f := range functions {
		for _, name := range []string{"name", "arguments", "input"} {
			v := object(f)[name]
			add(timeline.Tool, v)
			if len(object(v)) > 0 {
				add(timeline.Tool, "\x00") // bytes of the source, not compared
			}
		}
	}
	for _, name := range []string{"audio", "images", "image_url"} {
		if hasMedia(d[name]) {
			kinds[timeline.Media] = true
		}
	}
}

// isAnswer reports whether an object in the place of the text is structured output: it is
// neither a part, by its type and the member of that type, nor text alone.
func isAnswer(content map[string]any) bool {
	kind := []byte(str(content["type"]))
	has := func(is func([]byte) bool, more ...string) bool {
		for name := range content {
			if is([]byte(name)) || slices.Contains(more, name) {
				return true
			}
		}
		return false
	}
	no := func([]byte) bool { return false }
	others := len(content)
	if _, typed := content["type"]; typed {
		others--
	}
	switch {
	case isReasoning(kind):
		return !has(isReasoning, "summary", "text")
	case bytes.HasSuffix(kind, []byte("text")):
		return !has(no, "text")
	case string(kind) == "refusal":
		return !has(no, "refusal")
	case isMedia(kind):
		return !has(isMedia, "source")
	case len(kind) > 0:
		return true
	}
	return others > 1 || others == 1 && !has(no, "text")
}

// reasoningByJSON adds what an object holds under the names of reasoning.
func reasoningByJSON(d map[string]any, add func(timeline.Kind, any), kinds map[timeline.Kind]bool, texts ...string) {
	for _, name := range reasoningNames(d) {
		if sealedByJSON(d[name]) {
			kinds[timeline.Reasoning] = true
		}
	}
	for _, name := range reasoningNames(d) {
		if t := thoughtsByJSON(d[name]); t != "" {
			texts = append(texts, t)
		}
	}
	switch {
	case len(texts) == 1:
		add(timeline.Reasoning, texts[0])
	case len(texts) > 1:
		add(timeline.Reasoning, "\x00") // which of the copies counts is the order's choice
	}
}

// blockByJSON is the thinking in a content block, or in the piece of one.
func blockByJSON(b map[string]any, kinds map[timeline.Kind]bool) (texts []string) {
	if str(b["data"]) != "" || sealedByJSON(b["thinking"]) {
		kinds[timeline.Reasoning] = true
	}
	if t := thoughtsByJSON(b["thinking"]); t != "" {
		texts = append(texts, t)
	}
	if d := object(b["delta"]); d != nil {
		texts = append(texts, blockByJSON(d, kinds)...)
	}
	return texts
}

// reasoningNames are an object's members that have a name of reasoning; which names
// have is tested by themselves.
func reasoningNames(d map[string]any) []string {
	names := slices.Sorted(maps.Keys(d))
	return slices.DeleteFunc(names, func(name string) bool { return !isReasoning([]byte(name)) })
}

func thoughtsByJSON(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		all := ""
		for _, e := range v {
			all += thoughtsByJSON(e)
		}
		return all
	case map[string]any:
		all := ""
		for _, name := range append([]string{"text", "content", "summary", "delta"}, reasoningNames(v)...) {
			all += thoughtsByJSON(v[name])
		}
		return all
	}
	return ""
}

// sealedByJSON reports whether there is a part of Claude's whose words are kept back.
func sealedByJSON(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, sealedByJSON)
	case map[string]any:
		for _, name := range append([]string{"text", "content", "summary", "delta"}, reasoningNames(v)...) {
			if sealedByJSON(v[name]) {
				return true
			}
		}
		return str(v["redactedContent"]) != "" || str(v["data"]) != "" && (str(v["type"]) == "redacted_thinking" || strings.HasPrefix(str(v["format"]), "anthropic-claude"))
	}
	return false
}

func hasMedia(v any) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case []any:
		return slices.ContainsFunc(v, hasMedia)
	case map[string]any:
		for _, name := range []string{"data", "url", "transcript", "audio", "images", "image_url"} {
			if hasMedia(v[name]) {
				return true
			}
		}
	}
	return false
}

func usageByJSON(u map[string]any) (out timeline.Usage) {
	set := func(to *timeline.Opt[int64], v any) {
		if n, ok := whole53(v); ok && n >= to.Or(0) {
			*to = timeline.Some(n)
		}
	}
	set(&out.Input, u["input_tokens"])
	set(&out.Input, u["prompt_tokens"])
	set(&out.Output, u["output_tokens"])
	set(&out.Output, u["completion_tokens"])
	set(&out.Total, u["total_tokens"])
	set(&out.CacheWrite, u["cache_creation_input_tokens"])
	for _, name := range []string{"cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"} {
		set(&out.Cached, u[name])
	}
	set(&out.Reasoning, u["reasoning_tokens"])
	for _, name := range []string{"prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details"} {
		set(&out.Cached, object(u[name])["cached_tokens"])
		set(&out.Reasoning, object(u[name])["reasoning_tokens"])
	}
	return out
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func isObject(v any) bool         { _, ok := v.(map[string]any); return ok }
func array(v any) []any           { l, _ := v.([]any); return l }
func str(v any) string            { s, _ := v.(string); return s }

func whole53(v any) (int64, bool) {
	f, ok := v.(float64)
	return int64(f), ok && math.Abs(f) < 1<<53 && f == math.Trunc(f)
}

func isProblem(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v != "" && !slices.Contains([]string{"0", "200", "ok", "success", "null", "none"}, strings.ToLower(v))
	case float64:
		return v != 0
	case []any:
		return slices.ContainsFunc(v, isProblem)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), isProblem)
	}
	return false
}

// ambiguous reports whether some object has a member twice: what that means is
// not defined (RFC 8259), so it is not compared.
func ambiguous(data []byte) bool {
	var walk func(d *json.Decoder) bool
	walk = func(d *json.Decoder) bool {
		tok, err := d.Token()
		if err != nil {
			return true
		}
		delim, _ := tok.(json.Delim)
		seen := map[string]bool{}
		for delim != 0 && d.More() {
			if delim == '{' {
				name, err := d.Token()
				if err != nil || seen[name.(string)] {
					return true
				}
				seen[name.(string)] = true
			}
			if walk(d) {
				return true
			}
		}
		if delim != 0 {
			d.Token()
		}
		return false
	}
	return walk(json.NewDecoder(bytes.NewReader(data)))
}

// comparedUsage are the names that usageByJSON knows. The scan knows those of many
// vendors besides, some of them one letter away: a usage that holds any other name is
// compared by the tables of vendors_test.go, not here.
var comparedUsage = []string{
	"prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "total_tokens",
	"cache_creation_input_tokens", "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens", "reasoning_tokens",
	"prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details",
}

// beyondUsage reports whether a usage in v holds a name that is not compared here.
func beyondUsage(v any, within bool) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return beyondUsage(e, within) })
	case map[string]any:
		for name, value := range v {
			if within && !slices.Contains(comparedUsage, name) || beyondUsage(value, within || name == "usage") {
				return true
			}
		}
	}
	return false
}

// usageNames are counted more than once under several names; which one wins is
// the order's choice.
var usageNames = [][]string{
	{"prompt_tokens", "input_tokens"}, {"completion_tokens", "output_tokens"},
	{"cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"}, {"reasoning_tokens"},
}

func usageUndecided(data []byte) bool {
	for _, names := range usageNames {
		n := 0
		for _, name := range names {
			n += bytes.Count(data, []byte(`"`+name+`"`))
		}
		if n > 1 {
			return true
		}
	}
	var v any
	if json.Unmarshal(data, &v) == nil && beyondUsage(v, false) {
		return true
	}
	return bytes.Contains(data, []byte(`\u`)) && bytes.Contains(data, []byte("usage"))
}

func compareChunk(t *testing.T, data []byte) {
	t.Helper()
	got, ok := byScan(data)
	if want := json.Valid(data); ok != want {
		t.Fatalf("%q: read %v, encoding/json %v", data, ok, want)
	}
	if !ok || ambiguous(data) {
		return
	}
	want := byJSON(data)
	if want.Usage.Total == timeline.Some(int64(-1)) || usageUndecided(data) {
		got.Usage, want.Usage = timeline.Usage{}, timeline.Usage{}
	}
	for i := range want.Choices {
		if strings.Contains(want.Text, "\x00") && i < len(got.Choices) {
			got.Choices[i].Bytes, want.Choices[i].Bytes = 0, 0
		}
	}
	if len(got.Text) == len(want.Text) || strings.Contains(want.Text, "\x00") {
		got.Text, want.Text = "", "" // pieces come in the order of the source
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %+v\nwant %+v", data, got, want)
	}
}

var chunkSamples = []string{
	`{"error":{"message":"worker died","code":500}}`,
	`{"choices":[{"index":0,"delta":{"reasoning_content":{"redactedContent":"EmwK"}}}]}`,
	`{"choices":[{"index":0,"delta":{"content_blocks":[{"index":0,"delta":{"thinking":"hm"}}]}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"hi","content_blocks":[{"index":1,"delta":{"text":"hi"}}]}}]}`,
	`{"choices":[{"index":0,"delta":{"content_blocks":[{"index":0,"delta":{"data":"EmwK"}}]}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"get","arguments":"{\"content\":\"x\"}"}}]}}]}`,
	`{"choices":[{"delta":{"content":null,"reasoning":"th","refusal":"no"},"logprobs":{"content":[{"token":"a","top_logprobs":[{"token":"b"}]},{}]}}]}`,
	`{"choices":[{"index":1,"text":"caf\u00e9","finish_reason":"stop","token_ids":[1,2]},{"index":0,"text":""}],"timings":{"prompt_ms":1.5}}`,
	`{"choices":null,"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":null}}`,
	`{"x_groq":{"id":"r","usage":{"prompt_tokens":5,"queue_time":0.5}},"prompt_progress":{"total":3}}`,
	`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}],"audio":{"data":"x"}}}]}`,
	`{"choices":[{"delta":{"content":{"":""}}}]}`, `{"choices":[{"delta":{"content":{"title":"T","text":"a"}}}]}`, `{"choices":[{"delta":{"content":{"type":"text","text":"a","n":1}}}]}`,
	`{"object":"error","message":"m"}`, `{"error":null}`, `{"error":{}}`, `{"error":""}`, `{"error":false}`, `{"error":[]}`,
	`{"cho\u0069ces":[{"delta":{"content":"\ud83d\ude00"}}]}`, `{"choices":[{"message":{"function_call":{"arguments":{"a":1}}}}]}`,
	`{"choices":[1,null,{"delta":7,"index":"x"}]}`, `[{"choices":[]}]`, `7`,
}

func TestChunksMeanWhatEncodingJSONReads(t *testing.T) {
	for _, in := range chunkSamples {
		compareChunk(t, []byte(in))
	}
	for _, c := range typicalChunks {
		compareChunk(t, []byte(c.chunk))
	}
}

func FuzzOpenAIChunk(f *testing.F) {
	for _, in := range chunkSamples {
		f.Add([]byte(in))
	}
	for _, c := range typicalChunks {
		f.Add([]byte(c.chunk))
	}
	f.Fuzz(compareChunk)
}

// A token without text comes from vLLM as {"content":""}, also beside the finish reason
// (its client, endpoint_request_func.py, _choice_has_streamed_output, asks for just that);
// OpenAI and llama.cpp send {}, and Ollama an empty content with a role.
func TestAnEmptyContentBesideTheFinishReason(t *testing.T) {
	for delta, want := range map[string]string{
		`{"content":""}`:                    "text empty finish",
		`{"role":"assistant","content":""}`: "text finish",
		`{"content":"","role":null}`:        "text finish",
		`{"content":null}`:                  "text finish",
		`{}`:                                "text finish",
		`{"content":"b"}`:                   "text text",
	} {
		body := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":\"stop\"}]}\n\n"
		tl := reply(OpenAIChat, "text/event-stream", body, timeline.EOF)
		if got := kinds(tl); got != want || tl.Outcome != timeline.OK {
			t.Errorf("%s: %s, %s, want %s", delta, got, tl.Outcome, want)
		}
	}
}
