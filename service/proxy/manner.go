package proxy

import (
	"bytes"
	"net/http"
	"sync"

	"tokenmeter/record/timeline"
)

// manner is what replies of one model showed of how its upstream tells usage. A reply for
// which usage was asked does not show what would stand there anyway. Where it makes that
// doubtful, one request goes as its client sent it, and what comes then decides.
type manner struct {
	mu    sync.Mutex
	state mannerState
	seen  bool     // a reply that was asked for usage
	moved [][]byte // names of members that came with the usage, in quotes
	nulls bool     // events said "usage":null where usage was asked for
	only  bool     // they say so only then
	kept  bool     // it is not to be asked, though it may tell nothing
}

type mannerState uint8

const (
	mannerUnseen   mannerState = iota
	mannerDoubtful             // the next request goes as it was sent
	mannerTried                // one does
	mannerAsk                  // usage comes only when asked for
	mannerLeave                // it comes anyway, or something else would not
)

// mostManners bounds what is kept for names that clients make up; those beyond share one.
const mostManners = 256

// mannerOf is what is known of the model that a request names.
func (u *upstream) mannerOf(c *call) *manner {
	key := c.api.Name + " " + c.asked.model
	options := c.asked.opts && c.asked.usage == usageUnsaid // vLLM takes them for a wish for usage
	if options {
		key = "options " + key
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.manners[key]
	if m == nil && len(u.manners) >= mostManners {
		key = ""
		m = u.manners[key]
	}
	if m == nil {
		m = &manner{}
		if options {
			m.state = mannerDoubtful
		}
		if u.manners == nil {
			u.manners = map[string]*manner{}
		}
		u.manners[key] = m
	}
	return m
}

// mind takes what was added to a request out again where the upstream does without it, or
// where that is to be tried.
func (c *call) mind() {
	c.forgo()
	if c.manner = nil; !c.quiet {
		return
	}
	c.manner = c.up.mannerOf(c)
	if !c.inject || c.route.Usage != UsageStrip {
		return
	}
	m := c.manner
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.state {
	case mannerDoubtful:
		m.state, c.trial = mannerTried, true
		c.asSent()
	case mannerLeave:
		c.asSent()
	}
}

// forgo gives a trial back that tells nothing.
func (c *call) forgo() {
	if !c.trial {
		return
	}
	c.trial = false
	c.manner.mu.Lock()
	defer c.manner.mu.Unlock()
	if c.manner.state == mannerTried {
		c.manner.state = mannerDoubtful
	}
}

// learn is told how a reply ended; s is nil where nothing looked at its events.
func (c *call) learn(s *stripper) {
	m, tl := c.manner, c.req.Timeline
	if m == nil || tl.HTTPStatus != http.StatusOK || tl.Outcome != timeline.OK {
		return // forgo has the rest
	}
	told := tl.Usage.Output.OK()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !c.inject && told:
		m.state, m.kept = mannerLeave, false
	case c.trial && s != nil && s.foundMoved:
		m.state, m.kept = mannerLeave, true
	case c.trial && s != nil && m.seen:
		m.state, m.only = mannerAsk, m.nulls && !s.nulled
	case c.trial:
		m.state = mannerUnseen
	case c.inject && c.coded && c.route.Usage == UsageStrip:
		m.state, m.kept = mannerLeave, true // the usage could not be taken out
	case c.inject && s != nil && m.state == mannerUnseen && s.removed > 0:
		m.seen, m.moved, m.nulls = true, s.moved, s.nulled
		if m.state = mannerAsk; s.beside || len(s.moved) > 0 {
			m.state = mannerDoubtful
		}
	case !c.inject && m.state == mannerLeave && !m.kept && c.asked.usage == usageUnsaid:
		m.state = mannerUnseen // it no longer does
	}
	c.trial = false
}

// watch tells a stripper what to look for.
func (m *manner) watch(s *stripper, trial bool, h http.Header) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if trial {
		s.sought = m.moved
	}
	s.looking, s.trial = m.state == mannerUnseen, trial
	// OpenAI says so of its API: the member is there only where usage is asked for.
	s.nulls = m.only || h.Get("Openai-Processing-Ms") != ""
}

// others notes the members that an event has beside usage and what every event has, and that
// those before it did not: nobody knows whether they would have come without it.
func (s *stripper) others(key []byte) {
	switch string(key) {
	case "id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier", "obfuscation":
		return
	}
	quoted := append(append([]byte{'"'}, key...), '"')
	if len(s.moved) < 8 && len(s.shown) > 0 && !bytes.Contains(s.shown, quoted) {
		s.moved = append(s.moved, quoted)
	}
}
