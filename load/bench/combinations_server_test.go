package bench

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// server answers as drawn and keeps a log of its own, which is what the words of a
// run are held against.
type server struct {
	fake
	ttft, gap time.Duration
	tokens    int
	room      int // requests that are answered at once; 0: all
	places    chan struct{}
	faults    []fault
	after     string // Retry-After of a refusal

	log      []*visit
	waiting  int // requests without a first token
	mostWait int
}

// fault is what goes wrong with one request in so many.
type fault struct {
	what  string // 429 | 503 | hang | drop | break | short
	every int
}

// visit is one try of a request as the server saw it.
type visit struct {
	id, prompt, end string // end: answered | 429 | 503 | dropped | left; empty: still there
	model           string
	asked           int64 // tokens; −1: no length
	first           bool  // a first token was sent
	whole           bool  // all of the answer was
	beginAt         time.Time
	firstAt, endAt  time.Time
}

// answer is the fake's chat.
func (s *server) answer(st *stream, b body) {
	s.mu.Lock()
	v := &visit{id: s.ids[st.n], prompt: fmt.Sprint(b.Messages), model: b.Model, asked: -1, beginAt: time.Now()}
	if n := cmp.Or(b.MaxTokens, b.MaxNewer); n != nil {
		v.asked = *n
	}
	s.log = append(s.log, v)
	s.waiting++
	s.mostWait = max(s.mostWait, s.waiting)
	s.mu.Unlock()
	var once sync.Once
	begun := func() {
		once.Do(func() {
			s.mu.Lock()
			s.waiting--
			s.mu.Unlock()
		})
	}
	defer begun()
	end := func(how string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		v.endAt = time.Now()
		if v.end = how; st.ctx.Err() != nil {
			v.end = "left"
		}
	}
	tokens := s.tokens
	for _, f := range s.faults {
		if st.n%f.every != f.every-1 {
			continue
		}
		switch f.what {
		case "429", "503":
			if s.after != "" {
				st.w.Header().Set("Retry-After", s.after)
			}
			sleep(st.ctx, 5*time.Millisecond)
			end(f.what)
			begun()
			st.fail(map[string]int{"429": 429, "503": 503}[f.what], "busy")
			return
		case "hang":
			<-st.ctx.Done()
			end("left")
			return
		case "drop":
			sleep(st.ctx, s.ttft)
			end("dropped")
			panic(http.ErrAbortHandler)
		case "break":
			if sleep(st.ctx, s.ttft); st.ctx.Err() == nil {
				s.mu.Lock()
				v.first, v.firstAt = true, time.Now()
				s.mu.Unlock()
			}
			begun()
			st.token(0)
			sleep(st.ctx, s.gap)
			end("dropped")
			panic(http.ErrAbortHandler)
		case "short":
			tokens = 1
		}
	}
	if s.places != nil {
		select {
		case s.places <- struct{}{}:
			defer func() { <-s.places }()
		case <-st.ctx.Done():
			end("left")
			return
		}
	}
	for k := range tokens {
		if k == 0 {
			sleep(st.ctx, s.ttft)
			if st.ctx.Err() != nil {
				break
			}
			s.mu.Lock()
			v.first, v.firstAt = true, time.Now()
			s.mu.Unlock()
			begun()
			st.token(0)
		} else {
			st.token(s.gap)
		}
		if st.ctx.Err() != nil {
			break
		}
	}
	if st.ctx.Err() != nil {
		end("left")
		return
	}
	st.end(wordsIn(b), 0)
	v.whole = true
	end("answered")
}
