package workload

import (
	"fmt"
	"strings"
	"time"

	"tokenmeter/load/workload/sessions"
)

// Recorded is what recorded sessions of agents hold.
type Recorded struct {
	Sessions int64    `json:"sessions"`  // that were looked at
	Agents   int64    `json:"agents"`    // with each session's own
	Turns    Lengths5 `json:"turns"`     // of an agent
	Width    Lengths5 `json:"width"`     // requests of a session at the same moment, at most
	GapMS    Lengths5 `json:"gap_ms"`    // between a request and those that it waits for, as it is played
	LengthS  Lengths5 `json:"length_s"`  // of a session, as it was recorded
	IdealHit float64  `json:"ideal_hit"` // share of the input that a prefix cache without a limit would know
	// ChainS and BetweenS are of the first session: the longest chain of requests
	// that wait for each other, and the part of it between them.
	ChainS   float64 `json:"chain_s"`
	BetweenS float64 `json:"between_s"`
	// Tree is the first session: a line for each agent.
	Tree []AgentLine `json:"tree"`
}

// AgentLine is one agent of a session.
type AgentLine struct {
	Depth      int     `json:"depth"` // 0 is the session's own
	Name       string  `json:"name"`
	Turns      int64   `json:"turns"`
	FromTokens int64   `json:"from_tokens"` // of its first prompt
	ToTokens   int64   `json:"to_tokens"`   // and of its longest
	IdealHit   float64 `json:"ideal_hit"`
	StartS     float64 `json:"start_s"`
	EndS       float64 `json:"end_s"`
}

// recorded looks at n sessions from the given one on; nil for a workload of others.
func (l *Loaded) recorded(first, n int64) (*Recorded, error) {
	if len(l.classes) != 1 || l.classes[0].recording == nil {
		return nil, nil
	}
	r := l.classes[0].recording
	d := &Recorded{}
	var turns, width, gaps, length []int64
	var all, hit float64
	for i := first; i < min(first+n, r.file.Len()); i++ {
		s, err := r.session(i)
		if err != nil {
			return nil, err
		}
		d.Sessions++
		d.Agents += int64(len(s.Agents))
		lines := agentLines(s)
		for _, a := range lines {
			turns = append(turns, a.Turns)
		}
		if i == first {
			d.Tree = lines
			whole, between := s.Path()
			d.ChainS, d.BetweenS = whole.Seconds(), between.Seconds()
		}
		width = append(width, int64(s.Width()))
		hits := s.Ideal()
		var end time.Duration
		for k, c := range s.Calls {
			if len(c.After) > 0 {
				gaps = append(gaps, r.gap(c.Gap).Milliseconds())
			}
			end = max(end, c.End)
			all += float64(c.Input)
			hit += hitTokens(s, k, hits[k])
		}
		length = append(length, int64(end.Seconds()))
	}
	d.Turns, d.Width, d.GapMS, d.LengthS = sampleOf(turns), sampleOf(width), sampleOf(gaps), sampleOf(length)
	if all > 0 {
		d.IdealHit = hit / all
	}
	return d, nil
}

// hitTokens are the tokens of a call that a cache would know.
func hitTokens(s *sessions.Session, k, hits int) float64 {
	return float64(min(int64(hits)*s.Block, s.Calls[k].Input))
}

func agentLines(s *sessions.Session) []AgentLine {
	lines := make([]AgentLine, len(s.Agents))
	hit, all := make([]float64, len(lines)), make([]float64, len(lines))
	hits := s.Ideal()
	for k, c := range s.Calls {
		a := &lines[c.Agent]
		if a.Turns == 0 {
			a.FromTokens, a.StartS = c.Input, c.Start.Seconds()
		}
		a.Turns++
		a.ToTokens = max(a.ToTokens, c.Input)
		a.EndS = max(a.EndS, c.End.Seconds())
		all[c.Agent] += float64(c.Input)
		hit[c.Agent] += hitTokens(s, k, hits[k])
	}
	for i := range lines {
		a := &lines[i]
		if a.Name = s.Agents[i].Name; i == 0 {
			a.Name = s.ID
		}
		for p := s.Agents[i].Parent; p >= 0; p = s.Agents[p].Parent {
			a.Depth++
		}
		if all[i] > 0 {
			a.IdealHit = hit[i] / all[i]
		}
	}
	return lines
}

// mostLines bounds the tree that is drawn.
const mostLines = 30

// Drawing is the tree as lines of text.
func (d *Recorded) Drawing() []string {
	var out []string
	for i, a := range d.Tree {
		if i == mostLines {
			return append(out, fmt.Sprintf("… and %d further agents", len(d.Tree)-i))
		}
		name := a.Name
		if a.Depth > 0 {
			name = strings.Repeat("  ", a.Depth-1) + "└ " + name
		}
		out = append(out, fmt.Sprintf("%-28s %5d turns  %d to %d tokens, ideal cache hits %.1f %%, from %.1f s to %.1f s",
			name, a.Turns, a.FromTokens, a.ToTokens, 100*a.IdealHit, a.StartS, a.EndS))
	}
	return out
}
