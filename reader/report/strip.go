package report

import (
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// strip is one request as a bar of its parts, times in ms since due.
type strip struct {
	id       int64
	dueS     float64
	class    timeline.Outcome
	message  string
	parts    []part
	ticks    []float64 // arrivals of chunks
	end      float64
	output   timeline.Opt[int64]
	ttft     timeline.Opt[float64]
	maxGap   timeline.Opt[float64]
	notSplit bool // the server did not say how the wait was spent
}

// part is a stretch of a strip.
type part struct {
	kind     string // late | connect | network | queue | prefill | wait | decode
	from, to float64
}

// ticksMax bounds the arrivals that are drawn of one request.
const ticksMax = 400

func newStrip(tl *timeline.Timeline, v *metric.Values) *strip {
	s := &strip{id: tl.Request, dueS: float64(tl.DueUS) / 1e6, class: tl.Outcome,
		output: v.OutputTokens, ttft: v.TTFTMS, maxGap: v.MaxGapMS}
	if tl.Error != nil {
		s.message = tl.Error.Message
	}
	s.end = max(float64(max(tl.Events.LastUS(), tl.CloseUS.Or(0)))/1000, v.E2EMS.Or(0))
	if tl.Outcome == timeline.OK {
		s.end = v.E2EMS.Or(s.end)
	}
	s.split(tl, v)
	s.arrivals(tl)
	return s
}

// split divides the request: our own lateness, making the connection, the wait
// for the first token and the decoding. The wait is divided only when the
// server said how.
func (s *strip) split(tl *timeline.Timeline, v *metric.Values) {
	at := max(float64(tl.StartUS-tl.DueUS)/1000, 0)
	s.add("late", 0, at)
	connect := float64(tl.DNSUS.Or(0)+tl.ConnectUS.Or(0)+tl.TLSUS.Or(0)) / 1000
	at = s.add("connect", at, min(at+connect, s.end))
	first := min(v.TTFTMS.Or(s.end), s.end)
	if first > at {
		s.wait(tl, v, at, first)
	}
	if v.TTFTMS.OK() {
		s.add("decode", first, s.end)
	}
}

func (s *strip) wait(tl *timeline.Timeline, v *metric.Values, from, to float64) float64 {
	queue, hasQueue := tl.Server["queue_ms"]
	prefill, hasPrefill := tl.Server["prefill_ms"]
	if !hasQueue && !hasPrefill || queue < 0 || prefill < 0 || from+queue+prefill > to*1.001 {
		s.notSplit = true
		s.add("wait", from, to)
		return to
	}
	network := to - from - queue - prefill
	if hasQueue && hasPrefill {
		from = s.add("network", from, from+network)
	} else {
		from = s.add("wait", from, from+network)
	}
	from = s.add("queue", from, from+queue)
	s.add("prefill", from, to)
	return to
}

func (s *strip) add(kind string, from, to float64) float64 {
	if to > from {
		s.parts = append(s.parts, part{kind, from, to})
		return to
	}
	return from
}

// arrivals notes when chunks came, evenly thinned when there are very many.
func (s *strip) arrivals(tl *timeline.Timeline) {
	n := 0
	for range tl.Events.Generation() {
		n++
	}
	step := n/ticksMax + 1
	i := 0
	for ev := range tl.Events.Generation() {
		if i%step == 0 {
			s.ticks = append(s.ticks, float64(ev.AtUS)/1000)
		}
		i++
	}
}

// ranking keeps the requests with the largest values.
type ranking struct {
	keep  int
	items []ranked
}

type ranked struct {
	value float64
	strip *strip
}

func (r *ranking) wants(v float64) bool {
	return len(r.items) < r.keep || v > r.items[len(r.items)-1].value
}

func (r *ranking) push(v float64, s *strip) {
	i, _ := slices.BinarySearchFunc(r.items, v, func(a ranked, v float64) int {
		if a.value >= v {
			return -1
		}
		return 1
	})
	r.items = slices.Insert(r.items, i, ranked{v, s})
	if len(r.items) > r.keep {
		r.items = r.items[:r.keep]
	}
}
