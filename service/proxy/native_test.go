package proxy

import (
	"fmt"
	"testing"
	"testing/synctest"

	"tokenmeter/record/timeline"
)

// Clients of an engine's own are measured where they generate: editors at llama.cpp's
// /infill, Hugging Face's at TGI's root.
// Source: https://github.com/ggml-org/llama.cpp/tree/master/tools/server and
// https://huggingface.github.io/text-generation-inference
func TestEnginesOwnClientsAreMeasured(t *testing.T) {
	for _, c := range []struct {
		path, body, kind, reply, api string
		input, output                int64
	}{
		{"/infill", `{"input_prefix":"a","input_suffix":"b","stream":true}`, "text/event-stream",
			"data: {\"content\":\"x\",\"stop\":false}\n\ndata: {\"content\":\"y\",\"stop\":false}\n\ndata: {\"content\":\"\",\"stop\":true,\"tokens_predicted\":2,\"tokens_evaluated\":9}\n\n",
			"llamacpp", 9, 2},
		{"/", `{"inputs":"a","parameters":{"details":true},"stream":true}`, "text/event-stream",
			"data:{\"index\":1,\"token\":{\"id\":1,\"text\":\"x\",\"special\":false},\"generated_text\":null,\"details\":null}\n\n" +
				"data:{\"index\":2,\"token\":{\"id\":2,\"text\":\"y\",\"special\":false},\"generated_text\":\"xy\",\"details\":{\"finish_reason\":\"length\",\"generated_tokens\":2,\"input_length\":5}}\n\n",
			"tgi", 5, 2},
		{"/", `{"inputs":"a","parameters":{"details":true},"stream":false}`, "application/json",
			`[{"generated_text":"xy","details":{"finish_reason":"length","generated_tokens":2,"prefill":[],"tokens":[]}}]`,
			"tgi", -1, 2},
		{"/", `{"inputs":"a"}`, "application/json", `[[0.25,0.5]]`, "", -1, -1}, // TEI
	} {
		synctest.Test(t, func(t *testing.T) {
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n", c.kind, len(c.reply))
			h := open(t, play("0ms "+head+c.reply), nil)
			want(t, "body's end", h.talk(post(c.path, c.body), 0).err, nil)
			h.settled()
			r := h.sink.one(t)
			want(t, "API", r.API, c.api)
			want(t, "outcome", r.Outcome, timeline.OK)
			want(t, "stream ignored", r.Flags&timeline.StreamIgnored, 0)
			want(t, "input", r.Usage.Input.Or(-1), c.input)
			want(t, "output", r.Usage.Output.Or(-1), c.output)
		})
	}
}
