// Package workload says what is sent. Item i of a workload is a pure function
// of the seed, the salt and i, so any worker can make any item, in any order,
// and all workers together send exactly what one would have sent.
package workload

import (
	"tokenmeter/api"
	"tokenmeter/timeline"
)

// Item is one request's content.
type Item struct {
	Index    int64
	Messages []api.Message
	// InputTokens is the asked length of the prompt; empty where the text was given.
	InputTokens timeline.Opt[int64]
	// MaxTokens is the output length to ask for; empty leaves it to the server.
	MaxTokens timeline.Opt[int64]
	// Words is the number of words of a made prompt, 0 for a given one.
	Words int
}

// Workload makes items. Implementations are safe for concurrent use.
type Workload interface {
	// Item returns item i. Measured items count from 0; those of the warm-up
	// have negative indices, so that no measured prompt was seen before.
	Item(i int64) Item
	// Unique returns how many different prompts the items −warm … n−1 have.
	Unique(warm, n int64) int64
	// Info describes the workload for the run folder.
	Info() Info
}

// Info is what a run folder says about its workload.
type Info struct {
	Kind         string // prompt | prompts | synthetic
	Source       string // the file's name; empty without one
	InputTokens  string // the asked distribution; empty where the text was given
	OutputTokens string
	Salt         string // empty where it changes nothing
	// UniquePrompts: no prompt is meant to be sent twice.
	UniquePrompts bool
}

// Keys keep the streams of random numbers apart that one seed feeds.
const (
	inputKey  = 0x696e7075746c656e
	outputKey = 0x6f75747075746c65
	textKey   = 0x74657874
)
