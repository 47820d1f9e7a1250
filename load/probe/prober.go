package probe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/load/workload"
	"tokenmeter/record/cost"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// Header marks a request as a probe, for a measuring proxy on its way.
const Header = "X-Tokenmeter-Probe"

// Target is a server that is asked.
type Target struct {
	Name   string        // what tables call it
	Client client.Config // how it is reached; Clock is set by New
	Model  string
	Server string // what it says it is; empty: nothing
}

// Plan is what is asked of whom. Targets, Tokenizer, Ledger and Took are needed.
type Plan struct {
	Targets []Target
	Kinds   []Kind // empty: Default
	Ledger  *Ledger
	Pricing *cost.Pricing // nil: no price is known
	// Tokenizer makes prompts of a length and counts answers beside the server's
	// own count.
	Tokenizer workload.Tokenizer
	// Took takes every request that has ended, from several goroutines. Its error
	// ends everything: what can't be written is not worth its price.
	Took func(target int, tl *timeline.Timeline) error
	// Say tells a person what is not asked and why; nil: nobody listens.
	Say func(text string)
}

// Prober carries out a plan.
type Prober struct {
	plan    Plan
	kinds   []Kind
	clk     *clock.Clock
	targets []*asked
	ordinal atomic.Int64

	unaffordable atomic.Int64
}

// asked is a target and what is known of it.
type asked struct {
	Target
	at    int // among the plan's
	kinds []Kind
	cl    atomic.Pointer[client.Client]
	made  []*workload.Loaded // prompts, by kind
	seen  []kindState

	ended time.Time   // when it was last busy with a probe, on the monotonic clock
	newer atomic.Bool // it wants max_completion_tokens
}

// kindState is what the answers to a kind have taught.
type kindState struct {
	mu      sync.Mutex
	lesson                  // as the ledger keeps it
	day     string          // on which reasons were last said why it is not asked
	told    map[string]bool // these reasons
	prompts int64
}

// New checks a plan.
func New(plan Plan, clk *clock.Clock) (*Prober, error) {
	if len(plan.Kinds) == 0 {
		plan.Kinds = Default()
	}
	kinds, err := settle(plan.Kinds)
	if err != nil {
		return nil, err
	}
	if plan.Say == nil {
		plan.Say = func(string) {}
	}
	p := &Prober{plan: plan, kinds: kinds, clk: clk}
	for i := range plan.Targets {
		t := &asked{Target: plan.Targets[i], at: i, kinds: kinds, seen: make([]kindState, len(kinds)), ended: time.Now()}
		if err := t.reach(t.Client, clk); err != nil {
			return nil, err
		}
		for j := range kinds {
			made, err := p.prompts(&kinds[j])
			if err != nil {
				return nil, fmt.Errorf("probe %q: %w", kinds[j].Name, err)
			}
			t.made = append(t.made, made)
			// Whoever asks anew by hand wants to know what is taken now: only Run waits
			// with what another process was refused.
			t.seen[j].lesson = plan.Ledger.lesson(subject(&t.Target, &kinds[j]))
			t.seen[j].Retry = time.Time{}
			if _, known := p.worst(t.Model, 1, 1); !known && plan.Ledger.limit.USD > 0 {
				return nil, fmt.Errorf("target %s: a budget in dollars needs the token prices of %q", t.Name, t.Model)
			}
		}
		p.targets = append(p.targets, t)
	}
	if len(p.targets) == 0 {
		return nil, errors.New("there is nobody to ask: name a target")
	}
	return p, nil
}

// Reach reaches a target in another way from its next request on: with another
// key, when the old one was replaced. The API, the server's address and what is
// asked stay.
func (p *Prober) Reach(target int, cfg client.Config) error {
	return p.targets[target].reach(cfg, p.clk)
}

func (t *asked) reach(cfg client.Config, clk *clock.Clock) error {
	// Each probe pays for its connection, as a first request does: whether an old
	// one still stands after minutes is chance. connect_ms and tls_ms are in the
	// rows, service_ttft_ms is without them.
	cfg.Clock, cfg.NoKeepAlive, cfg.Stream.KeepText = clk, true, true
	Mark(&cfg)
	cl, err := client.New(cfg)
	if err == nil {
		t.cl.Store(cl)
	}
	return err
}

// Mark gives all requests of a target the header of probes.
func Mark(cfg *client.Config) {
	header := http.Header{}
	maps.Copy(header, cfg.Header)
	header.Set(Header, "1")
	cfg.Header = header
}

// Unaffordable is how many probes were not asked because the most that they can
// cost would have passed the day's budget.
func (p *Prober) Unaffordable() int64 { return p.unaffordable.Load() }

// Withheld says how many probes were not asked for want of budget, and why; empty: none.
func (p *Prober) Withheld() string {
	n := p.unaffordable.Load()
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%d probes were not asked: they might have passed the day's budget", n)
	if ahead := p.plan.Ledger.DayToCome(p.now()); ahead != "" {
		text += "; " + ahead
	}
	return text
}

