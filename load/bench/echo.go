package bench

import (
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// echoes reports whether a request asks for its prompt in front of the answer, as
// completions can be.
func echoes(extra map[string]any) bool {
	on, _ := extra["echo"].(bool)
	return on
}

// unecho takes the prompt out of an answer that repeats it: it is no output. Where it
// came before the first token, that was no first token either: MLC LLM sends it at once.
// vLLM, SGLang and TensorRT-LLM send it with the first token, and list its tokens among
// the logprobs, though not in usage. An answer that does not begin with the prompt stays
// as it is.
func unecho(req *api.Request, tl *timeline.Timeline) {
	prompt := req.Prompt()
	if !echoes(req.Extra) || prompt == "" || !strings.HasPrefix(tl.Text, prompt) {
		return
	}
	input, known := tl.Usage.Input.Get()
	left := map[int]int64{} // bytes of the prompt that are still to come, by choice
	removed, unsure := int64(0), false
	tl.Events.Amend(func(e *timeline.Event) bool {
		if e.Kind != timeline.Text {
			return true
		}
		rest, begun := left[e.Choice]
		if !begun {
			rest = int64(len(prompt))
		}
		taken := min(rest, e.Bytes)
		left[e.Choice] = rest - taken
		n, told := e.Tokens.Get()
		switch e.Bytes -= taken; {
		case taken == 0:
		case e.Bytes == 0:
			e.Kind, e.Tokens = timeline.Empty, timeline.Opt[int64]{}
			removed += n
		case !told:
		case !known:
			e.Tokens, unsure = timeline.Opt[int64]{}, true
		case n > input:
			e.Tokens = timeline.Some(n - input)
			removed += input
		}
		return true
	})
	tl.Text = strings.Replace(tl.Text, prompt, "", max(len(left), 1)) // of each choice
	switch n, ok := tl.Counted.Get(); {
	case unsure:
		tl.Counted = timeline.Opt[int64]{}
	case ok:
		tl.Counted = timeline.Some(max(n-removed, 0))
	}
}
