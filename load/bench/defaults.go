package bench

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

const (
	defaultConcurrency = 8
	defaultDuration    = 30 * time.Second
	defaultGrace       = 30 * time.Second
	defaultWarmup      = 4
	defaultInput       = "256"
	defaultOutput      = "128"
)

// product is what requests are answered with.
func (p *Plan) product() timeline.Product {
	if p.Client.API == nil {
		return timeline.Words
	}
	return p.Client.API.Product()
}

// open reports whether the load is an open loop.
func (p *Plan) open() bool {
	return p.Rate != 0 || len(p.Stages) > 0 && !p.StagesClosed || p.Trace != nil
}

// mainEnd is when the measured part ends, since the load began; 0: by number.
func (p *Plan) mainEnd() time.Duration {
	end := p.Duration
	if total := p.Stages.Length(); total > 0 && (end == 0 || total < end) {
		end = total
	}
	if end == 0 {
		return 0
	}
	return p.Ramp + end
}

// settle fills in the defaults.
func (p *Plan) settle() {
	if !p.open() && p.Concurrency == 0 && !p.StagesClosed {
		p.Concurrency = defaultConcurrency
	}
	if p.StagesClosed && p.Concurrency == 0 {
		p.Concurrency = int(math.Ceil(p.Stages.Max()))
	}
	if p.Requests == 0 && p.Duration == 0 && p.Stages.Length() == 0 && p.Trace == nil {
		p.Duration = defaultDuration
	}
	p.Grace = max(cmp.Or(p.Grace, defaultGrace), 0)
	if p.Warmup == (Warmup{}) && !p.open() {
		p.Warmup.Requests = defaultWarmup
	}
	if p.Warmup.Off {
		p.Warmup = Warmup{Off: true}
	}
	p.Workers = cmp.Or(p.Workers, 1)
	if p.Arrival == "" && p.open() && p.Trace == nil {
		p.Arrival = "constant"
	}
	p.Preflight = cmp.Or(p.Preflight, "get")
	if p.Workload == nil && p.Prompt == "" {
		if p.InputTokens == "" {
			p.InputTokens, p.defaultInput = defaultInput, true
		}
		if p.OutputTokens == "" && !p.product().Lengthless() {
			p.OutputTokens, p.defaultOutput = defaultOutput, true
		}
	}
}

// check returns everything that is wrong with a settled plan, as a *UsageError.
func (p *Plan) check() error {
	errs := []error{p.Session.check(), p.checkSound()}
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if p.open() {
		errs = append(errs, p.checkOpen())
		wrong(p.Concurrency < 0, "concurrency %d: want at least 1", p.Concurrency)
		wrong(p.Pace != 0, "a pace is of users in a closed loop: leave it out, or the rate, the stages or the times of the file")
	} else {
		errs = append(errs, p.closedLoop().Check())
		wrong(p.Arrival != "" || p.Burstiness != 0, "arrival and burstiness belong to an open loop, which has a rate")
	}
	wrong(p.Warmup.Requests < 0 || p.Warmup.Duration < 0, "a warm-up of less than nothing")
	wrong(p.Workers < 1 || p.Workers > 1024, "workers %d: want 1 to 1024", p.Workers)
	wrong(!(p.MaxFailures >= 0 && p.MaxFailures <= 1), "a share of failures of %v: want 0 to 1, like 0.1", p.MaxFailures)
	wrong(p.Prefills < 0, "%d prefills at once: want at least 1", p.Prefills)
	wrong(!(p.UntilPrecision >= 0 && p.UntilPrecision < 1), "a precision of %v: want a share between 0 and 1, like 0.05", p.UntilPrecision)
	wrong(!slices.Contains([]string{"none", "get", "probe"}, p.Preflight), "preflight %q: want none, get or probe", p.Preflight)
	if a := p.Client.API; a == nil {
		wrong(true, "no API is set")
	} else {
		wrong(p.product().Lengthless() && p.OutputTokens != "", "no length can be asked for with %s: leave out the output tokens", a.Name)
		wrong(p.product().Lengthless() && p.IgnoreEOS, "no length can be asked for with %s, so that no answer can be made to reach it: leave out what ignores its end", a.Name)
		wrong(p.product().Wordless() && (p.ReadsAnswers || p.Norm != nil || p.Client.Stream.KeepText), "%s answers without words, so there is nothing to check, to count or to keep in them", a.Name)
	}
	if err := errors.Join(errs...); err != nil {
		return &UsageError{err}
	}
	return nil
}

