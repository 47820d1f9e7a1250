package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/load/answer"
	"tokenmeter/load/workload"
	"tokenmeter/record/cost"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// task is what ends a prompt, and what is known of its answer.
type task struct {
	text  string
	check *answer.Check // nil: any answer is right
}

// task makes the n-th one of a kind. Sums of two numbers of three digits: models
// of every size work them out, and the answer is in no cache.
func (k *Kind) task(n int64) task {
	if !k.Ask {
		return task{text: fmt.Sprintf("\n\nThe words above are chosen at random. Write a story of at least %d words around them.", k.Output)}
	}
	draw := random.New(uint64(n))
	a, b := draw.Between(100, 999), draw.Between(100, 999)
	check, err := answer.Compile(answer.Spec{Number: &answer.Number{Value: float64(a + b)}})
	if err != nil {
		panic(err) // a plain number
	}
	return task{fmt.Sprintf("\n\nThe words above are chosen at random: leave them aside. What is %d + %d? Answer with the number only.", a, b), check}
}

// ask sends one probe, if the budget has room for it and the target takes such.
func (p *Prober) ask(ctx context.Context, t *asked, i int) error {
	k, s := &t.kinds[i], &t.seen[i]
	s.mu.Lock()
	retry := s.Retry
	s.mu.Unlock()
	if wait := retry.Sub(p.now()); wait > 0 && wait < 24*time.Hour { // longer: a clock was wrong
		p.skip(t, i, "the target refused it; it is asked again after %s UTC", retry.UTC().Format(time.DateTime))
		return nil
	}
	defer func() { t.ended = time.Now() }()
	if k.Idle > 0 { // cold, and the same again
		for _, class := range []string{k.Name, k.Name + Again} {
			if sent, err := p.together(ctx, t, i, class, 1); !sent || err != nil {
				return err
			}
		}
		return nil
	}
	_, err := p.together(ctx, t, i, k.Name, k.Parallel)
	return err
}

// together sends n requests of a kind at once; false where it may not.
func (p *Prober) together(ctx context.Context, t *asked, i int, class string, n int) (sent bool, err error) {
	jobs := make([]*job, n)
	var usd float64
	var tokens int64
	for j := range jobs {
		if jobs[j], err = p.job(t, i, class); err != nil {
			return false, err
		}
		usd += jobs[j].usd
		tokens += jobs[j].tokens
	}
	day, ok, err := p.plan.Ledger.reserve(p.now(), usd, tokens)
	if err != nil {
		return false, err
	}
	if !ok {
		p.unaffordable.Add(1)
		dollars := ""
		if p.plan.Ledger.limit.USD > 0 {
			dollars = fmt.Sprintf(" ($%.4f)", usd)
		}
		p.skip(t, i, "up to %d tokens%s more would pass the day's budget", tokens, dollars)
		return false, nil
	}
	var all sync.WaitGroup
	errs := make([]error, n)
	for j, one := range jobs {
		all.Go(func() { errs[j] = p.send(ctx, t, i, one, day) })
	}
	all.Wait()
	return true, errors.Join(append(errs, ctx.Err())...)
}

// job is a request that is ready to be sent.
type job struct {
	req    api.Request
	tl     *timeline.Timeline
	check  *answer.Check
	usd    float64 // the most it can cost
	tokens int64
}

func (p *Prober) job(t *asked, i int, class string) (*job, error) {
	k, s := &t.kinds[i], &t.seen[i]
	s.mu.Lock()
	n := s.prompts
	s.prompts++
	s.mu.Unlock()
	item := t.made[i].Item(n)
	if item.Err != nil {
		return nil, item.Err
	}
	step := item.Nth(0)
	end := k.task(n ^ int64(random.Mix(uint64(p.now().UnixNano()))>>1))
	messages := append([]api.Message(nil), step.Messages...)
	messages[len(messages)-1].Content += end.text
	j := &job{check: end.check, tl: timeline.New(), req: api.Request{Model: t.Model, Messages: messages, Stream: true,
		MaxTokens: timeline.Some(k.Output), Extra: step.Extra}}
	if t.newer.Load() {
		j.req.MaxTokensField = api.MaxCompletionTokens
	}
	bytes, pictures := 0, 0
	for m := range messages {
		bytes += len(messages[m].Content)
		pictures += len(messages[m].Images)
	}
	in, out := int64(bytes)+int64(pictures)*tokensOfPicture+templateTokens, k.Output
	s.mu.Lock()
	in, out = max(in, s.MostIn), max(out, s.MostOut) // a target that thinks beyond the limit is believed
	s.mu.Unlock()
	j.tokens = in + out
	j.usd, _ = p.worst(t.Model, in, out)
	j.tl.Request = p.ordinal.Add(1) - 1
	j.tl.ID = fmt.Sprintf("probe-%s-%d", t.made[i].Info().Salt, j.tl.Request)
	j.tl.Phase, j.tl.Class = timeline.Measure, class
	return j, nil
}

// The most that a prompt can be. Every token of a text is a byte of it or more;
// no encoder of pictures in use has smaller patches than 14 × 14 pixels; a chat
// template adds tens of tokens, and some providers a few hundred of their own.
const (
	tokensOfPicture = (megapixelSide*megapixelSide + 14*14 - 1) / (14 * 14)
	templateTokens  = 1000
)