// prompts makes the texts of a kind, with words that nobody has seen before.
func (p *Prober) prompts(k *Kind) (*workload.Loaded, error) {
	tail, err := p.plan.Tokenizer.Count(k.task(0).text)
	if err != nil {
		return nil, err
	}
	spec := workload.Spec{Tokenizer: p.plan.Tokenizer.Name(), Content: workload.Content{
		Input: fmt.Sprint(max(k.Input-int64(tail), 1)), Output: fmt.Sprint(k.Output)}}
	if k.Images > 0 {
		spec.Images = &workload.ImagesSpec{Count: fmt.Sprint(k.Images), Width: megapixelSide, Height: megapixelSide}
	}
	return workload.FromSpec("probe", spec, workload.Options{Salt: rand.Text(),
		Tokenizer: func(string) (workload.Tokenizer, error) { return p.plan.Tokenizer, nil }})
}

// megapixelSide squared is a megapixel.
const megapixelSide = 1000

// Once asks everything once, one after the other, without cold starts.
func (p *Prober) Once(ctx context.Context) error {
	return p.each(ctx, func(ctx context.Context, t *asked) error {
		for i := range p.kinds {
			if p.kinds[i].Idle > 0 {
				continue
			}
			if err := p.ask(ctx, t, i); err != nil || ctx.Err() != nil {
				return err
			}
		}
		return nil
	})
}

// Next is when, in UTC, the next probe of all targets is due.
func (p *Prober) Next() (next time.Time) {
	for _, t := range p.targets {
		if _, due := t.soonest(p.now()); next.IsZero() || due.Before(next) {
			next = due
		}
	}
	return next
}

// Run asks everything when it is due, until a moment or the context's end. The wall clock
// may be set meanwhile: then what is due by the new time is asked, and the moment is as far
// away as it was.
func (p *Prober) Run(ctx context.Context, until time.Time) error {
	left := until.Sub(p.now())
	begun := time.Now()
	return p.each(ctx, func(ctx context.Context, t *asked) error {
		for i := range t.seen {
			t.seen[i].Retry = p.plan.Ledger.lesson(subject(&t.Target, &t.kinds[i])).Retry
		}
		for after := p.now(); ; {
			at := p.now()
			if at.Before(after.Add(-lookEvery)) || at.After(after.Add(expiresAfter)) { // the clock was set, or stood
				after = at
			}
			i, due := t.soonest(after)
			wait := due.Sub(at)
			if wait > left-time.Since(begun) {
				return nil
			}
			if clock.Sleep(ctx, min(wait, lookEvery)) != nil || ctx.Err() != nil {
				return nil
			}
			if wait > lookEvery {
				continue
			}
			after = due
			if t.withheld(&t.kinds[i], due) {
				continue
			}
			if err := p.due(ctx, t, i, due); err != nil {
				return err
			}
		}
	})
}

const (
	lookEvery    = time.Minute    // how often the wall clock is looked at
	expiresAfter = 24 * time.Hour // after it no kind is asked any more that was due
)

// due asks a kind whose time has come, unless that is over: one probe of a target
// waits for another, half of its part of the day at most.
func (p *Prober) due(ctx context.Context, t *asked, i int, due time.Time) error {
	k := &t.kinds[i]
	switch {
	case p.now().Sub(due) > k.part()/2:
		p.skip(t, i, "its time was over: the target was busy with another probe, this machine slept, or its clock was set")
		return nil
	case k.Idle > 0 && time.Since(t.ended) < k.Idle:
		p.skip(t, i, "the target was asked less than %v before", k.Idle)
		return nil
	}
	return p.ask(ctx, t, i)
}

// each runs a task for every target side by side. The first error ends all.
func (p *Prober) each(ctx context.Context, task func(context.Context, *asked) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	var first error
	for _, t := range p.targets {
		all.Go(func() {
			if err := task(ctx, t); err != nil {
				mu.Lock()
				if first == nil {
					first = err
				}
				mu.Unlock()
				cancel(client.ErrRunEnd)
			}
		})
	}
	all.Wait()
	return first
}

// now is the wall clock: probes belong to hours of the day.
func (p *Prober) now() time.Time { return wall(p.clk) }

// wall is the time of day by a clock.
func wall(clk *clock.Clock) time.Time { return time.Unix(0, clk.Now().WallNS).UTC() }

// skip says, once a day and reason, that a kind is not asked.
func (p *Prober) skip(t *asked, i int, format string, args ...any) {
	s, day := &t.seen[i], p.now().Format(time.DateOnly)
	s.mu.Lock()
	if s.day != day {
		s.day, s.told = day, map[string]bool{}
	}
	known := s.told[format]
	s.told[format] = true
	s.mu.Unlock()
	if !known {
		p.plan.Say(fmt.Sprintf("%s: %s is not asked: %s", t.Name, t.kinds[i].Name, fmt.Sprintf(format, args...)))
	}
}
