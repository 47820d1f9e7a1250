package daemon

import (
	"crypto/rand"
	"sync/atomic"

	"tokenmeter/service/traffic"
	"tokenmeter/service/traffic/trace"
	"tokenmeter/wire/tokens"
)

// Trace is a sink that appends what is needed to play requests again: a line a request,
// without contents.
type Trace struct {
	lineFile[asked]
	held atomic.Int64 // bytes of bodies that wait
}

// asked is a request of which the prompt is still to be hashed.
type asked struct {
	line trace.Line
	body []byte
}

// What waits to be hashed: so many requests, and so many bytes of their bodies.
const (
	mostWaiting = 4096
	mostBodies  = 64 << 20
)

// OpenTrace opens the file for appending. Prompts are hashed by the secret of the plan's
// identity; without one by a new one, so that what follows shares nothing with
// what the file has.
func OpenTrace(path string, plan *Plan) (*Trace, error) {
	key := plan.secret
	if len(key) == 0 {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails
	}
	enc, err := tokens.ByName(tokens.Default)
	if err != nil {
		return nil, err
	}
	hasher := trace.NewHasher(key, enc)
	f, broke, err := openLines(path)
	if err != nil {
		return nil, err
	}
	t := &Trace{}
	t.begin(f, broke, mostWaiting, func(one asked) (any, bool) {
		defer t.held.Add(-int64(len(one.body)))
		ok := hasher.Fill(&one.line, one.body)
		return one.line, ok
	})
	return t, nil
}

// Done implements traffic.Sink.
func (t *Trace) Done(r *traffic.Request) {
	line, ok := trace.Of(r)
	if !ok {
		return
	}
	size := int64(len(r.Body))
	if t.held.Add(size) > mostBodies {
		t.queue.Drop(1)
	} else if t.queue.Put(asked{line, r.Body}) {
		return
	}
	t.held.Add(-size)
}
