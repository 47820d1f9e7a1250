package api

import (
	"fmt"
	"testing"

	"tokenmeter/record/timeline"
)

// A usage that comes with the end of a choice covers that one, or all so far, by server:
// one of fewer tokens than events have come can't be of all. Two choices of three and
// two tokens behind a prompt of 22 have five.
func TestUsageWithTheEndOfEachChoice(t *testing.T) {
	text := func(choice int) string {
		return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"content":"a"}}]}`, choice)
	}
	end := func(choice, output int) string {
		return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":22,"completion_tokens":%d,"total_tokens":%d}}`, choice, output, 22+output)
	}
	const all = `{"choices":[],"usage":{"prompt_tokens":22,"completion_tokens":5,"total_tokens":27}}`
	for name, chunks := range map[string][]string{
		"of each":                      {text(0), text(1), text(0), text(1), end(1, 2), text(0), end(0, 3)},
		"of each, one after the other": {text(0), text(0), text(0), end(0, 3), text(1), text(1), end(1, 2)},
		"of each, and of all":          {text(0), text(1), text(0), text(1), end(1, 2), text(0), end(0, 3), all},
		"of all so far":                {text(0), text(1), text(0), text(1), end(1, 4), text(0), end(0, 5)},
		"of all, ended in one step":    {text(0), text(1), text(0), text(1), text(0), end(1, 5), end(0, 5)},
	} {
		tl := reply(OpenAIChat, "text/event-stream", events(append(chunks, "[DONE]")...), timeline.EOF)
		if got, want := jsonOf(tl.Usage), `{"input":22,"output":5,"total":27}`; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// An index that counts chunks is no choice, from whatever number it begins and whatever
// chunks it counts; one that is the same throughout is one choice; several that take turns
// are several.
func TestIndexesOfChunks(t *testing.T) {
	for name, c := range map[string]struct {
		indexes []int // of the chunks, the last of which has the finish reason
		choices int
	}{
		"from 0":                {[]int{0, 1, 2, 3}, 1},
		"from 1":                {[]int{1, 2, 3, 4}, 1},
		"behind that of a role": {[]int{2, 3, 4, 5}, 1},
		"with chunks left out":  {[]int{1, 2, 5, 9}, 1},
		"of one choice from 1":  {[]int{1, 1, 1, 1}, 1},
		"of two choices":        {[]int{0, 1, 0, 1}, 2},
		"of two, from 1":        {[]int{1, 2, 1, 2}, 2},
	} {
		var chunks []string
		for i, index := range c.indexes {
			finish := "null"
			if i == len(c.indexes)-1 {
				finish = `"stop"`
			}
			chunks = append(chunks, fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"content":"a"},"finish_reason":%s}],"usage":{"prompt_tokens":9,"completion_tokens":%d,"total_tokens":%d}}`, index, finish, i+1, i+10))
		}
		tl := reply(OpenAIChat, "text/event-stream", events(append(chunks, "[DONE]")...), timeline.EOF)
		seen := map[int]bool{}
		for ev := range tl.Events.Generation() {
			seen[ev.Choice] = true
		}
		if len(seen) != c.choices || tl.Outcome != timeline.OK || tl.Usage.Output.Or(0) != 4 {
			t.Errorf("%s: %d choices, %s (%v), %v", name, len(seen), tl.Outcome, tl.Error, tl.Usage.Output)
		}
	}
}
