package proxy

import (
	"maps"
	"sync"
	"sync/atomic"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/client"
)

// stats are counters of what the proxy did; but for inUse they only grow. They
// go on when the configuration changes.
type stats struct {
	inUse, ordinal            atomic.Int64
	keeps                     atomic.Uint64
	requests, passed, retries atomic.Int64

	keyUses keyUses

	mu         sync.Mutex
	outcomes   map[timeline.Outcome]int64
	unmeasured map[traffic.Reason]int64
	refused    map[string]int64
}

// Stats is what a proxy counted since its start, and those before it.
type Stats struct {
	InFlight   int64
	Requests   int64                      // that were told to the sink
	Passed     int64                      // that are no completions: models, health
	Retries    int64                      // on another upstream, as nothing had been sent
	Outcomes   map[timeline.Outcome]int64 // of requests told to the sink
	Unmeasured map[traffic.Reason]int64
	Refused    map[string]int64 // by why: path, method, body, streams, …
	Upstreams  []UpstreamStats
	Keys       []KeyStats // of clients
}

// UpstreamStats is the state of one upstream.
type UpstreamStats struct {
	Name    string
	Healthy bool
	client.Stats
}

func newStats() *stats {
	return &stats{keyUses: keyUses{byName: map[string]*keyUse{}},
		outcomes: map[timeline.Outcome]int64{}, unmeasured: map[traffic.Reason]int64{}, refused: map[string]int64{}}
}

func (s *stats) refuse(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[why]++
}

// Refused counts a client that was refused before it came here.
func (p *Proxy) Refused(why string) { p.stats.refuse(why) }

// finished counts a request that the sink is about to be told of, and settles
// whose its tokens were.
func (s *stats) finished(r *traffic.Request) {
	shares(r)
	s.keyUses.spent(r)
	s.requests.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[r.Outcome]++
	if r.Unmeasured != "" {
		s.unmeasured[r.Unmeasured]++
	}
}

// Stats returns the counters.
func (p *Proxy) Stats() Stats {
	s := Stats{InFlight: p.stats.inUse.Load(), Requests: p.stats.requests.Load(), Passed: p.stats.passed.Load(), Retries: p.stats.retries.Load()}
	p.stats.mu.Lock()
	s.Outcomes, s.Unmeasured, s.Refused = maps.Clone(p.stats.outcomes), maps.Clone(p.stats.unmeasured), maps.Clone(p.stats.refused)
	p.stats.mu.Unlock()
	s.Keys = p.stats.keyUses.stats()
	now := p.clk.NS()
	for _, u := range p.ups {
		s.Upstreams = append(s.Upstreams, UpstreamStats{Name: u.Name, Healthy: u.healthy(now), Stats: u.client.Stats()})
	}
	return s
}
