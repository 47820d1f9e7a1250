package timeline

import (
	"encoding/json"
	"fmt"
	"math/bits"
)

// FlagSet is a set of flags of a record.
type FlagSet uint32

// The flags. Those marked (metric) are derived from the timeline by package
// metric; the others are set while the response is read.
const (
	Burst              FlagSet = 1 << iota // (metric) all generation events at once
	CoalescedBursts                        // (metric) bursts with long pauses between
	Coalesced                              // (metric) a read held two or more generation events
	MultiTokenChunks                       // (metric) 1.5 or more tokens a chunk
	Estimated                              // (metric) the token count is a tokenizer's or the chunk count
	TokenCountMismatch                     // (metric) text and token count cannot both be right; set before where a file has the text
	HiddenReasoning                        // (metric) tokens were spent that never appeared in the stream; set before where nobody counts them
	UsageInconsistent                      // (metric) total is not input + output
	NoAnswer                               // (metric) only reasoning came
	PrefixCacheActive                      // (metric) usage counts cached prompt tokens
	MalformedEvent                         // the data of an event was no JSON; it was skipped
	NoDone                                 // the finish reason came, the terminator did not
	DirtyClose                             // complete, but the connection ended without the terminal chunk
	NonStreaming                           // one body: only E2E is known
	StreamIgnored                          // the same although a stream was asked for
	Compressed                             // the body had a content encoding
	ClockStep                              // the wall clock moved during the request
	ArrivalsCapped                         // not every arrival was kept
	NoFinish                               // the terminator came, no finish reason did
	LeftOpen                               // complete, and the server left the body open: we ended it
	WrongContentType                       // a stream, or a whole reply, under a content type of neither
	RepeatedText                           // the last delta said the whole text again; it is no token
	ReasoningSummary                       // usage counts reasoning of which a summary was streamed
	InlineReasoning                        // reasoning came in the text of the answer, between marks at its head
	UnreadText                             // text that may have been generated stands under a name that no reader knows
)

var flagNames = [...]string{
	"burst", "coalesced_bursts", "coalesced", "multi_token_chunks", "estimated",
	"token_count_mismatch", "hidden_reasoning", "usage_inconsistent",
	"no_answer", "prefix_cache_active", "malformed_event", "no_done",
	"dirty_close", "non_streaming", "stream_ignored", "compressed",
	"clock_step", "arrivals_capped",
	"no_finish_reason", "left_open", "wrong_content_type", "repeated_text", "reasoning_summary",
	"inline_reasoning", "unread_text",
}

// Has reports whether every flag of f is set.
func (s FlagSet) Has(f FlagSet) bool { return s&f == f }

// Names lists the flags by name, in a fixed order; empty, not nil, without flags.
func (s FlagSet) Names() []string {
	names := make([]string, 0, bits.OnesCount32(uint32(s)))
	for i, name := range flagNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ParseFlags is the inverse of Names.
func ParseFlags(names []string) (FlagSet, error) {
	var s FlagSet
next:
	for _, name := range names {
		for i, known := range flagNames {
			if name == known {
				s |= 1 << i
				continue next
			}
		}
		return s, fmt.Errorf("unknown flag %q", name)
	}
	return s, nil
}

// MarshalJSON writes the list of names.
func (s FlagSet) MarshalJSON() ([]byte, error) { return json.Marshal(s.Names()) }

// UnmarshalJSON reads the list of names.
func (s *FlagSet) UnmarshalJSON(data []byte) error {
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return err
	}
	var err error
	*s, err = ParseFlags(names)
	return err
}