// checkSound: what writes sound down needs some, and it goes nowhere else but where
// people talk.
func (p *Plan) checkSound() error {
	var sounds []*workload.Sounds
	if w, ok := p.Workload.(interface{ Sounds() []*workload.Sounds }); ok {
		sounds = w.Sounds()
	}
	sound := slices.ContainsFunc(sounds, func(s *workload.Sounds) bool { return s != nil })
	switch transcribes := p.product() == timeline.Transcript; {
	case sound && !transcribes && p.Client.API != nil && p.Client.API != api.Realtime:
		return fmt.Errorf("%s takes no sound: leave it out, or speak transcription or realtime", p.Client.API.Name)
	case transcribes && (!sound || slices.Contains(sounds, nil)):
		return fmt.Errorf("%s takes sound: give a folder of recordings, or a length in seconds to make some", p.Client.API.Name)
	case sound && !transcribes:
		for _, s := range sounds {
			if s == nil {
				continue
			}
			if err := s.Samples(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Plan) checkOpen() error {
	if p.Trace == nil {
		return p.openLoop().Check()
	}
	switch {
	case p.Rate != 0 || len(p.Stages) > 0 || p.Arrival != "" || p.Burstiness != 0:
		return errors.New("a trace has times of its own: leave out rate, stages and arrival, or give a concurrency to ignore its times")
	case p.Ramp > 0:
		return errors.New("a trace starts as it was recorded: leave out the ramp")
	}
	return p.trace().Check()
}

// stages are those that were asked for, and behind them a cooldown that keeps the last
// level; and how long what is measured lasts.
func (p *Plan) stages() (schedule.Curve, time.Duration) {
	end := p.Stages.Length()
	if end == 0 || p.Cooldown <= 0 {
		return p.Stages, p.Duration
	}
	last := p.Stages[len(p.Stages)-1].To
	all := append(slices.Clone(p.Stages), schedule.Stage{For: p.Cooldown, From: last, To: last})
	return all, min(cmp.Or(p.Duration, end), end)
}

func (p *Plan) openLoop() schedule.Open {
	stages, duration := p.stages()
	return schedule.Open{Rate: p.Rate, Stages: stages, Arrival: p.Arrival, Burstiness: p.Burstiness, Seed: p.Seed,
		Requests: int64(p.Requests), Duration: duration, Ramp: p.Ramp, Tail: p.Cooldown}
}

func (p *Plan) trace() schedule.Trace {
	t := *p.Trace
	t.Requests, t.Duration, t.Tail = int64(p.Requests), p.Duration, p.Cooldown
	return t
}

func (p *Plan) closedLoop() schedule.Closed {
	stages, duration := p.stages()
	c := schedule.Closed{Concurrency: p.Concurrency, Requests: int64(p.Requests), Duration: duration,
		Ramp: p.Ramp, Tail: p.Cooldown, Gap: p.Pace}
	if p.StagesClosed {
		if p.Ramp > 0 {
			stages = append(schedule.Curve{{For: p.Ramp, To: stages[0].From}}, stages...)
		}
		c.Levels = stages
	}
	return c
}

// work makes the workload of a settled plan, as its API takes it.
func (p *Plan) work() (workload.Workload, error) {
	w, err := p.content()
	if err != nil {
		return nil, err
	}
	if w.Info().Batch != "" && !p.product().Batched() {
		return nil, &UsageError{fmt.Errorf("%s takes one conversation in a request, not a batch of texts: leave out the batch, or speak embeddings or rerank", p.Client.API.Name)}
	}
	if p.IgnoreEOS && !asksLengths(w) {
		return nil, &UsageError{errors.New("none of the first requests asks for a length, and without one an answer that ignores its end goes on to the end of the context: give output tokens, or output in a workload file")}
	}
	if made, ok := w.(interface{ ForAPI(*api.API) }); ok {
		made.ForAPI(p.Client.API)
	}
	return w, nil
}

// asksLengths reports whether one of the first requests asks for a length.
func asksLengths(w workload.Workload) bool {
	for i := range int64(lengthsLooked) {
		item := w.Item(i)
		for k := range item.Len() {
			if item.Err != nil || item.Nth(k).MaxTokens.OK() {
				return true // an error is told where it belongs
			}
		}
	}
	return false
}

const lengthsLooked = 100

func (p *Plan) content() (workload.Workload, error) {
	if p.Workload != nil {
		return p.Workload, nil
	}
	var output workload.Lengths
	var errs []error
	if p.OutputTokens != "" {
		l, err := workload.ParseLengths(p.OutputTokens)
		if err != nil {
			errs = append(errs, fmt.Errorf("output tokens: %w", err))
		}
		output = l
	}
	var texts workload.Lengths
	if p.Batch != "" {
		l, err := workload.ParseBatch(p.Batch)
		if err != nil {
			errs = append(errs, fmt.Errorf("batch: %w", err))
		}
		texts = l
	}
	if p.Prompt != "" {
		if p.InputTokens != "" {
			errs = append(errs, errors.New("a length of the input makes prompts, and so excludes given ones"))
		}
		if p.Batch != "" {
			errs = append(errs, errors.New("a batch takes made prompts or those of a file, not one prompt that is given"))
		}
		if err := errors.Join(errs...); err != nil {
			return nil, &UsageError{err}
		}
		return workload.NewGiven(p.Prompt, output, p.Seed), nil
	}
	shape, err := workload.ParseShape(p.InputTokens, p.OutputTokens, workload.OpenLengths)
	if err != nil && p.defaultOutput { // the input may hold the output's lengths
		shape, err = workload.ParseShape(p.InputTokens, "", workload.OpenLengths)
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("input tokens: %w", err))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &UsageError{err}
	}
	salt := cmp.Or(p.Salt, randomHex(8))
	work, err := workload.NewMade(shape, workload.Words, p.Tokenizer, p.Seed, salt)
	if err != nil {
		return nil, &UsageError{fmt.Errorf("tokenizer: %w", err)}
	}
	if p.Batch != "" {
		work.Batch(texts)
	}
	return work, nil
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// LoadWords says what the load is, in a few words.
func (p Plan) LoadWords() string {
	p.settle()
	l := p.load()
	return l.Line()
}
