package sim

import (
	"io"
	"sync"
)

// truthLog writes truths away from the thread that paces tokens.
type truthLog struct {
	w    io.Writer
	each func(Truth)

	mu   sync.Mutex
	have *sync.Cond
	todo []*Truth
	done bool
	gone chan struct{}
	err  error
}

func newTruthLog(w io.Writer, each func(Truth)) *truthLog {
	l := &truthLog{w: w, each: each, gone: make(chan struct{})}
	l.have = sync.NewCond(&l.mu)
	if w == nil && each == nil {
		l.done = true
		close(l.gone)
		return l
	}
	go l.run()
	return l
}

func (l *truthLog) add(t *Truth) {
	l.mu.Lock()
	if !l.done {
		l.todo = append(l.todo, t)
		l.have.Signal()
	}
	l.mu.Unlock()
}

func (l *truthLog) run() {
	defer close(l.gone)
	var buf []byte
	for {
		l.mu.Lock()
		for len(l.todo) == 0 && !l.done {
			l.have.Wait()
		}
		todo := l.todo
		l.todo = nil
		done := l.done
		l.mu.Unlock()
		buf = buf[:0]
		for _, t := range todo {
			if l.each != nil {
				l.each(*t)
			}
			if l.w != nil {
				buf = append(t.AppendJSON(buf), '\n')
			}
		}
		if len(buf) > 0 {
			if _, err := l.w.Write(buf); err != nil {
				l.mu.Lock()
				l.err = err
				l.mu.Unlock()
			}
		}
		if done && len(todo) == 0 {
			return
		}
	}
}

// close waits until everything is written and tells the last error.
func (l *truthLog) close() error {
	l.mu.Lock()
	l.done = true
	l.have.Signal()
	l.mu.Unlock()
	<-l.gone
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
