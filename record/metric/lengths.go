package metric

import (
	"fmt"
	"strings"

	"tokenmeter/record/timeline"
)

// ending is why answers were shorter than asked, told from their finish reasons.
type ending uint8

const (
	byModel ending = iota
	byLimit
	byTool
	byFilter
	unsaid
	nEndings
)

// endingOf reads a finish reason, whatever API it is of.
func endingOf(reason string) ending {
	switch strings.ToLower(reason) {
	case "":
		return unsaid
	case "length", "max_tokens", "max_output_tokens", "limit", "model_length", "model_context_window_exceeded":
		return byLimit
	case "tool_calls", "tool_use", "function_call", "tool_call", "requires_action":
		return byTool
	case "content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "guardrail_intervened", "content_filtered", "spii":
		return byFilter
	}
	return byModel
}

// endings say it in words, each with what to do about it.
var endings = [nEndings]struct{ why, do string }{
	byModel:  {"the model ended them itself", "Give --ignore-eos where the server knows it, or prompts that ask for long answers."},
	byLimit:  {"a limit of the server cut them", "Raise its context or its own cap on answers, or ask for fewer tokens."},
	byTool:   {"they ended in a tool call", "Leave tools out of the prompts where plain answers are meant."},
	byFilter: {"a filter of the server or a refusal cut them", "Use prompts that it lets through."},
	unsaid:   {"the server named no reason", "Give --ignore-eos where the server knows it, and look at an answer with --keep-text."},
}

// shortAnswers counts answers over 5 % shorter than asked.
type shortAnswers struct {
	by      [nEndings]int64
	counted int64 // of these, with their tokens counted as chunks
}

func (s *shortAnswers) add(tl *timeline.Timeline, source TokenSource) {
	s.by[endingOf(tl.FinishReason)]++
	if source == FromChunks {
		s.counted++
	}
}

func (s *shortAnswers) merge(o *shortAnswers) {
	for i := range s.by {
		s.by[i] += o.by[i]
	}
	s.counted += o.counted
}

// words name what made most answers short, and says what to do about it; empty
// where none was.
func (s *shortAnswers) words() (why, do string) {
	var all, most int64
	var first ending
	for e, n := range s.by {
		if all += n; n > most {
			most, first = n, ending(e)
		}
	}
	switch {
	case all == 0:
		return "", ""
	case 2*s.counted > all:
		return "Their tokens are counted as chunks, of which one may hold several.", "Have the server tell its usage, or give its own --tokenizer."
	}
	why = fmt.Sprintf("Of %d short ones, %s in %d by the finish reason.", all, endings[first].why, most)
	if most == all {
		why = fmt.Sprintf("By the finish reason, %s.", endings[first].why)
	}
	return why, endings[first].do
}

// AskedWords say of how many tokens a prompt should be: goal is what the server should
// count, template the part of it that its chat template adds.
func AskedWords(goal, template float64) string {
	words := Significant(goal-template, 4) + " were asked for"
	if template > 0 {
		words += " and the chat template adds " + Significant(template, 3)
	}
	return words
}

// promptWords say why prompts may have other lengths than asked: mean is what the
// server counts, template what it adds to each prompt, where that was measured.
func promptWords(mean, asked, template float64) (why, do string) {
	off := mean - asked
	switch {
	case template > 0 && off > 0 && template >= off/2:
		return fmt.Sprintf("%s tokens of each are the server's chat template, below which no prompt can go.", Significant(template, 3)),
			"Ask for longer prompts, of which the template is a smaller part."
	case off > 0:
		return "The server adds a chat template or a system prompt, or its tokenizer needs more tokens for the same text.", "Give the server's own --tokenizer."
	}
	return "The server cuts prompts at its context length, or its tokenizer needs fewer tokens for the same text.",
		"Look for the server's context length, and give its own --tokenizer."
}
