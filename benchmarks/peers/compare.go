//go:build linux

package main

import (
	"errors"
	"math"
	"slices"

	"tokenmeter/record/stat"
)

// row is one client's run. Errors are in ms: what the client measured less what
// the server did for the same request.
type row struct {
	Peer    string   `json:"peer"`
	Version string   `json:"version"`
	Streams int      `json:"streams"`
	Repeat  int      `json:"repeat"`
	Load    load     `json:"load"`
	Command []string `json:"command"`
	Failure string   `json:"failure,omitempty"`

	Requests int `json:"requests"` // compared
	Unknown  int `json:"unknown"`  // that the server does not know as finished
	Uneven   int `json:"uneven"`   // with another number of tokens than the server wrote

	TTFT  figures  `json:"ttft_error_ms"`
	E2E   figures  `json:"e2e_error_ms"`
	ITL   *figures `json:"itl_error_ms"`      // absolute, each gap; null when the client keeps no tokens
	Mean  figures  `json:"mean_itl_error_ms"` // absolute, each request's mean gap
	Token *figures `json:"token_error_ms"`    // arrival less write; null when it uses another clock

	// Published is the client's own report less the same figures of the truth.
	Published map[string]figures `json:"published_error_ms"`

	CPUPerMillion float64 `json:"cpu_s_per_million_tokens"` // while measuring
	CPUAllS       float64 `json:"cpu_all_s"`                // start-up and report included
	PeakRSS       int64   `json:"peak_rss_bytes"`
	StartUpS      float64 `json:"start_up_s"` // process to first completion asked, warm-ups included
	AfterS        float64 `json:"after_s"`    // last reply to the end of the process
	RateShare     float64 `json:"rate_share"` // achieved by asked rate of requests
	TokensPerS    float64 `json:"tokens_per_s"`

	LoadAverage  float64 `json:"load_average"` // before
	StealShare   float64 `json:"steal_share"`  // of the client's core
	OthersShare  float64 `json:"others_share"` // of the client's core, taken by other programs
	ServerLateMS figures `json:"server_late_ms"`

	startedNS, endedNS int64
	samples            []sample
}

func (r *row) compare(m *measured, truths map[string]*truth) error {
	var e struct{ ttft, e2e, itl, mean, token, late []float64 }
	truth := map[string][]float64{}
	var from, to, lastStart int64
	for _, q := range m.requests {
		t := truths[q.id]
		if t == nil || len(t.WriteNS) == 0 {
			r.Unknown++
			continue
		}
		r.Requests++
		n := len(t.WriteNS)
		first, last := ms(t.WriteNS[0]-t.ReceivedNS), ms(t.WriteNS[n-1]-t.ReceivedNS)
		truth["ttft"], truth["e2e"] = append(truth["ttft"], first), append(truth["e2e"], last)
		e.ttft, e.e2e = append(e.ttft, q.firstMS-first), append(e.e2e, q.lastMS-last)
		e.late = append(e.late, ms(t.LateNS))
		if from == 0 || t.ReceivedNS < from {
			from = t.ReceivedNS
		}
		to, lastStart = max(to, t.WriteNS[n-1]), max(lastStart, t.ReceivedNS)
		for i := 1; i < n; i++ {
			truth["itl"] = append(truth["itl"], ms(t.WriteNS[i]-t.WriteNS[i-1]))
		}
		if n > 1 {
			e.mean = append(e.mean, math.Abs((q.lastMS-q.firstMS)-(last-first))/float64(n-1))
		}
		if q.atMS != nil && len(q.atMS) != n {
			r.Uneven++
			continue
		}
		for i, at := range q.atMS {
			if i > 0 {
				e.itl = append(e.itl, math.Abs((at-q.atMS[i-1])-ms(t.WriteNS[i]-t.WriteNS[i-1])))
			}
			if q.sentNS != 0 {
				e.token = append(e.token, at-ms(t.WriteNS[i]-q.sentNS))
			}
		}
	}
	if r.Requests == 0 {
		return errors.New("none of its requests is known to the server")
	}
	r.TTFT, r.E2E, r.Mean, r.ServerLateMS = figuresIn(e.ttft), figuresIn(e.e2e), figuresIn(e.mean), figuresIn(e.late)
	r.ITL, r.Token = some(e.itl), some(e.token)
	r.Published = map[string]figures{}
	for name, p := range m.published {
		t := figuresIn(truth[name])
		r.Published[name] = figures{p.Mean - t.Mean, p.P50 - t.P50, p.P99 - t.P99}
	}
	r.use(truths, from, to)
	if r.Requests > 1 {
		r.RateShare = float64(r.Requests-1) / (float64(lastStart-from) / 1e9) / r.Load.rate()
	}
	return nil
}

// use notes what the client took to receive the tokens of a window.
func (r *row) use(truths map[string]*truth, from, to int64) {
	tokens, asked, end := 0, from, to
	for _, t := range truths {
		asked, end = min(asked, t.ReceivedNS), max(end, t.EndNS)
		for _, at := range t.WriteNS {
			if at >= from && at <= to {
				tokens++
			}
		}
	}
	r.CPUPerMillion = cpuBetween(r.samples, from, to) / float64(tokens) * 1e6
	r.TokensPerS = float64(tokens) / (float64(to-from) / 1e9)
	r.PeakRSS = peakRSS(r.samples)
	r.StartUpS = float64(asked-r.startedNS) / 1e9
	r.AfterS = float64(r.endedNS-end) / 1e9
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

func some(s []float64) *figures {
	if len(s) == 0 {
		return nil
	}
	f := figuresIn(s)
	return &f
}

func figuresIn(s []float64) figures {
	if len(s) == 0 {
		return figures{}
	}
	slices.Sort(s)
	sum := 0.0
	for _, x := range s {
		sum += x
	}
	p50, _ := stat.Quantile(stat.Sorted(s), 0.5)
	p99, _ := stat.Quantile(stat.Sorted(s), 0.99)
	return figures{sum / float64(len(s)), p50, p99}
}
