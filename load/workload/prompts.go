package workload

import (
	"hash/maphash"
	"slices"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// Prompt is one given conversation.
type Prompt struct {
	Messages  []api.Message
	MaxTokens timeline.Opt[int64] // asked output length; empty: the workload's
}

// Text returns the prompt that is one message of the user.
func Text(text string) Prompt {
	return Prompt{Messages: []api.Message{{Role: "user", Content: text}}}
}

// Given sends given prompts in turn, as they are.
type Given struct {
	prompts []Prompt
	output  Lengths
	seed    uint64
	info    Info
	// same[i] is the place of the first prompt that equals prompt i.
	same []int
}

// NewGiven returns a workload of at least one given prompt. source names the
// file they came from. A non-zero output sets the length for prompts that have
// none of their own.
func NewGiven(prompts []Prompt, source string, output Lengths, seed uint64) *Given {
	g := &Given{prompts: prompts, output: output, seed: seed,
		info: Info{Kind: "prompts", Source: source, OutputTokens: output.String()}}
	if source == "" && len(prompts) == 1 {
		g.info.Kind = "prompt"
	}
	hashSeed, known := maphash.MakeSeed(), map[uint64][]int{}
	for i, p := range prompts {
		h := maphash.Comparable(hashSeed, len(p.Messages))
		for _, m := range p.Messages {
			h = h*31 + maphash.String(hashSeed, m.Role)
			h = h*31 + maphash.String(hashSeed, m.Content)
		}
		first := i
		if k := slices.IndexFunc(known[h], func(j int) bool { return slices.EqualFunc(prompts[j].Messages, p.Messages, sameText) }); k >= 0 {
			first = known[h][k]
		} else {
			known[h] = append(known[h], i)
		}
		g.same = append(g.same, first)
	}
	return g
}

// Item implements Workload.
func (g *Given) Item(i int64) Item {
	p := g.prompts[g.place(i)]
	item := Item{Index: i, Step: Step{Messages: p.Messages, MaxTokens: p.MaxTokens}}
	if !item.MaxTokens.OK() {
		item.MaxTokens = outputLength(g.output, g.seed, i)
	}
	return item
}

// Unique implements Workload.
func (g *Given) Unique(warm, n int64) int64 {
	all := int64(len(g.prompts))
	from, to := -min(warm, all), min(n, all)
	seen := map[int]bool{}
	for i := from; i < to; i++ {
		seen[g.same[g.place(i)]] = true
	}
	return int64(len(seen))
}

// place is where item i stands in the list.
func (g *Given) place(i int64) int64 {
	n := int64(len(g.prompts))
	return (i%n + n) % n
}

// Info implements Workload.
func (g *Given) Info() Info { return g.info }

func sameText(a, b api.Message) bool { return a.Role == b.Role && a.Content == b.Content }
