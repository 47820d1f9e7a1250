package api

import (
	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// saying is what an event carried, over its channels.
type saying struct {
	kinds   uint16 // set of timeline.Kind
	bytes   int64
	thought bool // reasoning under one name was read; the others are its copies

	inThought bool // what is written as content is reasoning
}

func (y *saying) add(kind timeline.Kind, bytes int64) {
	y.kinds |= 1 << kind
	y.bytes += bytes
}

// saidOrder is which kind an event has when it carried several: an answer
// before reasoning, text before anything else.
var saidOrder = [...]timeline.Kind{timeline.Text, timeline.Refusal, timeline.Tool,
	timeline.Media, timeline.Reasoning, timeline.Role}

// kind is what the event is recorded as; Empty when it carried nothing.
func (y *saying) kind() timeline.Kind {
	for _, k := range saidOrder {
		if y.kinds&(1<<k) != 0 {
			return k
		}
	}
	return timeline.Empty
}

// piece is a part of the answer's text.
type piece struct {
	kind   timeline.Kind
	choice int // ordinal within the chunk
	text   jsonscan.Text
}
