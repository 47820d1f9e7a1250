package proxy

import "sync/atomic"

// Budget bounds the memory of request bodies that are read before they are
// passed on, those of all clients together. Proxies may share one.
type Budget struct {
	most int64
	used atomic.Int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(most int64) *Budget { return &Budget{most: most} }

// take reports whether n more bytes may be held; then they must be given back.
// Without a budget they may.
func (b *Budget) take(n int64) bool { return b == nil || b.within(n, b.most) }

func (b *Budget) within(n, most int64) bool {
	if b.used.Add(n) <= most {
		return true
	}
	b.used.Add(-n)
	return false
}

// Take implements gate.Room.
func (b *Budget) Take(n int64) bool { return b.take(n) }

// Give implements gate.Room.
func (b *Budget) Give(n int64) { b.give(n) }

func (b *Budget) give(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

// Behind is the part of a budget for what clients send behind a request that
// waits. Half of the budget stays for bodies whatever they send.
type Behind struct{ Of *Budget }

// Take implements gate.Room.
func (b Behind) Take(n int64) bool { return b.Of == nil || b.Of.within(n, b.Of.most/2) }

// Give implements gate.Room.
func (b Behind) Give(n int64) { b.Of.give(n) }
