package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tokenmeter/physics/engine"
)

// Scheduling is how the engine of a pair departs from what its usual server
// starts with. The zero value departs in nothing.
type Scheduling struct {
	TensorParallel int    // devices that share each layer; 0: as the pair says
	Quantization   string // of the weights, a precision of package engine; empty: as the pair says
	Batching       string // chunked, prefill-first or static; empty: chunked
	MaxSequences   int    // in a batch; 0: the server's
	Speculate      int    // tokens guessed for each step; 0: none
	Acceptance     float64
	Draft          string // model that guesses, on the same devices; empty: the guess costs nothing
	BeamWidth      int    // of each request that asks for none; 0: no search
	Split          string // "2:6": instances that only prefill, and that only decode
}

// Accepted is the chance that a guessed token is right where none was told. It
// makes about 2.8 tokens a step of four guesses, as published drafts do.
const Accepted = 0.7

// PairAs is Pair with another scheduling. The errors name what does not go together.
func PairAs(name string, s Scheduling) (Config, error) {
	d, err := Deployment(name)
	if err != nil {
		return Config{}, err
	}
	if s.TensorParallel < 0 || s.MaxSequences < 0 || s.Speculate < 0 || s.BeamWidth < 0 {
		return Config{}, errors.New("sim: a number of devices, sequences, guesses or beams is negative")
	}
	if s.TensorParallel > mostDevices {
		return Config{}, fmt.Errorf("sim: %d devices cannot share a layer: %d at most", s.TensorParallel, mostDevices)
	}
	if s.TensorParallel > 0 {
		d.Devices = s.TensorParallel
	}
	if s.Quantization != "" {
		d.Weights, d.KV = engine.Precision(s.Quantization), ""
		cacheLikeWeights(&d)
	}
	c, err := deploy(d)
	if err != nil {
		return Config{}, err
	}
	law := c.Engine.Law.(*engine.Roofline)
	switch s.Batching {
	case "", "chunked":
	case "prefill-first":
		c.Engine.Batching = engine.PrefillFirst
	case "static":
		c.Engine.Batching = engine.Static
	default:
		return Config{}, fmt.Errorf("sim: unknown batching %q: chunked, prefill-first or static", s.Batching)
	}
	if s.MaxSequences > 0 {
		c.Engine.MaxSequences = s.MaxSequences
		c.Engine.MaxBatchTokens = max(c.Engine.MaxBatchTokens, s.MaxSequences)
	}
	c.Beams = s.BeamWidth
	if err := s.speculate(&c, d); err != nil {
		return Config{}, err
	}
	if s.Split != "" {
		prefill, decode, err := parseSplit(s.Split)
		if err != nil {
			return Config{}, err
		}
		c.Engine.Instances = prefill + decode
		c.Engine.Split = &engine.Split{Prefill: prefill, Latency: law.LinkLatency, PerToken: law.CacheMove()}
	}
	return c, c.Validate()
}

func (s Scheduling) speculate(c *Config, d engine.Deployment) error {
	if s.Speculate == 0 {
		if s.Draft != "" || s.Acceptance != 0 {
			return errors.New("sim: a draft and its acceptance need a number of guessed tokens")
		}
		return nil
	}
	guess := &engine.Speculation{Draft: s.Speculate, Acceptance: s.Acceptance}
	if s.Acceptance == 0 {
		guess.Acceptance = Accepted
	}
	if s.Draft != "" {
		target := c.Engine.Law.(*engine.Roofline)
		d.Model = s.Draft
		law, err := d.Law()
		if err != nil {
			return err
		}
		// The draft's weights take the place of the target's cache.
		lost := law.Model.Params() * law.Weights.Bytes() / (target.Model.KVPerToken(target.KV) * float64(c.Engine.BlockSize()))
		if c.Engine.Blocks -= int(lost); c.Engine.Blocks < 1 {
			return fmt.Errorf("sim: the weights of %s and of its draft %s leave no room for a cache: use more devices or fewer bits", c.Model, s.Draft)
		}
		c.MaxContext = min(c.MaxContext, c.Engine.Blocks*c.Engine.BlockSize())
		law.StepOverhead = 0 // the draft's steps are launched with the target's
		guess.Law = law
	}
	c.Engine.Speculation = guess
	return nil
}

func parseSplit(text string) (prefill, decode int, err error) {
	p, d, ok := strings.Cut(text, ":")
	prefill, err1 := strconv.Atoi(p)
	decode, err2 := strconv.Atoi(d)
	if !ok || err1 != nil || err2 != nil || prefill < 1 || decode < 1 || prefill+decode > 1024 {
		return 0, 0, fmt.Errorf("sim: split %q: write the instances that prefill and those that decode, as in 1:3", text)
	}
	return prefill, decode, nil
}
