package schedule

import (
	"fmt"
	"time"
)

// Closed is a closed loop: each of Concurrency streams sends its next request
// when the one before has ended. When requests are due is the server's doing.
type Closed struct {
	Concurrency int
	Requests    int64         // bound; 0: none
	Duration    time.Duration // bound: nothing is sent from then on; 0: none
}

// Check returns what is wrong with the settings, naming the flag to mend.
func (c Closed) Check() error {
	switch {
	case c.Concurrency < 1:
		return fmt.Errorf("concurrency %d: want at least 1 (--concurrency)", c.Concurrency)
	case c.Concurrency > 1_000_000:
		return fmt.Errorf("concurrency %d: at most 1000000 (--concurrency)", c.Concurrency)
	case c.Requests < 0:
		return fmt.Errorf("requests %d: want a positive number (--requests)", c.Requests)
	case c.Duration < 0:
		return fmt.Errorf("duration %v: want a positive time (--duration)", c.Duration)
	}
	return nil
}

// For returns a worker's part: its number of streams, and the ordinals they
// send. Workers beyond the number of streams get neither, so that no request is
// left without a stream.
func (c Closed) For(s Share) (streams int, ordinals Share) {
	of := max(min(s.Of, c.Concurrency), 1)
	if s.Worker >= of {
		return 0, s
	}
	ordinals = Share{Worker: s.Worker, Of: of}
	return int(ordinals.Count(int64(c.Concurrency))), ordinals
}