// worst is the most that so many tokens can cost, whatever of them a cache has to
// be written for or is thought; false where a price is unknown.
func (p *Prober) worst(model string, in, out int64) (usd float64, known bool) {
	if p.plan.Pricing == nil {
		return 0, false
	}
	plain := timeline.Usage{Input: timeline.Some(in), Output: timeline.Some(out)}
	written, thought := plain, plain
	written.CacheWrite, thought.Reasoning = plain.Input, plain.Output
	parts := [3]float64{}
	for i, u := range []timeline.Usage{plain, written, thought} {
		v, ok := p.plan.Pricing.Of(&timeline.Timeline{Model: model, Outcome: timeline.OK, Usage: u}).Get()
		if i == 0 && !ok {
			return 0, false
		}
		parts[i] = v
	}
	return parts[0] + max(parts[1]-parts[0], 0) + max(parts[2]-parts[0], 0), true
}

// send does a request, and again under the other name of the length field where
// the server refuses the first.
func (p *Prober) send(ctx context.Context, t *asked, i int, j *job, day string) error {
	for {
		j.tl.DueUS = p.clk.US()
		j.tl.StartUS = j.tl.DueUS
		t.cl.Load().Do(ctx, &j.req, j.tl)
		refused := (j.tl.HTTPStatus == 400 || j.tl.HTTPStatus == 422) && j.tl.Error != nil && api.RefusesMaxTokens(j.tl.Error.Message)
		if !refused || j.req.MaxTokensField != "" {
			break
		}
		t.newer.Store(true)
		j.req.MaxTokensField = api.MaxCompletionTokens
		fresh := timeline.New()
		fresh.Request, fresh.ID, fresh.Phase, fresh.Class = j.tl.Request, j.tl.ID, j.tl.Phase, j.tl.Class
		j.tl = fresh
	}
	tl := j.tl
	tl.Model = cmp.Or(tl.Model, t.Model)
	spent := p.settleUp(t, i, j, day) // what was answered is kept whatever became of the sum
	learnt := p.learn(t, i, tl)
	if tl.Outcome == timeline.OK && j.check != nil {
		if right := j.check.Passes(tl.Text); right || !cutByUs(tl) {
			tl.CheckPassed = timeline.Some(right)
		}
	}
	if p.plan.Pricing != nil {
		tl.CostUSD = p.plan.Pricing.Of(tl)
	}
	if n, err := workload.CountAnswer(p.plan.Tokenizer, tl); err == nil && n > 0 {
		tl.Norm, tl.NormBy = timeline.Some(n), p.plan.Tokenizer.Name()
	}
	tl.Text, tl.Thought, tl.Calls = "", "", ""
	return errors.Join(spent, learnt, p.plan.Took(t.at, tl))
}

// cutByUs reports whether the answer ended where we asked it to: a wrong one may
// have become right.
func cutByUs(tl *timeline.Timeline) bool {
	why := strings.ToLower(tl.FinishReason)
	return strings.Contains(why, "length") || strings.Contains(why, "max_tokens") ||
		tl.Usage.Output.OK() && tl.Usage.Output.Or(0) >= tl.Requested.Or(1<<62)
}

// settleUp replaces what was set aside by what the server counted. What was
// refused costs nothing; where nothing was counted, the most stays.
func (p *Prober) settleUp(t *asked, i int, j *job, day string) error {
	tl := j.tl
	var usd float64
	var tokens int64
	in, okIn := tl.Usage.Input.Get()
	out, okOut := tl.Usage.Output.Get()
	switch {
	case cost.Refused(tl):
	case !okIn || !okOut:
		return nil
	default:
		tokens = in + out
		usd = j.usd
		if p.plan.Pricing != nil {
			usd = p.plan.Pricing.Of(tl).Or(j.usd)
		}
		s := &t.seen[i]
		s.mu.Lock()
		s.MostIn, s.MostOut = max(s.MostIn, in), max(s.MostOut, out)
		s.mu.Unlock()
	}
	return p.plan.Ledger.correct(day, usd-j.usd, tokens-j.tokens)
}

// learn finds out whether a target takes such requests at all: what is refused
// before it was ever answered (a picture, too long a prompt) is no failure of a
// service that was promised. It counts as warm-up, and is tried again a day later.
func (p *Prober) learn(t *asked, i int, tl *timeline.Timeline) error {
	s := &t.seen[i]
	s.mu.Lock()
	refused := false
	switch {
	case tl.Outcome == timeline.OK:
		s.Taken, s.Retry = true, time.Time{}
	case !s.Taken && (tl.HTTPStatus == 400 || tl.HTTPStatus == 413 || tl.HTTPStatus == 415 || tl.HTTPStatus == 422 ||
		t.kinds[i].Images > 0 && refusesImages(tl)):
		tl.Phase, refused = timeline.Warmup, true
		s.Retry = p.now().Add(24*time.Hour - time.Minute)
	}
	err := p.plan.Ledger.learn(subject(&t.Target, &t.kinds[i]), s.lesson)
	s.mu.Unlock()
	if refused && tl.Error != nil {
		p.skip(t, i, "the target refuses it: %s", tl.Error.Message)
	}
	return err
}

// refusesImages reports whether a 404 or 500 says that the model takes no pictures:
// text-only models answer so behind OpenRouter and Xiaomi MiMo, in llama.cpp and in
// Ollama. Without such words these are failures. Source: aaif-goose/goose#5396,
// JohnnyZ93/oai-compatible-copilot#229, valentinfrlch/ha-llmvision#691, llama.cpp's
// server-common.cpp (oaicompat_chat_params_parse).
func refusesImages(tl *timeline.Timeline) bool {
	if tl.Error == nil || tl.HTTPStatus != 404 && tl.HTTPStatus != 500 {
		return false
	}
	said := strings.ToLower(tl.Error.Message)
	for _, words := range []string{"no endpoints found that support image input", "image input is not supported",
		"missing data required for image input"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
