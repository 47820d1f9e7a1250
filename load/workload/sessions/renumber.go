package sessions

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/load/workload/records"
	"tokenmeter/record/timeline"
)

// Span is a stretch of time; a zero time is no bound.
type Span struct{ From, To time.Time }

func (s Span) holds(t time.Time) bool {
	return (s.From.IsZero() || !t.Before(s.From)) && (s.To.IsZero() || t.Before(s.To))
}

// Written is what Renumber wrote.
type Written struct {
	Requests, Conversations int64
	Cut                     int64     // lines that broke off and were left out
	First, Last             time.Time // when requests came
}

// numbered is a line of the format traffic.
type numbered struct {
	At      time.Time             `json:"at"`
	Session string                `json:"session,omitempty"`
	Parent  string                `json:"parent,omitempty"`
	Model   string                `json:"model,omitempty"`
	Input   int64                 `json:"in"`
	Output  int64                 `json:"out"`
	Cached  timeline.Opt[int64]   `json:"cached"`
	TookMS  float64               `json:"took_ms"`
	TTFTMS  timeline.Opt[float64] `json:"ttft_ms"`
	Hashes  []uint64              `json:"hash_ids,omitempty"`
}

// Renumber writes the requests of a span of a recording of the format traffic (a file, or
// a folder of them). Names of conversations and hashes become numbers, in the order in
// which they are met.
func Renumber(to io.Writer, path string, span Span) (sum Written, err error) {
	paths, err := filesOf(path)
	if err != nil {
		return sum, err
	}
	out := bufio.NewWriter(to)
	names, ids := map[string]string{"": ""}, map[uint64]uint64{}
	name := func(text string) string {
		if _, known := names[text]; !known {
			names[text] = "c" + strconv.Itoa(len(names))
		}
		return names[text]
	}
	write := func(c *said) error {
		line := numbered{At: c.begin, Session: name(c.session), Parent: name(c.parent), Model: c.call.Model, Input: c.call.Input, Output: c.call.Output,
			Cached: c.call.Cached, TookMS: float64(c.end.Sub(c.begin).Microseconds()) / 1e3}
		if s, ok := c.call.TTFT.Get(); ok {
			line.TTFTMS = timeline.Some(s * 1e3)
		}
		for _, id := range c.ids {
			if _, known := ids[id]; !known {
				ids[id] = uint64(len(ids) + 1)
			}
			line.Hashes = append(line.Hashes, ids[id])
		}
		if sum.Requests++; sum.First.IsZero() || c.begin.Before(sum.First) {
			sum.First = c.begin
		}
		if c.begin.After(sum.Last) {
			sum.Last = c.begin
		}
		data, err := json.Marshal(line)
		if err == nil {
			_, err = out.Write(append(printable.JSON(data), '\n'))
		}
		return err
	}
	for _, p := range paths {
		in, _, err := records.OpenFile(p)
		if err != nil {
			return sum, named(p, err)
		}
		cut, err := liveLines(in, func(c *said) error {
			if !span.holds(c.begin) {
				return nil
			}
			return write(c)
		})
		in.Close()
		if sum.Cut += cut; err != nil {
			return sum, err
		}
	}
	sum.Conversations = int64(len(names) - 1)
	switch {
	case sum.Requests > 0:
		return sum, out.Flush()
	case span == Span{}:
		return sum, fmt.Errorf("%s: there is no request in it%s", path, sum.without())
	}
	return sum, fmt.Errorf("%s: no request came in that time%s", path, sum.without())
}

// without says what was left out.
func (w *Written) without() string {
	if w.Cut == 0 {
		return ""
	}
	return fmt.Sprintf("; lines that broke off and were left out: %d", w.Cut)
}

// String says what was written.
func (w *Written) String() string {
	return fmt.Sprintf("%d requests of %d conversations, %s to %s%s", w.Requests, w.Conversations,
		w.First.Format(time.RFC3339), w.Last.Format(time.RFC3339), w.without())
}
