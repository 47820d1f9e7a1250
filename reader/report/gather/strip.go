package gather

import (
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Strip is one request as a bar of its parts, times in ms since due.
type Strip struct {
	ID       int64
	DueS     float64
	Class    timeline.Outcome
	Message  string
	Parts    []Part
	Ticks    []float64 // arrivals of chunks
	End      float64
	Output   timeline.Opt[int64]
	TTFT     timeline.Opt[float64]
	TTFA     timeline.Opt[float64]
	TTFI     timeline.Opt[float64]
	Wordless bool
	MaxGap   timeline.Opt[float64]
}

// Part is a stretch of a strip.
type Part struct {
	Kind     string // late | connect | network | queue | prefill | wait | decode
	From, To float64
}

// ticksMax bounds the arrivals that are drawn of one request.
const ticksMax = 400

func newStrip(tl *timeline.Timeline, v *metric.Values) *Strip {
	s := &Strip{ID: tl.Request, DueS: float64(tl.DueUS) / 1e6, Class: tl.Outcome,
		Output: v.OutputTokens, TTFT: v.TTFTMS, TTFA: v.TTFAMS, TTFI: v.TTFIMS, Wordless: tl.Wordless(), MaxGap: v.MaxGapMS}
	if tl.Error != nil {
		s.Message = tl.Error.Message
	}
	s.End = max(float64(max(tl.Events.LastUS(), tl.CloseUS.Or(0)))/1000, v.E2EMS.Or(0))
	if tl.Outcome == timeline.OK {
		s.End = v.E2EMS.Or(s.End)
	}
	s.split(tl, v)
	s.arrivals(tl)
	return s
}

// split divides the request: our own lateness, making the connection, the wait
// for the first token, sound or picture, and what follows it. The wait is divided only when the
// server said how.
func (s *Strip) split(tl *timeline.Timeline, v *metric.Values) {
	at := max(float64(tl.StartUS-tl.DueUS)/1000, 0)
	s.add("late", 0, at)
	connect := float64(tl.DNSUS.Or(0)+tl.ConnectUS.Or(0)+tl.TLSUS.Or(0)) / 1000
	at = s.add("connect", at, min(at+connect, s.End))
	first := min(v.TTFTMS.Or(v.TTFAMS.Or(v.TTFIMS.Or(s.End))), s.End)
	if first > at {
		s.wait(tl, at, first)
	}
	if v.TTFTMS.OK() || v.TTFAMS.OK() || v.TTFIMS.OK() {
		s.add("decode", first, s.End)
	}
}

// wait divides the wait for the first token where the server said how.
func (s *Strip) wait(tl *timeline.Timeline, from, to float64) {
	queue, hasQueue := tl.Server["queue_ms"]
	prefill, hasPrefill := tl.Server["prefill_ms"]
	if !hasQueue && !hasPrefill || queue < 0 || prefill < 0 || from+queue+prefill > to*1.001 {
		s.add("wait", from, to)
		return
	}
	rest := "wait"
	if hasQueue && hasPrefill {
		rest = "network"
	}
	from = s.add(rest, from, to-queue-prefill)
	from = s.add("queue", from, from+queue)
	s.add("prefill", from, to)
}

func (s *Strip) add(kind string, from, to float64) float64 {
	if to > from {
		s.Parts = append(s.Parts, Part{kind, from, to})
		return to
	}
	return from
}

// arrivals notes when chunks came, evenly thinned when there are very many.
func (s *Strip) arrivals(tl *timeline.Timeline) {
	n := 0
	for range tl.Events.Generation() {
		n++
	}
	step := n/ticksMax + 1
	i := 0
	for ev := range tl.Events.Generation() {
		if i%step == 0 {
			s.Ticks = append(s.Ticks, float64(ev.AtUS)/1000)
		}
		i++
	}
}

// Ranking keeps the requests with the largest values.
type Ranking struct {
	keep  int
	Items []ranked
}

type ranked struct {
	value float64
	Strip *Strip
}

func (r *Ranking) wants(v float64) bool {
	return len(r.Items) < r.keep || v > r.Items[len(r.Items)-1].value
}

func (r *Ranking) push(v float64, s *Strip) {
	i, _ := slices.BinarySearchFunc(r.Items, v, func(a ranked, v float64) int {
		if a.value >= v {
			return -1
		}
		return 1
	})
	r.Items = slices.Insert(r.Items, i, ranked{v, s})
	if len(r.Items) > r.keep {
		r.Items = r.Items[:r.keep]
	}
}
