package sweep

import (
	"context"
	"time"

	"tokenmeter/record/metric"
)

// Subject is what a search loads: a server, or a model of one.
type Subject interface {
	// Probe puts a load on the subject, in requests a second or in streams. It
	// hands over each measured request when its fate is known, in any order but
	// one at a time, and ends when take returns false, when a limit is reached
	// or when ctx is done. Requests that the limit cut off are handed over too,
	// as cancelled_run_end; those that take's refusal cut off are not. It
	// returns when the subject is at rest again, or says that it is not.
	Probe(ctx context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error)
}

// Limit bounds a probe; 0 is no bound.
type Limit struct {
	Requests int64
	Duration time.Duration // for requests to be due in
	// Left tells how much time is left when the first request is about to be sent, as
	// coming to rest takes some; nil: no bound.
	Left func() time.Duration
}

// Seen is a request whose fate is known.
type Seen struct {
	Index  int64   // place in the order of due times, from 0
	DueS   float64 // since the probe began
	EndS   float64 // since the probe began
	Record *metric.Record
}

// Probed is what a subject says of a probe that is over.
type Probed struct {
	Run string // folder of its records; empty without one
	// Late says that the client was too slow to judge the server, and why;
	// empty when it was not. Harsh: that can only have made the server look worse.
	Late  string
	Harsh bool
	// Unsettled says that the server was not at rest before the probe, or that its
	// rest has changed. Busy: it was still at work on what came before, or turned the
	// probe away.
	Unsettled string
	Busy      bool
	Silent    bool // the server answered nothing of it
	// Missed are objectives on a figure of the whole run that it did not meet.
	Missed []string
}
