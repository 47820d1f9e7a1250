package proxy

import (
	"net/http"
	"sync"
	"time"
)

// patient is an HTTP/2 response whose deadline holds for writes. That of
// net/http is one of the stream: when it passes, the stream is reset, though
// nobody is writing because the server thinks for long.
type patient struct {
	http.ResponseWriter
	mu       sync.Mutex
	deadline time.Time
	writing  bool
	timer    *time.Timer
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// SetWriteDeadline is for http.ResponseController.
func (p *patient) SetWriteDeadline(at time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = at
	return nil
}

// Write implements http.ResponseWriter.
func (p *patient) Write(data []byte) (int, error) {
	p.begin()
	defer p.end()
	return p.ResponseWriter.Write(data)
}

// FlushError is for http.ResponseController.
func (p *patient) FlushError() error {
	p.begin()
	defer p.end()
	return http.NewResponseController(p.ResponseWriter).Flush()
}

func (p *patient) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writing = true; p.deadline.IsZero() {
		return
	}
	if wait := time.Until(p.deadline); p.timer == nil {
		p.timer = time.AfterFunc(wait, p.over)
	} else {
		p.timer.Reset(wait)
	}
}

func (p *patient) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writing = false; p.timer != nil {
		p.timer.Stop()
	}
}

// over ends a write that takes too long, and the stream with it.
func (p *patient) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writing && !time.Now().Before(p.deadline) {
		_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Unix(1, 0)) // one that is over resets the stream
	}
}
