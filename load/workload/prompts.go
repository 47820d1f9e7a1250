package workload

import "tokenmeter/wire/api"

// Given sends one given prompt, as it is.
type Given struct {
	messages []api.Message
	output   Lengths
	seed     uint64
}

// NewGiven returns a workload of a prompt that the user says. A non-zero output
// sets the length of the answers.
func NewGiven(prompt string, output Lengths, seed uint64) *Given {
	return &Given{messages: user(prompt), output: output, seed: seed}
}

// Item implements Workload.
func (g *Given) Item(i int64) Item {
	return Item{Index: i, Step: Step{Messages: g.messages, MaxTokens: outputLength(g.output, g.seed, i)}}
}

// Unique implements Workload.
func (g *Given) Unique(warm, n int64) int64 { return min(warm+n, 1) }

// Info implements Workload.
func (g *Given) Info() Info { return Info{Kind: "prompt", OutputTokens: g.output.String()} }
