package metric

import (
	"fmt"
	"maps"

	"tokenmeter/record/timeline"
)

// RTT is the wish to know TTFT without the network.
type RTT struct {
	// GivenMS is the round trip to the server as the user knows it; null: the shortest
	// TCP connect of the run is taken.
	GivenMS timeline.Opt[float64] `json:"given_ms"`
	// ConnectMS is the shortest TCP connect of the connections that were opened ahead of
	// the requests, which then have none of their own; null: none was, or nobody asked.
	ConnectMS timeline.Opt[float64] `json:"connect_ms"`
}

// Network is what the way to the server adds to TTFT. It stands beside ttft_ms, which
// stays what the client saw.
type Network struct {
	RTTMS    timeline.Opt[float64] `json:"rtt_ms"`   // null where no connect was measured and none was given
	Source   string                `json:"source"`   // given | connect; empty: RTTMS is null
	Connects int64                 `json:"connects"` // that were measured, warm-up included; those opened ahead count as one
	// TTFTMS is service_ttft_ms (from the request written: no connecting, no wait of our
	// own) less one round trip: half for the request, half for the token. Null without
	// a round trip, or where it is longer than the shortest TTFT.
	TTFTMS *Dist `json:"ttft_ms"`
}

// connects are the TCP connects that requests have measured.
type connects struct {
	n       int64
	leastUS int64
}

func (c *connects) add(tl *timeline.Timeline) {
	if us, ok := tl.ConnectUS.Get(); ok {
		c.merge(connects{1, us})
	}
}

func (c *connects) merge(o connects) {
	if o.n > 0 && (c.n == 0 || o.leastUS < c.leastUS) {
		c.leastUS = o.leastUS
	}
	c.n += o.n
}

// WithRTT puts the network's part into the summary, where that was asked for.
func (s *Summary) WithRTT(asked *RTT, f *Facts) {
	if asked == nil {
		return
	}
	seen := f.connects
	if ms, ok := asked.ConnectMS.Get(); ok {
		seen.merge(connects{1, microseconds(ms)})
	}
	n := &Network{Connects: seen.n}
	s.Network = n
	switch {
	case asked.GivenMS.OK():
		n.RTTMS, n.Source = asked.GivenMS, "given"
	case seen.n > 0:
		// What lengthens a handshake (a busy machine, a lost packet) never shortens it.
		n.RTTMS, n.Source = timeline.Some(float64(seen.leastUS)/1e3), "connect"
	default:
		return
	}
	rtt := n.RTTMS.Or(0)
	raw := s.Metrics["service_ttft_ms"]
	least, ok := raw.Min.Get()
	switch {
	case !ok:
	case least < rtt:
		s.Warnings = append(s.Warnings, Warning{Name: "rtt_too_long", Value: n.RTTMS,
			Says: fmt.Sprintf("A round trip of %.3f ms is longer than the shortest TTFT (%.3f ms from the request written): there is no TTFT without it.", rtt, least)})
	default:
		n.TTFTMS = raw.less(rtt)
	}
}

// less is the sample with the same taken off each value.
func (d Dist) less(x float64) *Dist {
	for _, f := range d.Figures() {
		if was, ok := f.Value.Get(); ok && f.Name != "sd" {
			*f.Value = timeline.Some(was - x)
		}
	}
	d.CI95 = maps.Clone(d.CI95)
	for name, ci := range d.CI95 {
		d.CI95[name] = [2]float64{ci[0] - x, ci[1] - x}
	}
	return &d
}
