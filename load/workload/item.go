package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tokenmeter/load/answer"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// Item is what one arrival brings: a request, the turns of a conversation, the
// steps of a task, or the segments of a medium.
type Item struct {
	Index int64
	Step         // the first, and mostly the only one
	More  []Step // the others
	Kind  Kind
	Class string // of a mix; empty without one
	// Live: what the server answers becomes part of the conversation. Else the
	// steps' own Answer does, so that every run sends the same.
	Live bool
	Err  error // why there is no such item
}

// Kind is what the steps of an item are to each other.
type Kind uint8

// The kinds of items.
const (
	Request      Kind = iota
	Conversation      // turns, one after another
	Task              // steps of an agent, each when those it needs have ended
	Segments          // of a medium that is played: due at their own times, sent one by one
	Session           // recorded requests of an agent and its sub-agents: due when those they need have ended, and the recorded gap is over
)

// Step is one request of an item.
type Step struct {
	// Messages are what this step adds to the conversation that it goes on with.
	Messages []api.Message
	// Print tells prompts of a file apart: equal ones have the same. 0: it is of none.
	Print uint64
	// Make makes Messages when they are wanted, for conversations that are too
	// long to be held; nil: they are there. Last says whether this is the step that
	// is sent, not one that a later one goes on with.
	Make func(last bool) []api.Message
	// Replays: Messages begin with the recorded answer of the step that this one
	// continues. A live item has the server's answer there.
	Replays bool
	// InputTokens is the asked length of all that is sent; empty where the text
	// was given or depends on answers.
	InputTokens timeline.Opt[int64]
	// Reusable is how much of that earlier steps of a recorded session had; empty
	// where it depends on answers.
	Reusable timeline.Opt[int64]
	// MaxTokens is the output length to ask for; empty leaves it to the server.
	MaxTokens timeline.Opt[int64]
	// Units are the words (or a tokenizer's tokens) of a made prompt, where a
	// calibration can learn from it: else 0.
	Units  int
	Corpus string // that the units are of

	Name     string                      // of a task's step
	Agent    string                      // of a session, whose step it is; empty: the session's own
	Turn     int                         // of the agent's steps the how-manieth, from 0
	AgentNo  int                         // 0: the session's own
	ParentNo int                         // the agent that began it; of the session's own 0
	After    []int                       // steps that must have ended without failing; nil: none
	Wait     time.Duration               // after the last of them: thinking, or a tool's work
	At       timeline.Opt[time.Duration] // due so long after the item was, whatever went before
	Continue timeline.Opt[int]           // the step whose conversation goes on; empty: a new one
	Answer   string                      // the assistant's part of this step in a recorded history
	Calls    []api.ToolCall              // and the tools that it calls there

	Model string         // empty: the run's
	Extra map[string]any // further fields of the request; shared, not to be changed
	Check *answer.Check  // nil: any answer is right

	// LeaveAfter and LeaveTokens say when the client hangs up: so long after the
	// request was due, or once so many events of text came; 0: not.
	LeaveAfter  time.Duration
	LeaveTokens int64
	// ReadRate is how many bytes a second a slow reader takes; 0: all there are.
	ReadRate int64
}

// fill gives an item its steps.
func (it *Item) fill(steps []Step) { it.Step, it.More = steps[0], steps[1:] }

// Len is the number of steps.
func (it *Item) Len() int { return 1 + len(it.More) }

// Nth returns step k, from 0.
func (it *Item) Nth(k int) *Step {
	if k == 0 {
		return &it.Step
	}
	return &it.More[k-1]
}

// noAnswer stands for a live answer without words, as of reasoning alone: Anthropic,
// Bedrock, DeepSeek and vLLM with Mistral's tokenizers refuse a message without content
// (vllm-project/vllm#21089, vercel/ai#18452, anomalyco/opencode#38778), and without any
// the roles would not alternate.
const noAnswer = "(no answer)"

// Conversation returns all messages that step k sends. answers gives what the
// server said in an earlier step; it is asked only where the item is live.
func (it *Item) Conversation(k int, answers func(step int) string) []api.Message {
	s := it.Nth(k)
	if !s.Continue.OK() && len(s.After) == 0 {
		return s.messages(true)
	}
	answer := func(j int) string {
		if it.Live {
			return answers(j)
		}
		return it.Nth(j).Answer
	}
	line := it.line(k)
	var out []api.Message
	for n, j := range line {
		s := it.Nth(j)
		if n > 0 && (it.Live || !s.Replays) {
			base := line[n-1]
			said := api.Message{Role: "assistant", Content: answer(base)}
			if !it.Live {
				said.ToolCalls = it.Nth(base).Calls
			} else if said.Content == "" {
				said.Content = noAnswer
			}
			out = append(out, said)
		}
		var results []string
		if it.Kind == Task {
			for _, i := range s.After {
				if !slices.Contains(line[:n], i) {
					results = append(results, fmt.Sprintf("Result of %s:\n%s", it.Nth(i).Name, answer(i)))
				}
			}
		}
		if len(results) > 0 {
			out = append(out, api.Message{Role: "user", Content: strings.Join(results, "\n\n")})
		}
		messages := s.messages(n == len(line)-1)
		if it.Live && s.Replays && len(messages) > 0 && messages[0].Role == "assistant" {
			messages = messages[1:]
		}
		out = append(out, messages...)
	}
	return merge(out)
}

// line lists the steps whose conversation goes on in step k, the first one first,
// and k.
func (it *Item) line(k int) []int {
	line := []int{k}
	for {
		base, continues := it.Nth(k).Continue.Get()
		if !continues {
			slices.Reverse(line)
			return line
		}
		k = base
		line = append(line, k)
	}
}

func (st *Step) messages(last bool) []api.Message {
	if st.Make != nil {
		return st.Make(last)
	}
	return st.Messages
}

// merge joins messages of one role in a row: many chat templates want roles to
// alternate.
func merge(in []api.Message) []api.Message {
	for i := 1; i < len(in); i++ {
		if !joins(&in[i-1], &in[i]) {
			continue
		}
		out := append([]api.Message{}, in[:i]...)
		for _, m := range in[i:] {
			last := &out[len(out)-1]
			if joins(last, &m) {
				last.Content += "\n\n" + m.Content
				last.Images = append(last.Images[:len(last.Images):len(last.Images)], m.Images...)
				continue
			}
			out = append(out, m)
		}
		return out
	}
	return in
}

// joins reports whether two messages in a row become one. Results of tools stand
// for themselves, and so do calls.
func joins(a, b *api.Message) bool {
	return a.Role == b.Role && a.Role != "system" && a.Role != "tool" && len(a.ToolCalls)+len(b.ToolCalls) == 0
}
