package client

import "sync"

// calls are functions that a reactor wants called, in order, by a goroutine
// that may wait for files and locks.
type calls struct {
	fresh []func() // the reactor's own, until it wakes the goroutine

	mu     sync.Mutex
	todo   []func()
	over   bool
	signal chan struct{}
	once   sync.Once
}

func (c *calls) init() { c.once.Do(func() { c.signal = make(chan struct{}, 1) }) }

func (c *calls) add(f func()) { c.fresh = append(c.fresh, f) }

// wake hands over what was added.
func (c *calls) wake() {
	if len(c.fresh) == 0 {
		return
	}
	c.mu.Lock()
	c.todo = append(c.todo, c.fresh...)
	c.mu.Unlock()
	clear(c.fresh)
	c.fresh = c.fresh[:0]
	c.notify()
}

func (c *calls) notify() {
	c.init()
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// close ends serve once all is called.
func (c *calls) close() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.notify()
}

func (c *calls) serve() {
	c.init()
	var todo []func()
	for over := false; !over; {
		<-c.signal
		c.mu.Lock()
		todo, c.todo = c.todo, todo[:0]
		over = c.over
		c.mu.Unlock()
		for i, f := range todo {
			todo[i] = nil
			f()
		}
	}
}
