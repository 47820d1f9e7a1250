package bench

import (
	"sync"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// mainPart watches over what is measured while the load goes on after it: the
// load ends when the last measured request has ended.
type mainPart struct {
	mu      sync.Mutex
	running int
	done    bool // nothing more is measured
	over1   sync.Once
	all     chan struct{} // closed when all has ended
}

func newMainPart() *mainPart { return &mainPart{all: make(chan struct{})} }

func (m *mainPart) begin() {
	m.mu.Lock()
	m.running++
	m.mu.Unlock()
}

func (m *mainPart) end() {
	m.mu.Lock()
	m.running--
	m.settle()
	m.mu.Unlock()
}

// over says that nothing more is measured.
func (m *mainPart) over() {
	m.mu.Lock()
	m.done = true
	m.settle()
	m.mu.Unlock()
}

func (m *mainPart) settle() {
	if m.done && m.running == 0 {
		m.over1.Do(func() { close(m.all) })
	}
}

func (m *mainPart) isOver() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done
}

func (m *mainPart) ended() bool {
	select {
	case <-m.all:
		return true
	default:
		return false
	}
}

// tail begins the part after the main one, once: it ends when all that is
// measured has ended, at the latest after the given time. What is then still in
// flight does not count and is cancelled.
func (ph *phase) tail(most time.Duration) {
	ph.tailOnce.Do(func() {
		go func() {
			t := time.NewTimer(most)
			defer t.Stop()
			select {
			case <-ph.main.all:
			case <-t.C:
			case <-ph.ctx.Done():
			}
			ph.stopTail(client.ErrRunEnd)
		}()
	})
}

// counted reports whether requests of a part of the run are measured.
func counted(part timeline.Phase) bool { return part == timeline.Measure }
