package engine

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Config is a server: its hardware by law, and how it schedules.
type Config struct {
	Law Law

	Batching       Batching
	MaxSequences   int // in a batch; 0: no limit
	MaxBatchTokens int // positions in a step; 0: no limit

	// The KV cache. Blocks 0: no limit, and no prefix cache.
	Blocks      int
	BlockTokens int // 0: 16
	PrefixCache bool
	// Window is the model's sliding window, told to the law; 0: none.
	Window int

	Speculation *Speculation

	Instances int    // that take requests in turn; 0: 1
	Split     *Split // prefill and decode on separate instances

	Jitter float64 // σ of the logarithm of a step's time; its mean is unchanged
	Seed   uint64
}

// Batching is how requests are brought together.
type Batching uint8

// The ways of batching.
const (
	// Chunked: every step mixes decoding sequences with pieces of prompts, as
	// many as MaxBatchTokens holds.
	Chunked Batching = iota
	// PrefillFirst: whole prompts go before decoding steps and hold them up.
	PrefillFirst
	// Static: a batch of what waits, and the next begins when all of it is done.
	Static
)

// Speculation is decoding with a draft: Draft tokens are guessed and checked in
// one step; each is right with a chance of Acceptance if all before it were.
type Speculation struct {
	Draft      int
	Acceptance float64
	// Law is the draft's own step, run Draft times; nil: the guess costs nothing.
	Law Law
}

// Split is prefill and decode on separate instances.
type Split struct {
	Prefill int // instances that only prefill; the others of Config.Instances decode
	// The cache of a prompt moves in Latency + PerToken × its tokens.
	Latency  time.Duration
	PerToken time.Duration
}

// BlockSize is the number of tokens in a block of the cache.
func (c Config) BlockSize() int { return cmp.Or(c.BlockTokens, 16) }

func (c Config) withDefaults() Config {
	c.BlockTokens = c.BlockSize()
	c.Instances = max(c.Instances, 1)
	c.MaxSequences = cmp.Or(c.MaxSequences, int(^uint(0)>>1))
	c.MaxBatchTokens = cmp.Or(c.MaxBatchTokens, int(^uint(0)>>1))
	return c
}

// Validate says what is wrong with a configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Law == nil:
		return errors.New("engine: no law: give a Roofline, a Linear or your own")
	case c.MaxSequences < 0 || c.MaxBatchTokens < 0 || c.Blocks < 0 || c.BlockTokens < 0:
		return errors.New("engine: a limit is negative: give 0 for none")
	case c.MaxBatchTokens < c.MaxSequences && c.MaxSequences != int(^uint(0)>>1):
		return fmt.Errorf("engine: %d tokens a step cannot hold %d sequences: raise MaxBatchTokens", c.MaxBatchTokens, c.MaxSequences)
	case c.PrefixCache && c.Blocks == 0:
		return errors.New("engine: a prefix cache needs a number of blocks")
	case !(c.Jitter >= 0 && c.Jitter <= 2):
		return fmt.Errorf("engine: jitter %v is not in 0…2", c.Jitter)
	case c.Batching > Static:
		return errors.New("engine: unknown batching")
	}
	if s := c.Speculation; s != nil && (s.Draft < 1 || !(s.Acceptance >= 0 && s.Acceptance <= 1)) {
		return fmt.Errorf("engine: speculation of %d tokens with acceptance %v: give 1 or more, and a share", s.Draft, s.Acceptance)
	}
	if s := c.Split; s != nil && (s.Prefill < 1 || s.Prefill >= c.Instances) {
		return fmt.Errorf("engine: %d of %d instances prefill: leave at least one of each kind", s.Prefill, c.Instances)
	}
	return nil
}
