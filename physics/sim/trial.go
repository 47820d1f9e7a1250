package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"tokenmeter/physics/engine"
)

// Load is a closed loop: so many streams, each of which asks again as soon as it
// is answered, with prompts that no cache has.
type Load struct {
	Streams      int
	InputTokens  int
	OutputTokens int // mean; single answers differ as the configuration spreads them
}

// A tenth of an answer has two tokens or more, and a trial takes seconds.
const (
	leastOutput    = 20
	mostTrialSteps = 4 << 20 // tokens that one round of all streams makes
)

func (l Load) validate() error {
	switch {
	case l.Streams < 1 || l.InputTokens < 1 || l.OutputTokens < leastOutput:
		return fmt.Errorf("sim: cannot try %d streams with %d tokens in and %d out: give 1 stream or more, 1 or more in, %d or more out",
			l.Streams, l.InputTokens, l.OutputTokens, leastOutput)
	case l.InputTokens > mostTokens:
		return fmt.Errorf("sim: a prompt of %d tokens is too long to try: %d at most", l.InputTokens, mostTokens)
	case l.OutputTokens > mostTokens || l.Streams > mostTrialSteps/l.OutputTokens:
		return fmt.Errorf("sim: %d streams with %d tokens out are too many to try: streams × tokens out may be %d",
			l.Streams, l.OutputTokens, mostTrialSteps)
	}
	return nil
}

// Trial is what clients of a load would see of a server, from virtual time: no
// network, no jitter. Times are means. What a search with beams never had, since
// its answer comes at once, is nil.
type Trial struct {
	Streams   int      `json:"streams"`
	TTFT      float64  `json:"ttft_ms"`
	Queue     float64  `json:"queue_ms"` // of TTFT, before the first step worked on the request
	TPOT      *float64 `json:"tpot_ms"`
	DecodeTPS *float64 `json:"decode_tps"` // 1000 / TPOT
	Early     *float64 `json:"early_tps"`  // tokens/s in the first tenth of an answer,
	Late      *float64 `json:"late_tps"`   // and in the last
	SystemTPS float64  `json:"system_output_tps"`
	WordsPerS *float64 `json:"words_per_s"` // of one stream, at WordsPerToken
}

// WordsPerToken is the usual ratio for English text: 100 tokens are about 75
// words (https://help.openai.com/en/articles/4936856).
const WordsPerToken = 0.75

// course is how one request of a trial went.
type course struct {
	*engine.Request
	early, late moment
}

// moment is where an answer stood: when a number of its tokens were there.
type moment struct {
	at   time.Duration
	made int
}

func (m moment) rate(until moment) float64 {
	if until.at <= m.at {
		return 0
	}
	return float64(until.made-m.made) / (until.at - m.at).Seconds()
}

// rounds is how often each stream asks; the first and the last round, in which
// the loop fills and drains, do not count.
const rounds = 6

// Try runs a load against the engine of a configuration.
func Try(cfg Config, load Load) (Trial, error) {
	if cfg.Engine == nil {
		return Trial{}, errors.New("sim: only a pair of model and hardware has a scheduler to try, as llama-3.1-8b/h100")
	}
	if err := load.validate(); err != nil {
		return Trial{}, err
	}
	rng := rand.New(rand.NewPCG(cfg.Seed, 0x7a1))
	courses := map[*engine.Request]*course{}
	var order []*course
	var e *engine.Engine
	ask := func(at time.Duration) error {
		if len(order) == rounds*load.Streams {
			return nil
		}
		n := int(math.Round(float64(load.OutputTokens) * (1 + cfg.OutputSpread*(2*rng.Float64()-1))))
		c := &course{Request: &engine.Request{Arrival: at + cfg.Overhead, PromptTokens: load.InputTokens, OutputTokens: max(n, 1), Beams: cfg.Beams}}
		courses[c.Request] = c
		order = append(order, c)
		return e.Submit(c.Request)
	}
	var failed error
	quiet := *cfg.Engine
	quiet.Jitter, quiet.Seed = 0, cfg.Seed
	e, err := engine.New(quiet, func(ev engine.Event) {
		if ev.Kind != engine.Tokens {
			return
		}
		c := courses[ev.Request]
		if c.early.made == 0 && c.Made >= (c.OutputTokens+9)/10 {
			c.early = moment{ev.At, c.Made}
		}
		if c.late.made == 0 && c.Made >= c.OutputTokens-(c.OutputTokens+9)/10 {
			c.late = moment{ev.At, c.Made}
		}
		if ev.Last {
			failed = errors.Join(failed, ask(ev.At))
		}
	})
	if err != nil {
		return Trial{}, err
	}
	for range load.Streams {
		if err := ask(0); err != nil {
			return Trial{}, err
		}
	}
	for _, ok := e.Next(); ok && failed == nil; _, ok = e.Next() {
		e.Step()
	}
	if failed != nil {
		return Trial{}, failed
	}
	return sum(order[load.Streams:len(order)-load.Streams], load.Streams, cfg.Overhead), nil
}

// sum is the means of the rounds that count. The system's throughput is what
// Little's law makes of a loop's times: streams × tokens / time of an answer.
func sum(all []*course, streams int, overhead time.Duration) Trial {
	t := Trial{Streams: streams}
	n := float64(len(all))
	var e2e, made, tpot, early, late float64
	for _, c := range all {
		t.TTFT += (c.TTFT() + overhead).Seconds() * 1e3 / n
		t.Queue += (c.Start - c.Arrival).Seconds() * 1e3 / n
		tpot += c.TPOT().Seconds() * 1e3 / n
		early += moment{c.First, 1}.rate(c.early) / n
		late += c.late.rate(moment{c.End, c.Made}) / n
		e2e += (c.E2E() + overhead).Seconds()
		made += float64(c.Made)
	}
	t.SystemTPS = float64(streams) * made / e2e
	if tpot > 0 {
		tps := 1e3 / tpot
		words := tps * WordsPerToken
		t.TPOT, t.DecodeTPS, t.Early, t.Late, t.WordsPerS = &tpot, &tps, &early, &late, &words
	}
	return t
}

// TryAll tries the same prompts and answers at several loads.
func TryAll(cfg Config, streams []int, inputTokens, outputTokens int) ([]Trial, error) {
	if len(streams) == 0 {
		return nil, errors.New("sim: no number of streams to try")
	}
	var all []Trial
	for _, n := range slices.Compact(slices.Sorted(slices.Values(streams))) {
		t, err := Try(cfg, Load{n, inputTokens, outputTokens})
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}
