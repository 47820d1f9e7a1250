package sim

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"tokenmeter/physics/engine"
)

// reply is one request and its answer. Except where said, it belongs to the
// pacing goroutine.
type reply struct {
	ask
	s      *Server
	c      *conn
	faults []Fault
	rng    *rand.Rand
	start  uint64 // where in the vocabulary the text begins

	promptTokens, cachedTokens, outputTokens int
	finish                                   string
	closing                                  bool
	truth                                    *Truth

	via    model           // who decides its times
	engine *engine.Request // of the model scheduled
	blocks []uint64        // names of the prompt's and the reply's blocks
	pace   struct {        // of the model pace
		running bool
		left    int
	}

	// Delivery.
	shift    int64 // how much later than the model everything leaves
	busy     int64 // nothing leaves before this moment
	yielded  int   // tokens the model has told
	firstAt  int64 // when it told the first, and the last so far
	lastAt   int64
	counted  bool // in the metrics, as finished
	sent     int  // tokens written or held back for a burst
	chunks   int
	headOut  bool
	over     bool // nothing more is written
	put      []delivery
	opening  []byte // of every event
	block    string // of Anthropic's message: the kind of the block that is open
	blockN   int    // and how many were before it
	held     []byte // of a burst
	rest     []byte // second half of a split write
	restMark mark
	restThen after
}

// mostTokens bounds a reply, whatever is asked for.
const mostTokens = 1 << 20

// delivery is one step's tokens on their way out.
type delivery struct {
	upto int
	last bool
}

// newReply settles everything about a request that chance decides. It runs on
// the reading goroutine.
func newReply(c *conn, a ask, id string, at int64, kernel, closing bool) *reply {
	s := c.s
	n := s.requests.Add(1)
	r := &reply{ask: a, s: s, c: c, closing: closing, promptTokens: a.tokens}
	r.rng = rand.New(rand.NewPCG(s.cfg.Seed, uint64(n)))
	r.start = r.rng.Uint64() >> 1
	if id == "" {
		id = "sim-" + strconv.FormatInt(n, 10)
	}
	r.settleLength()
	r.faults = drawFaults(s.cfg.Faults, r.outputTokens, r.rng)
	for _, f := range a.faults {
		r.faults = append(r.faults, f.settle(r.outputTokens, r.rng.Float64()))
	}
	if findFault(r.faults, FaultRunaway) != nil {
		r.outputTokens = min(10*r.outputTokens, mostTokens)
	}
	if findFault(r.faults, FaultEmpty) != nil {
		r.finish = "stop"
	}
	if a.cached >= 0 {
		r.cachedTokens = min(a.cached, r.promptTokens)
	}
	r.closing = r.closing || findFault(r.faults, FaultClose) != nil
	r.pace.left = r.outputTokens
	r.via = s.model
	if a.ttft >= 0 || a.itl >= 0 {
		r.via = s.fixed
	}
	if e := s.cfg.Engine; e != nil && e.PrefixCache {
		r.blocks = engine.NameBlocks(r.identities(), e.BlockSize())
	}
	stamp := "user"
	if kernel {
		stamp = "kernel"
	}
	r.truth = &Truth{
		ID: id, N: n, Conn: c.id, OnConn: c.n, ReceivedNS: at, Clock: stamp,
		StartNS: -1, QueueNS: -1, PrefillNS: -1, HeadNS: -1, EndNS: -1, Status: 200, Stream: a.stream,
		PromptTokens: r.promptTokens, CachedTokens: r.cachedTokens, Inputs: r.inputs, Faults: r.faults,
	}
	return r
}

// settleLength decides how many tokens the reply has and why it ends there.
func (r *reply) settleLength() {
	cfg := &r.s.cfg
	if r.dialect != nil && r.dialect.mute {
		r.outputTokens, r.finish = 1, "stop" // the end of the prefill
		return
	}
	u := r.rng.Float64()
	n, why := max(1, int(math.Round(float64(cfg.OutputTokens)*(1+cfg.OutputSpread*(2*u-1))))), "stop"
	switch {
	case r.ask.directive.tokens >= 1:
		n = r.ask.directive.tokens
	case r.maxTokens >= 1:
		n, why = r.maxTokens, "length"
	}
	if cfg.MaxContext > 0 && r.promptTokens+n > cfg.MaxContext {
		n, why = max(cfg.MaxContext-r.promptTokens, 1), "length"
	}
	if n > mostTokens {
		n, why = mostTokens, "length"
	}
	r.outputTokens, r.finish = n, why
}

// identities stands for the tokens of the prompt and the reply, for the prefix cache.
func (r *reply) identities() []uint32 {
	ids := make([]uint32, 0, r.promptTokens+r.outputTokens)
	if r.ids != nil {
		ids = append(ids, r.ids...)
	} else {
		if r.chat {
			for range r.s.cfg.TemplateTokens {
				ids = append(ids, 0)
			}
		}
		for w := range strings.FieldsSeq(r.prompt) {
			for range r.s.cfg.wordTokens(w) {
				ids = append(ids, identity(w))
			}
		}
	}
	for i := range r.outputTokens {
		ids = append(ids, identity(word(r.s.cfg.Vocabulary, r.start, i)))
	}
	return ids
}

// identity is a number for a word (FNV-1a).
func identity(word string) uint32 {
	h := uint32(2166136261)
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return h
}

// jitter spreads a time without moving its mean.
func (r *reply) jitter(ns int64) int64 {
	sigma := r.s.cfg.Jitter
	if sigma == 0 || ns == 0 {
		return ns
	}
	return int64(float64(ns) * math.Exp(sigma*r.rng.NormFloat64()-sigma*sigma/2))
}

// end closes the truth of a reply that writes nothing more.
func (r *reply) end(outcome string) {
	r.over = true
	r.truth.Outcome = outcome
	r.c.out.write(nil, mark{r: r, end: true, quiet: true}, keepOpen)
}

// written notes a write's times. It runs on whichever goroutine wrote.
func (r *reply) written(m mark, before, wrote int64) {
	t := r.truth
	if m.head {
		t.HeadNS = before
	}
	if m.to > m.from && before >= 0 {
		r.s.late.add(before - t.DueNS[m.from])
	}
	for i := m.from; i < m.to; i++ {
		t.WriteNS[i], t.WroteNS[i] = before, wrote
	}
	if m.end {
		t.EndNS = wrote
		t.close(r.yielded)
		if r.inputs > 0 {
			t.OutputTokens = 0
		}
		r.s.log.add(t)
		r.c.idle <- struct{}{}
	}
}
