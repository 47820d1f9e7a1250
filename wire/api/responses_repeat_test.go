package api

import (
	"fmt"
	"testing"

	"tokenmeter/record/timeline"
)

// Gateways over the Responses API that send whole texts, in one of the events that
// otherwise repeat: what is new counts, what was there before does not.
func TestResponsesWholeTexts(t *testing.T) {
	const completed = `{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":5,"output_tokens":3}}}`
	delta := func(item, text string) string {
		return `{"type":"response.output_text.delta",` + item + `"delta":"` + text + `"}`
	}
	const (
		textDone = `{"type":"response.output_text.done","output_index":0,"text":"hello"}`
		partDone = `{"type":"response.content_part.done","output_index":0,"part":{"type":"output_text","text":"hello"}}`
		itemDone = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"hello"}]}}`
		call     = `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","name":"f","arguments":""}}`
		argsDone = `{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{\"a\":1}"}`
	)
	for name, c := range map[string]struct {
		events []string
		chunks int
		text   string
	}{
		"the text's end only":             {[]string{textDone}, 1, "hello"},
		"the part's end only":             {[]string{partDone}, 1, "hello"},
		"the item's end only":             {[]string{itemDone}, 1, "hello"},
		"all three":                       {[]string{textDone, partDone, itemDone}, 1, "hello"},
		"deltas, then all three":          {[]string{delta(`"output_index":0,`, "he"), delta(`"output_index":0,`, "llo"), textDone, partDone, itemDone}, 2, "hello"},
		"deltas that name no item":        {[]string{delta("", "he"), delta("", "llo"), textDone, itemDone}, 2, "hello"},
		"ends that name no item":          {[]string{delta(`"output_index":0,`, "hello"), `{"type":"response.output_text.done","text":"hello"}`}, 1, "hello"},
		"arguments whole, text in deltas": {[]string{delta(`"output_index":0,`, "hello"), textDone, call, argsDone}, 3, "hello"},
		"two calls at once": {[]string{call, `{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","name":"g","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"a\":1}"}`, argsDone, `{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{}"}`}, 4, ""},
		"reasoning whole": {[]string{`{"type":"response.reasoning_text.done","output_index":0,"text":"hm"}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","content":[{"type":"reasoning_text","text":"hm"}]}}`,
			`{"type":"response.output_text.delta","output_index":1,"delta":"hello"}`}, 2, "hello"},
		"a shell's command and a patch": {[]string{`{"type":"response.shell_call_command.added","output_index":0,"command_index":0,"command":""}`,
			`{"type":"response.shell_call_command.delta","output_index":0,"command_index":0,"delta":"ls"}`, `{"type":"response.shell_call_command.done","output_index":0,"command_index":0,"command":"ls"}`,
			`{"type":"response.shell_call_output_content.delta","output_index":1,"delta":{"stdout":"a.txt"}}`,
			`{"type":"response.apply_patch_call_operation_diff.delta","output_index":2,"delta":"+a"}`, `{"type":"response.apply_patch_call_operation_diff.done","output_index":2,"diff":"+a"}`, delta(`"output_index":3,`, "hello")}, 3, "hello"},
		"a patch and code whole": {[]string{`{"type":"response.apply_patch_call_operation_diff.done","output_index":0,"diff":"+a"}`, `{"type":"response.code_interpreter_call_code.done","output_index":1,"code":"1+1"}`,
			delta(`"output_index":2,`, "hello")}, 3, "hello"},
		"nothing in them": {[]string{delta(`"output_index":0,`, "hello"), `{"type":"response.output_text.done","output_index":1,"text":""}`, `{"type":"response.output_item.done","output_index":2,"item":{"type":"web_search_call","status":"completed"}}`}, 1, "hello"},
	} {
		tl := reply(OpenAIResponses, "text/event-stream", typed(append(c.events, completed)...), timeline.EOF)
		n := 0
		for range tl.Events.Generation() {
			n++
		}
		if got := fmt.Sprint(tl.Outcome, n, tl.Text); got != fmt.Sprint(timeline.OK, c.chunks, c.text) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
