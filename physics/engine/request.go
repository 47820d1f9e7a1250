package engine

import "time"

// Request is one request by its lengths. A request must not be used twice.
type Request struct {
	Arrival      time.Duration
	PromptTokens int // 1 or more
	OutputTokens int // 1 or more
	Beams        int // width of a beam search; 0 or 1: none

	// Blocks names the full blocks of the prompt, and after them those of the
	// output if they are known: each name stands for a block and all before it,
	// so that equal names mean equal prefixes. Nil: nothing is shared.
	Blocks []uint64

	Tag any // the caller's own

	// What happened; −1 or 0 until then.
	Start     time.Duration // first step that worked on it
	First     time.Duration // first token
	End       time.Duration // last token, or when it was cancelled
	Cached    int           // prompt tokens found in the cache when it started
	Preempted int           // times it lost its place
	Made      int           // tokens made
	Instance  int           // where it ran last

	s seq
}

// TTFT is the time from arrival to the first token; −1 if it made none.
func (r *Request) TTFT() time.Duration {
	if r.First < 0 {
		return -1
	}
	return r.First - r.Arrival
}

// E2E is the time from arrival to the last token; −1 while it runs.
func (r *Request) E2E() time.Duration {
	if r.End < 0 {
		return -1
	}
	return r.End - r.Arrival
}

// TPOT is the mean time of a token after the first; −1 without a second one.
func (r *Request) TPOT() time.Duration {
	if r.End < 0 || r.Made < 2 {
		return -1
	}
	return (r.End - r.First) / time.Duration(r.Made-1)
}

func (r *Request) width() int { return max(r.Beams, 1) }

type state uint8

const (
	fresh state = iota
	waiting
	running
	moving // its cache is on the way to another instance
	gone
)

// seq is a request's state in the scheduler.
type seq struct {
	state    state
	computed int // tokens whose cache exists
	total    int // prompt and output tokens known
	blocks   []int32
	named    int  // of blocks, how many are named in the prefix cache
	planned  int  // positions of the step under way
	drafted  int  // of those, speculative ones
	cancel   bool // leave at the end of the step
	made     int  // tokens not yet told, of a beam search
}

// Kind is what an event tells.
type Kind uint8

// The kinds of event.
const (
	Started   Kind = iota // the first step that works on the request begins
	Tokens                // tokens are there
	Preempted             // the request lost its place
	Moved                 // its cache reached another instance
	Cancelled             // it is gone before its end
)

// Event is something that happened to a request.
type Event struct {
	At       time.Duration
	Kind     Kind
	Request  *Request
	Tokens   int  // made, of Tokens
	Last     bool // the request is done
	Batch    int  // sequences in the step
	Instance int
}
