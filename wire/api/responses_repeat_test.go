package api

import (
	"fmt"
	"strings"
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
		// As vLLM's pull requests 23927 and 31761 show it: an item is done under the next index.
		"vLLM: done under the next index": {[]string{`{"type":"response.reasoning_text.delta","item_id":"msg_b9","output_index":7,"delta":"977"}`, `{"type":"response.reasoning_text.delta","item_id":"msg_b9","output_index":7,"delta":"966"}`,
			`{"type":"response.reasoning_text.done","item_id":"msg_b9","output_index":8,"text":"977966"}`, `{"type":"response.reasoning_part.done","output_index":8,"part":{"type":"reasoning_text","text":"977966"}}`,
			`{"type":"response.output_item.done","output_index":8,"item":{"type":"reasoning","content":[{"type":"reasoning_text","text":"977966"}]}}`,
			delta(`"output_index":8,`, "he"), delta(`"output_index":8,`, "llo"), `{"type":"response.output_text.done","output_index":9,"text":"hello"}`, `{"type":"response.content_part.done","output_index":9,"part":{"type":"output_text","text":"hello"}}`}, 4, "hello"},
		"vLLM: code done under the next index": {[]string{`{"type":"response.code_interpreter_call_code.delta","item_id":"","output_index":3,"delta":"645"}`, `{"type":"response.code_interpreter_call_code.delta","item_id":"","output_index":3,"delta":"48"}`,
			`{"type":"response.code_interpreter_call_code.done","item_id":"","output_index":4,"code":"64548"}`, `{"type":"response.output_item.done","output_index":4,"item":{"type":"code_interpreter_call","code":"64548","outputs":null}}`, delta(`"output_index":5,`, "hello")}, 3, "hello"},
		"a second text of other length, whole": {[]string{delta(`"output_index":0,`, "hello"), textDone, `{"type":"response.output_text.done","output_index":1,"text":"hello"}`}, 2, "hellohello"},
		// https://openrouter.ai/docs/api_reference/responses/basic-usage.md
		"OpenRouter: parts in deltas": {[]string{`{"type":"response.content_part.delta","output_index":0,"content_index":0,"delta":"he"}`, `{"type":"response.content_part.delta","output_index":0,"content_index":0,"delta":"llo"}`, itemDone}, 2, "hello"},
		"deltas that are objects":     {[]string{`{"type":"response.content_part.delta","output_index":0,"delta":{"type":"output_text","text":"he"}}`, `{"type":"response.output_text.delta","output_index":0,"delta":{"text":"llo"}}`, textDone}, 2, "hello"},
		"a signature":                 {[]string{`{"type":"response.reasoning_signature.delta","output_index":0,"delta":"sig"}`, delta(`"output_index":1,`, "hello")}, 1, "hello"},
		"types to come": {[]string{`{"type":"response.thinking_text.delta","output_index":0,"delta":"hm"}`, `{"type":"response.browser_call_script.delta","output_index":1,"delta":"go"}`,
			`{"type":"response.browser_call_output.delta","output_index":1,"delta":"a page"}`, `{"type":"response.output_text.annotation.delta","output_index":2,"delta":"x"}`, `{"type":"response.output_markdown.delta","output_index":2,"delta":"hello"}`}, 3, "hello"},
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

// A picture that comes without parts of it stands in the item that is done; it is the
// answer. What came in parts is not counted again.
func TestResponsesPictures(t *testing.T) {
	const (
		added     = `{"type":"response.output_item.added","output_index":0,"item":{"id":"ig_1","type":"image_generation_call","status":"in_progress"}}`
		partial   = `{"type":"response.image_generation_call.partial_image","output_index":0,"partial_image_index":0,"partial_image_b64":"iVBO"}`
		done      = `{"type":"response.output_item.done","output_index":0,"item":{"id":"ig_1","type":"image_generation_call","status":"completed","result":"iVBORw0K","revised_prompt":"a cat"}}`
		completed = `{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":5,"output_tokens":3}}}`
		whole     = `{"object":"response","status":"completed","output":[{"type":"image_generation_call","status":"completed","result":"iVBORw0K"}],"usage":{"input_tokens":5,"output_tokens":3}}`
	)
	for name, c := range map[string]struct {
		kind, body, want string
	}{
		"whole":        {"text/event-stream", typed(added, done, completed), "ok empty media finish"},
		"in parts too": {"text/event-stream", typed(added, partial, done, completed), "ok empty media empty finish"},
		"no stream":    {"application/json", whole, "ok media"},
		"none":         {"text/event-stream", typed(added, completed), "empty_output empty finish"},
	} {
		tl := reply(OpenAIResponses, c.kind, c.body, timeline.EOF)
		if got := string(tl.Outcome) + " " + kinds(tl); got != c.want || tl.Text != "" {
			t.Errorf("%s: %s %q, want %s", name, got, tl.Text, c.want)
		}
	}
}

// What a model asks OpenAI's own tools for comes without deltas, in the item that is
// done, and is the whole answer (a recorded reply of gpt-5-codex is the first). What a
// tool gave was not generated, nor is a call counted again whose deltas came.
func TestResponsesCallsOfTools(t *testing.T) {
	const (
		shell   = `{"type":"local_shell_call","status":"completed","action":{"type":"exec","command":["ls","-a","~"],"env":{}},"call_id":"call_h3"}`
		search  = `{"type":"tool_search_call","status":"completed","arguments":{"goal":"find the weather"},"call_id":"c","execution":"client"}`
		program = `{"type":"program","call_id":"c","code":"text(1)"}`
		gave    = `{"type":"program_output","call_id":"c","result":"{\"a\":1}","status":"completed"}`
		message = `{"type":"message","content":[{"type":"output_text","text":"hello"}]}`
		hosted  = `{"type":"shell_call","status":"completed","action":{"commands":["ls -l"]}}`
		web     = `{"type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}`
	)
	command := []string{`{"type":"response.shell_call_command.delta","output_index":0,"command_index":0,"delta":"ls"}`, `{"type":"response.shell_call_command.delta","output_index":0,"command_index":0,"delta":" -l"}`,
		`{"type":"response.shell_call_command.done","output_index":0,"command_index":0,"command":"ls -l"}`}
	for name, c := range map[string]struct {
		deltas []string
		items  []string
		want   string // of a stream
		whole  string // the same not streamed
	}{
		"a local shell":           {nil, []string{shell}, "ok tool finish", "ok tool"},
		"a click":                 {nil, []string{`{"type":"computer_call","status":"completed","action":{"type":"click","x":156,"y":50}}`}, "ok tool finish", "ok tool"},
		"clicks":                  {nil, []string{`{"type":"computer_call","actions":[{"type":"screenshot"}]}`}, "ok tool finish", "ok tool"},
		"a file deleted":          {nil, []string{`{"operation":{"type":"delete_file","path":"old.txt"},"type":"apply_patch_call"}`}, "ok tool finish", "ok tool"},
		"a tool looked for":       {nil, []string{search}, "ok tool finish", "ok tool"},
		"a program":               {nil, []string{program}, "ok tool finish", "ok tool"},
		"a program and its words": {nil, []string{program, gave, message}, "ok tool empty text finish", "ok text"},
		"a shell in deltas":       {command, []string{hosted}, "ok tool tool empty empty finish", "ok tool"},
		"code that ran":           {nil, []string{`{"type":"code_interpreter_call","code":"1+1","outputs":[]}`}, "ok tool finish", "ok tool"},
		"a search, then words":    {nil, []string{web, message}, "ok empty text finish", "ok text"},
		"nothing but thoughts":    {nil, []string{`{"type":"reasoning","summary":[]}`}, "empty_output empty finish", "empty_output finish"},
		"a call without a wish":   {nil, []string{`{"type":"local_shell_call","action":null}`}, "empty_output empty finish", "empty_output finish"},
	} {
		events := c.deltas
		for i, item := range c.items {
			events = append(events, fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, item))
		}
		body := `"status":"completed","output":[` + strings.Join(c.items, ",") + `],"usage":{"input_tokens":407,"output_tokens":151}}`
		events = append(events, `{"type":"response.completed","response":{`+body+`}`)
		tl := reply(OpenAIResponses, "text/event-stream", typed(events...), timeline.EOF)
		if got := string(tl.Outcome) + " " + kinds(tl); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		tl = reply(OpenAIResponses, "application/json", `{"object":"response",`+body, timeline.EOF)
		if got := string(tl.Outcome) + " " + kinds(tl); got != c.whole {
			t.Errorf("%s, whole: %s, want %s", name, got, c.whole)
		}
	}
}
