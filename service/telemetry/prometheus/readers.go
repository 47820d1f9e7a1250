package prometheus

import (
	"context"
	"sync"
)

// readers are who asks for pages, by the connection that they keep open, and
// whether they have had one that can't change any more.
type readers struct {
	mu      sync.Mutex
	asked   bool            // somebody ever did
	told    bool            // somebody has had the last page
	open    map[string]bool // by remote address: has had the last page
	changed chan struct{}
}

func newReaders() *readers {
	return &readers{open: map[string]bool{}, changed: make(chan struct{}, 1)}
}

// read notes that a page went to somebody.
func (r *readers) read(address string, last bool) {
	r.mu.Lock()
	r.asked = true
	r.told = r.told || last
	r.open[address] = r.open[address] || last
	r.mu.Unlock()
	r.signal()
}

// gone forgets a connection that was closed.
func (r *readers) gone(address string) {
	r.mu.Lock()
	delete(r.open, address)
	r.mu.Unlock()
	r.signal()
}

func (r *readers) signal() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// all reports whether everybody has had the last page, or nobody ever asked.
func (r *readers) all() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked {
		return true
	}
	for _, has := range r.open {
		if !has {
			return false
		}
	}
	return r.told
}

// wait waits for that, or for the context.
func (r *readers) wait(ctx context.Context) bool {
	for !r.all() {
		select {
		case <-r.changed:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
