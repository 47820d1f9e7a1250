package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/kept"
)

// Courier tells one receiver of every alert that it wants, at least once, at the
// receiver's own pace: that an alert fires, again while it goes on, and that it
// is over. What did not come is sent again, after a restart too; a message that
// comes twice has the same ID (see MessageID). Safe for concurrent use.
type Courier struct {
	Notifier *Notifier
	Name     string     // of what is kept
	keeper   kept.Store // what it took without an error outlives the process
	now      func() time.Time
	news     chan struct{}
	word     error // to be told first

	mu     sync.Mutex
	ledger ledger
	hold   time.Time // the receiver asked to be left alone until then

	saving sync.Mutex // what is saved later is newer
	dirty  bool       // under mu: the ledger is not saved as it is

	stop  context.CancelFunc
	ended chan struct{}
}

// NewCourier goes on with what the keeper has under a name, a StateName. A ledger that
// can't be read is kept under another name and said by Run: alerts that fire are
// told again.
func NewCourier(ctx context.Context, k kept.Store, name string, n *Notifier, now func() time.Time) *Courier {
	c := &Courier{Notifier: n, keeper: k, Name: name, now: now, news: make(chan struct{}, 1), dirty: true,
		ledger: ledger{Began: now().Round(0), Entries: map[string]*entry{}}}
	l, found, err := kept.Read(ctx, k, name, now(), (*ledger).sound)
	if err != nil {
		c.word = fmt.Errorf("what %s was told is told again: %w", n.name, err)
	} else if found {
		c.ledger, c.dirty = l, false
	}
	if err := c.save(ctx); err != nil && c.word == nil {
		c.word = err
	}
	return c
}

// sound reports whether a ledger that was read can be one.
func (l *ledger) sound() bool {
	if l.Entries == nil {
		return false
	}
	for id, e := range l.Entries {
		if e == nil || e.Alert.ID() != id || e.Alert.Severity == "" || (e.State == owed) != (e.Alert.Resolved != nil) {
			return false
		}
		switch e.State {
		case due, trying, told, owed:
		default:
			return false
		}
	}
	return true
}

// Put takes what fires now and what was resolved since the last time, and keeps
// it. After an error it is told nevertheless.
func (c *Courier) Put(ctx context.Context, firing, resolved []slo.Firing) error {
	c.mu.Lock()
	if c.ledger.put(firing, resolved, c.Notifier.Wants, c.now().Round(0)) {
		c.dirty = true
	}
	c.mu.Unlock()
	err := c.save(ctx)
	select {
	case c.news <- struct{}{}:
	default:
	}
	return err
}

// save writes the ledger where it has changed.
func (c *Courier) save(ctx context.Context) error {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	dirty := c.dirty
	text, err := json.Marshal(c.ledger)
	c.dirty = false
	c.mu.Unlock()
	if !dirty {
		return nil
	}
	if err == nil {
		err = c.keeper.PutState(ctx, c.Name, text)
	}
	if err == nil {
		return nil
	}
	c.mu.Lock()
	c.dirty = true
	c.mu.Unlock()
	return fmt.Errorf("what %s was told could not be kept, and may be told twice: %w", c.Notifier.name, err)
}

// Start tells the receiver in the background until Stop, or the context ends.
// Errors go to say, which must not block.
func (c *Courier) Start(ctx context.Context, say func(error)) {
	ctx, c.stop = context.WithCancel(ctx)
	c.ended = make(chan struct{})
	go func() {
		defer close(c.ended)
		c.run(ctx, say)
	}()
}

// Stop ends it and waits for that. What was being told is told again by whoever
// goes on with the ledger.
func (c *Courier) Stop() {
	if c.stop != nil {
		c.stop()
		<-c.ended
	}
}

func (c *Courier) run(ctx context.Context, say func(error)) {
	if c.word != nil {
		say(c.word)
	}
	for {
		timer := time.NewTimer(c.deliver(ctx, say))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-c.news:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// deliver tells all that is to be told now, and returns how long it is until
// there is more.
func (c *Courier) deliver(ctx context.Context, say func(error)) time.Duration {
	for ctx.Err() == nil {
		list, wait := c.take()
		if len(list) == 0 {
			return wait
		}
		if err := c.save(ctx); err != nil && ctx.Err() == nil {
			say(err)
		}
		after, err := c.Notifier.Send(ctx, list)
		if ctx.Err() != nil {
			break // it may have come
		}
		again := c.settle(list, after, err)
		if err != nil {
			say(fmt.Errorf("%s was not told of %s and is told again in %s: %w", c.Notifier.name, names(list), again.Round(time.Second), err))
		}
		if err := c.save(ctx); err != nil && ctx.Err() == nil {
			say(err)
		}
	}
	return time.Second
}

// take returns what is to be sent now, as one message, and notes that it is
// being tried.
func (c *Courier) take() (list []slo.Firing, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tick := time.Now()
	if rest := c.hold.Sub(tick); rest > 0 {
		return nil, rest
	}
	entries, wait := c.ledger.ready(c.now(), tick, c.Notifier.repeat, c.Notifier.form.batch)
	for _, e := range entries {
		if e.State == due {
			e.State, c.dirty = trying, true
		}
		list = append(list, e.Alert)
	}
	return list, wait
}

// settle notes how a message went; again is when it is sent again.
func (c *Courier) settle(list []slo.Firing, after time.Duration, err error) (again time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tick := time.Now()
	for _, f := range list {
		if err == nil {
			c.ledger.succeeded(f, c.now().Round(0))
			c.dirty = true
			continue
		}
		again = max(again, c.ledger.failed(f, tick, after, len(list) > 1))
	}
	if after > 0 {
		c.hold = tick.Add(min(after, lastWait))
	}
	return again
}

func names(list []slo.Firing) string {
	var out []string
	known := map[string]bool{}
	for _, f := range list {
		if !known[f.Objective] {
			known[f.Objective] = true
			out = append(out, f.Objective)
		}
	}
	return strings.Join(out, ", ")
}
