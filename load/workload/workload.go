// Package workload says what is sent. Item i of a workload is a pure function
// of the seed, the salt and i, so any worker can make any item, in any order,
// and all workers together send exactly what one would have sent.
package workload

import "time"

// Workload makes items. Implementations are safe for concurrent use.
type Workload interface {
	// Item returns item i. Measured items count from 0; those of the warm-up
	// have negative indices, so that no measured prompt was seen before. An item
	// that can't be made says why in Err.
	Item(i int64) Item
	// Unique returns how many different prompts the items −warm … n−1 have.
	Unique(warm, n int64) int64
	// Info describes the workload for the run folder.
	Info() Info
}

// Repeating is a workload of which only the sending shows how many prompts were
// the same.
type Repeating interface {
	// Several reports whether that is so: there are files, or items of several
	// requests.
	Several() bool
}

// Calibrated is a workload that makes texts whose lengths rest on how the
// server counts, corpus by corpus.
type Calibrated interface {
	// Calibrate sets it for the items that are made from now on. Once per run,
	// before the first measured item: an item depends on it.
	Calibrate(corpus string, c Calibration)
	// Corpora lists what its texts are made of.
	Corpora() []string
	// Exact reports whether the lengths of a corpus are a known tokenizer's.
	Exact(corpus string) bool
	// Probe makes a request of a corpus that is so many units long, whatever
	// the workload's lengths are. Its number is that of an item.
	Probe(corpus string, i int64, units int) Item
}

// Info is what a run folder says about its workload.
type Info struct {
	Kind         string // prompt | prompts | synthetic | conversation | task | segments | mix | a file format
	Name         string // of a workload file or scenario; empty without one
	Source       string // the file's name; empty without one
	InputTokens  string // the asked distribution; empty where the text was given
	OutputTokens string
	Batch        string // of texts in a request, the asked distribution; empty: 1
	Salt         string // empty where it changes nothing
	// Made: every prompt is made, none the user's own words.
	Made bool
	// UniquePrompts: no prompt is meant to be sent twice.
	UniquePrompts bool
	// SharedPrefix: prompts are meant to begin alike.
	SharedPrefix bool
	// SegmentS is the length of a media segment in seconds; 0: none.
	SegmentS float64
	// Deadline is how long a task may take to be a success; 0: as long as it likes.
	Deadline time.Duration
	// Users are those who hang up or read slowly, in words, of a mix by class; empty: nobody does.
	Users string
	// Classes are the names of a mix.
	Classes []string
}

// Keys keep the streams of random numbers apart that one seed feeds.
const (
	inputKey  = 0x696e7075746c656e
	outputKey = 0x6f75747075746c65
	textKey   = 0x74657874
)
