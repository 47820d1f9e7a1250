// Package trace makes of live requests what is needed to play them again: when
// each came, how long prompt and answer were, which conversation it went on with,
// and what of its prompt others had. Contents are not in it: equal pieces of prompts
// have equal hashes, which without the key tell nothing else.
package trace

import (
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// Line is a request in a file of them, one JSON object a line.
type Line struct {
	At      time.Time             `json:"at"`                // when it was here
	Session string                `json:"session,omitempty"` // the conversation, as an HMAC
	Parent  string                `json:"parent,omitempty"`  // the conversation that began this one, likewise
	Model   string                `json:"model,omitempty"`
	Input   int64                 `json:"in"`  // tokens of the prompt: the server's count, else ours
	Output  int64                 `json:"out"` // and of the answer
	Cached  timeline.Opt[int64]   `json:"cached"`
	TookMS  float64               `json:"took_ms"`
	TTFTMS  timeline.Opt[float64] `json:"ttft_ms"`
	// Hashes are of the prompt's whole blocks of Block tokens, each of all that
	// comes before it too.
	Hashes []uint64 `json:"hash_ids,omitempty"`
}

// Block is how many tokens a hash stands for.
const Block = 16

// Of is the line of a finished request, without its hashes; false for one that can't be
// played again: a probe's, one of which nothing was answered, and one for speech, a
// transcript and the like.
func Of(r *traffic.Request) (Line, bool) {
	output := r.Record.OutputTokens.Or(0)
	if r.Labels.Source != traffic.Live || output < 1 || timeline.ProductOf(r.Record.API).Lengthless() {
		return Line{}, false
	}
	return Line{At: r.At.UTC(), Session: r.Session, Parent: r.Parent, Model: r.Model, Input: r.Record.InputTokens.Or(0), Output: output,
		Cached: r.Record.CachedTokens, TookMS: r.Record.E2EMS.Or(r.Record.CloseMS.Or(0)), TTFTMS: r.Record.TTFTMS}, true
}

// Fill adds the hashes of the prompt, and its length where the server did not tell it;
// false where nobody knows that.
func (h *Hasher) Fill(line *Line, body []byte) bool {
	hashes, counted := h.Prompt(body)
	if line.Input < 1 {
		line.Input = counted
	}
	// A server counts what its chat template adds, we count what the text has. Where
	// ours are more, the last blocks have no place.
	line.Hashes = hashes[:min(int64(len(hashes)), line.Input/Block)]
	return line.Input > 0
}
