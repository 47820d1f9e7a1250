//go:build linux

package main

import (
	"math"
	"time"
)

// load is what every client is asked to do: requests at a constant rate, such
// that on average the given number of streams is open and their tokens do not
// come in lock step.
type load struct {
	Streams  int           `json:"streams"`
	Tokens   int           `json:"tokens"`   // of a reply
	First    time.Duration `json:"first_ns"` // request to first token, by the server
	Gap      time.Duration `json:"gap_ns"`   // between two tokens, by the server
	Requests int           `json:"requests"` // measured ones
}

const (
	firstToken = 50 * time.Millisecond
	spread     = 2 * time.Second // the length of a reply to aim at: starts are spread over it
)

// newLoad takes the asked gap, or a longer one where all streams together would
// bring more than most tokens a second. Replies then have fewer tokens.
func newLoad(streams int, gap, length time.Duration, most float64) load {
	l := load{Streams: streams, First: firstToken, Gap: gap}
	if most > 0 {
		l.Gap = max(gap, time.Duration(float64(streams)/most*float64(time.Second)))
	}
	l.Tokens = min(max(int(math.Round(float64(spread-firstToken)/float64(l.Gap)))+1, 20), 1000)
	spans := max(math.Ceil(length.Seconds()/l.reply().Seconds()), 3)
	l.Requests = int(spans) * streams
	return l
}

// reply is how long the server takes for one.
func (l load) reply() time.Duration {
	return l.First + time.Duration(l.Tokens-1)*l.Gap
}

// rate is requests a second.
func (l load) rate() float64 { return float64(l.Streams) / l.reply().Seconds() }

// cap is a number of connections that never binds.
func (l load) cap() int { return l.Streams*5/4 + 8 }

// length is how long the measured requests take to start.
func (l load) length() time.Duration {
	return time.Duration(float64(l.Requests) / l.rate() * float64(time.Second))
}
