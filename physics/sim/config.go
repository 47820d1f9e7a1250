package sim

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tokenmeter/physics/engine"
)

// Config is a server's behaviour. The zero value serves at once, without any delay.
// Times come from the fields under Service, or, with Engine, from its scheduler.
type Config struct {
	Model string // name served and accepted; empty: "sim", and any name is accepted
	Seed  uint64 // same seed, same behaviour of the k-th request

	// Like is whose habits the server has: "vllm" (default) or "llama.cpp". It
	// decides the metrics, the timings inside a reply, when the head goes out and
	// whether connections outlive a stream.
	Like  string
	Speed float64 // all times of service pass so many times faster; 0: 1

	// Engine, when set, schedules: sequences share steps, prompts are chunked and
	// the cache is limited. Of the fields below then only Overhead counts, as the
	// time before the scheduler sees a request. Its Seed and Jitter come from here.
	Engine *engine.Config

	// Service. A request takes a slot, waits Overhead + PrefillPerToken × prompt
	// tokens for its first token, and then DecodeBase + DecodePerSeq × running
	// sequences for each further step.
	Slots           int // sequences at once; 0: no limit
	Overhead        time.Duration
	PrefillPerToken time.Duration
	DecodeBase      time.Duration
	DecodePerSeq    time.Duration
	TokensPerStep   int     // tokens a step yields, in one chunk; 0: 1
	Jitter          float64 // spread (σ of the logarithm) of each step; mean unchanged

	// Length of a reply.
	OutputTokens int     // when the request asks for no length; 0: 128
	OutputSpread float64 // relative spread of that length; a request's own limit stays the upper bound
	MaxContext   int     // prompt and output tokens; a longer prompt gets 400; 0: no limit
	Beams        int     // width of the beam search when the request asks for none, with Engine; 0: none

	// Counting of a prompt.
	TemplateTokens  int // added to every chat, as a chat template would
	LettersPerToken int // a word is a token for every so many letters, as in a small vocabulary; 0: one token

	// Delivery.
	RoleEarly  bool        // the chunk that names the role goes out with the head, not with the first token
	Usage      UsageMode   // which chunks carry usage
	Reasoning  int         // the first so many tokens are reasoning
	Vocabulary string      // "english" (default) or "numbered": w0, w1, …
	Faults     []Fault     // what goes wrong, and how often
	Truth      io.Writer   // one JSON line a request, see Truth; nil: none
	OnTruth    func(Truth) // the same in process, in the order of completion
	// Base makes truth count nanoseconds since this moment. Zero: CLOCK_MONOTONIC
	// where the system tells it, which a client on the same machine can read too.
	Base time.Time
}

// The servers whose habits can be had.
const (
	LikeVLLM  = "vllm"
	LikeLlama = "llama.cpp"
)

// UsageMode is which chunks of a stream carry token counts.
type UsageMode string

const (
	UsageAsked      UsageMode = "asked"      // as stream_options ask (default)
	UsageFinal      UsageMode = "final"      // a last chunk with no choices, always
	UsageContinuous UsageMode = "continuous" // running counts in every chunk, and the last
	UsageFinish     UsageMode = "finish"     // beside finish_reason
	UsageNone       UsageMode = "none"       // never, even when asked
	UsageZeros      UsageMode = "zeros"      // zeros in every chunk, and the truth in the last
	UsageNull       UsageMode = "null"       // a last chunk whose choices are null, not an empty list
)

func (c Config) withDefaults() Config {
	c.TokensPerStep = max(c.TokensPerStep, 1)
	c.OutputTokens = cmp.Or(c.OutputTokens, 128)
	c.Like = cmp.Or(c.Like, LikeVLLM)
	c.Speed = cmp.Or(c.Speed, 1)
	c.Usage = cmp.Or(c.Usage, UsageAsked)
	c.Vocabulary = cmp.Or(c.Vocabulary, "english")
	return c
}

// Validate says what is wrong with a configuration, naming the field.
func (c Config) Validate() error {
	c = c.withDefaults()
	for name, d := range map[string]time.Duration{
		"overhead": c.Overhead, "prefill per token": c.PrefillPerToken,
		"decode base": c.DecodeBase, "decode per sequence": c.DecodePerSeq,
	} {
		if d < 0 {
			return fmt.Errorf("sim: %s is negative (%v): give a time of 0 or more", name, d)
		}
	}
	for name, n := range map[string]int{
		"slots": c.Slots, "output tokens": c.OutputTokens,
		"reasoning": c.Reasoning, "max context": c.MaxContext,
		"template tokens": c.TemplateTokens, "letters per token": c.LettersPerToken,
	} {
		if n < 0 {
			return fmt.Errorf("sim: %s is negative (%d): give 0 or more", name, n)
		}
	}
	if !(c.Jitter >= 0 && c.Jitter <= 2 && c.OutputSpread >= 0 && c.OutputSpread <= 1) {
		return fmt.Errorf("sim: jitter must lie in 0…2 and output spread in 0…1 (they are %v and %v)", c.Jitter, c.OutputSpread)
	}
	if !(c.Speed >= 1e-6 && c.Speed <= 1e6) {
		return fmt.Errorf("sim: speed is %v: give a number between 0.000001 and 1000000", c.Speed)
	}
	if c.Engine != nil {
		if err := c.Engine.Validate(); err != nil {
			return err
		}
	}
	for _, choice := range []struct {
		what, is string
		of       []string
	}{
		{"server to be like", c.Like, []string{LikeVLLM, LikeLlama}},
		{"usage", string(c.Usage), []string{"asked", "final", "continuous", "finish", "none", "zeros", "null"}},
		{"vocabulary", c.Vocabulary, []string{"english", "numbered"}},
	} {
		if last := len(choice.of) - 1; !slices.Contains(choice.of, choice.is) {
			return fmt.Errorf("sim: unknown %s %q: %s or %s", choice.what, choice.is, strings.Join(choice.of[:last], ", "), choice.of[last])
		}
	}
	for _, f := range c.Faults {
		if err := f.validate(); err != nil {
			return err
		}
	}
	return nil
}
