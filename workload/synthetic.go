package workload

import (
	"hash/fnv"
	"sync/atomic"

	"tokenmeter/api"
	"tokenmeter/random"
	"tokenmeter/timeline"
)

// Synthetic makes prompts of asked lengths, each different from its first token
// on, so that a prefix cache has nothing to give. The seed fixes the lengths;
// the salt, new for each run, the words: a repetition with the same seed sends
// the same load without meeting the cache that the first run filled.
type Synthetic struct {
	input, output Lengths
	seed, salt    uint64
	saltText      string
	calibration   atomic.Pointer[Calibration]
}

// Calibration is how a server counts the words of a made prompt:
// tokens = Overhead + PerWord · words. The zero value counts a word as a token.
type Calibration struct {
	PerWord  float64 // tokens a word; 0 means 1
	Overhead float64 // tokens that a chat template adds
}

// NewSynthetic returns a workload of made prompts. An empty output distribution
// (the zero Lengths) leaves the output length to the server.
func NewSynthetic(input, output Lengths, seed uint64, salt string) *Synthetic {
	h := fnv.New64a()
	h.Write([]byte(salt))
	s := &Synthetic{input: input, output: output, seed: seed, salt: h.Sum64(), saltText: salt}
	s.calibration.Store(&Calibration{})
	return s
}

// Item implements Workload.
func (s *Synthetic) Item(i int64) Item {
	src := random.New(s.seed, inputKey, uint64(i))
	tokens := s.input.Draw(&src)
	words := s.calibration.Load().words(tokens)
	return Item{
		Index:       i,
		Messages:    []api.Message{{Role: "user", Content: text(s.salt, i, words)}},
		InputTokens: timeline.Some(tokens),
		MaxTokens:   outputLength(s.output, s.seed, i),
		Words:       words,
	}
}

// Unique implements Workload.
func (s *Synthetic) Unique(warm, n int64) int64 {
	if w, fixed := s.input.Fixed(); fixed {
		if bits := int64(wordBits*s.calibration.Load().words(w) + 1); bits < 62 {
			return min(warm+n, 1<<bits)
		}
	}
	return warm + n
}

// Info implements Workload.
func (s *Synthetic) Info() Info {
	return Info{Kind: "synthetic", InputTokens: s.input.String(), OutputTokens: s.output.String(),
		Salt: s.saltText, UniquePrompts: true}
}

// Calibrate sets how words are counted for the items that are made from now on.
// Once per run, before the first measured item: an item depends on it.
func (s *Synthetic) Calibrate(c Calibration) { s.calibration.Store(&c) }
