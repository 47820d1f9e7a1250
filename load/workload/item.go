package workload

import (
	"fmt"
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
)

// Step is one request of an item.
type Step struct {
	// Messages are what this step adds to the conversation that it goes on with.
	Messages []api.Message
	// InputTokens is the asked length of all that is sent; empty where the text
	// was given or depends on answers.
	InputTokens timeline.Opt[int64]
	// MaxTokens is the output length to ask for; empty leaves it to the server.
	MaxTokens timeline.Opt[int64]
	// Units are the words (or a tokenizer's tokens) of a made prompt, where a
	// calibration can learn from it: else 0.
	Units  int
	Corpus string // that the units are of

	Name     string                      // of a task's step
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

// Len is the number of steps.
func (it *Item) Len() int { return 1 + len(it.More) }

// Nth returns step k, from 0.
func (it *Item) Nth(k int) *Step {
	if k == 0 {
		return &it.Step
	}
	return &it.More[k-1]
}

// Conversation returns all messages that step k sends. answers gives what the
// server said in an earlier step; it is asked only where the item is live.
func (it *Item) Conversation(k int, answers func(step int) string) []api.Message {
	s := it.Nth(k)
	base, continues := s.Continue.Get()
	if !continues && len(s.After) == 0 {
		return s.Messages
	}
	answer := func(j int) string {
		if it.Live {
			return answers(j)
		}
		return it.Nth(j).Answer
	}
	var out []api.Message
	if continues {
		said := api.Message{Role: "assistant", Content: answer(base)}
		if !it.Live {
			said.ToolCalls = it.Nth(base).Calls
		}
		out = append(it.Conversation(base, answers), said)
	}
	var results []string
	if it.Kind == Task {
		for _, j := range s.After {
			if !it.within(j, base, continues) {
				results = append(results, fmt.Sprintf("Result of %s:\n%s", it.Nth(j).Name, answer(j)))
			}
		}
	}
	// A new slice each time: conversations of several steps share their beginning.
	out = out[:len(out):len(out)]
	if len(results) > 0 {
		out = append(out, api.Message{Role: "user", Content: strings.Join(results, "\n\n")})
	}
	return merge(append(out, s.Messages...))
}

// within reports whether step j is part of the conversation that ends in base.
func (it *Item) within(j, base int, continues bool) bool {
	for continues {
		if j == base {
			return true
		}
		base, continues = it.Nth(base).Continue.Get()
	}
	return false
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
