package workload

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tokenmeter/record/stat"
	"tokenmeter/wire/api"
)

// Description is what a workload will send, learnt from some of its items.
type Description struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Source   string `json:"source"`
	Items    int64  `json:"items"`    // that were looked at: arrivals
	Requests int64  `json:"requests"` // that they hold
	// Input and Output are asked lengths in tokens; Chars the length of the messages'
	// texts in characters, which is known for given prompts too.
	Input  Lengths5 `json:"input_tokens"`
	Output Lengths5 `json:"output_tokens"`
	Chars  Lengths5 `json:"chars"`
	Turns  Lengths5 `json:"requests_per_item"`
	// MeanBytes is the mean of the same texts' bytes in UTF-8.
	MeanBytes float64          `json:"-"`
	ByName    map[string]int64 `json:"classes"`
	// Repeats is the share of requests that were sent in the same words before.
	Repeats float64 `json:"repeats"`
	// PrefixReuse is the share of the input that begins as an earlier request
	// did: what an unlimited prefix cache would have. Text is compared in
	// stretches of 64 bytes, about 16 tokens.
	PrefixReuse float64       `json:"prefix_reuse"`
	Checked     int64         `json:"checked"` // requests whose answer is checked
	Leaving     int64         `json:"leaving"` // users who hang up
	Slow        int64         `json:"slow"`    // users who read slowly
	Images      int64         `json:"images"`
	First       []api.Message `json:"first"`
	// Sessions says more of recorded sessions of agents; null for others.
	Sessions *Recorded `json:"sessions"`
}

// Lengths5 describes a sample of lengths; N is 0 where none is known. Percentiles are of
// type 7, as all of ours, to whole numbers.
type Lengths5 struct {
	N    int64   `json:"n"`
	Mean float64 `json:"mean"`
	Min  int64   `json:"min"`
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P99  int64   `json:"p99"`
	Max  int64   `json:"max"`
	// Bins counts the sample in Edges[i] ≤ x < Edges[i+1].
	Edges []int64 `json:"edges"`
	Bins  []int64 `json:"bins"`
}

const reuseBlock = 64 // bytes

// Describe looks at n items from the given one on: a trace may be played in part.
func Describe(w Workload, first, n int64) (Description, error) {
	info := w.Info()
	d := Description{Kind: info.Kind, Name: info.Name, Source: info.Source, ByName: map[string]int64{}}
	var input, output, chars, turns []int64
	blocks, prompts := map[uint64]bool{}, map[uint64]bool{}
	var total, reused, again, bytes int64
	for i := range n {
		it := w.Item(first + i)
		if it.Err != nil {
			return d, it.Err
		}
		if i == 0 {
			d.First = it.Conversation(0, nil)
		}
		d.Items++
		d.ByName[it.Class]++
		turns = append(turns, int64(it.Len()))
		for k := range it.Len() {
			s := it.Nth(k)
			d.Requests++
			if x, ok := s.InputTokens.Get(); ok {
				input = append(input, x)
			}
			if x, ok := s.MaxTokens.Get(); ok {
				output = append(output, x)
			}
			if it.Kind == Session {
				continue // texts of many megabytes, whose lengths and ids tell as much
			}
			messages := it.Conversation(k, func(j int) string { return it.Nth(j).Answer })
			text, pictures := flat(messages)
			d.Images += pictures
			var long, size int64
			for _, m := range messages {
				long, size = long+int64(utf8.RuneCountInString(m.Content)), size+int64(len(m.Content))
			}
			chars, bytes = append(chars, long), bytes+size
			total += int64(len(text))
			seen := known(text, blocks)
			reused += seen
			h := saltOf(text)
			if prompts[h] {
				again++
			}
			prompts[h] = true
			count(&d.Checked, s.Check != nil)
			count(&d.Leaving, s.LeaveAfter > 0 || s.LeaveTokens > 0)
			count(&d.Slow, s.ReadRate > 0)
		}
	}
	d.Input, d.Output, d.Chars, d.Turns = sampleOf(input), sampleOf(output), sampleOf(chars), sampleOf(turns)
	if len(chars) > 0 {
		d.MeanBytes = float64(bytes) / float64(len(chars))
	}
	if total > 0 {
		d.PrefixReuse = float64(reused) / float64(total)
	}
	if m, ok := w.(interface {
		recorded(first, n int64) (*Recorded, error)
	}); ok {
		var err error
		if d.Sessions, err = m.recorded(first, n); err != nil {
			return d, err
		}
	}
	if d.Sessions != nil {
		d.PrefixReuse = d.Sessions.IdealHit
	}
	if d.Requests > 0 {
		d.Repeats = float64(again) / float64(d.Requests)
	}
	return d, nil
}

func count(n *int64, is bool) {
	if is {
		*n++
	}
}

func flat(messages []api.Message) (text string, pictures int64) {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Role)
		b.WriteByte('\n')
		b.WriteString(m.Content)
		b.WriteByte('\n')
		pictures += int64(len(m.Images))
	}
	return b.String(), pictures
}

// known is how many bytes of a text begin as an earlier one did. The blocks of
// the text are known from then on.
func known(text string, blocks map[uint64]bool) (n int64) {
	h := fnv.New64a()
	hit := true
	for len(text) >= reuseBlock {
		h.Write([]byte(text[:reuseBlock]))
		text = text[reuseBlock:]
		sum := h.Sum64() // of all from the beginning
		if hit = hit && blocks[sum]; hit {
			n += reuseBlock
		}
		blocks[sum] = true
	}
	return n
}

func sampleOf(x []int64) Lengths5 {
	if len(x) == 0 {
		return Lengths5{}
	}
	x = slices.Sorted(slices.Values(x))
	sum, sorted := 0.0, make(stat.Sorted, len(x))
	for i, v := range x {
		sorted[i] = float64(v)
		sum += sorted[i]
	}
	at := func(p float64) int64 {
		v, _ := stat.Quantile(sorted, p)
		return int64(math.Round(v))
	}
	s := Lengths5{N: int64(len(x)), Min: x[0], P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: x[len(x)-1]}
	s.Mean = sum / float64(len(x))
	s.Edges = edges(s.Min, s.Max)
	s.Bins = make([]int64, len(s.Edges)-1)
	for _, v := range x {
		i, found := slices.BinarySearch(s.Edges, v)
		if !found {
			i--
		}
		s.Bins[min(i, len(s.Bins)-1)]++
	}
	return s
}

// edges are at most 10 bins of a round width that hold all from lo to hi.
func edges(lo, hi int64) []int64 {
	width := int64(1)
	for step := 0; (hi-lo)/width >= 10; step++ {
		width = []int64{2, 5, 10}[step%3] * int64(math.Pow10(step/3))
	}
	first := lo / width * width
	out := []int64{first}
	for e := first + width; ; e += width {
		if out = append(out, e); e > hi {
			return out
		}
	}
}

// Dispersion says how uneven arrivals are: the coefficient of variation of their
// gaps (0 even, 1 Poisson), and the variance of the number in windows of ten
// mean gaps over its mean (0 even, 1 Poisson, more: bursts).
type Dispersion struct {
	N      int64   `json:"n"`
	RatePS float64 `json:"rate_per_s"`
	GapCV  float64 `json:"gap_cv"`
	Index  float64 `json:"index_of_dispersion"`
}

// DispersionOf measures due times, which are in order.
func DispersionOf(at []time.Duration) Dispersion {
	d := Dispersion{N: int64(len(at))}
	if len(at) < 3 || at[len(at)-1] <= at[0] {
		return d
	}
	n, span := float64(len(at)-1), (at[len(at)-1] - at[0]).Seconds()
	mean := span / n
	d.RatePS = 1 / mean
	ss := 0.0
	for i := 1; i < len(at); i++ {
		gap := (at[i] - at[i-1]).Seconds()
		ss += (gap - mean) * (gap - mean)
	}
	d.GapCV = math.Sqrt(ss/n) / mean
	windows := make([]float64, max(int(span/(10*mean)), 1))
	for _, t := range at {
		if w := int((t - at[0]).Seconds() / (10 * mean)); w < len(windows) {
			windows[w]++
		}
	}
	var m, v float64
	for _, c := range windows {
		m += c / float64(len(windows))
	}
	for _, c := range windows {
		v += (c - m) * (c - m) / float64(max(len(windows)-1, 1))
	}
	if m > 0 {
		d.Index = v / m
	}
	return d
}

// Sent is how many requests the workload sends where so many are asked for, or items come at a
// rate for a time, or it has so many items (0: no such bound); whichever is least. Items that
// have begun are sent to their end, and a rate is of items. 0: nobody knows.
func (d *Description) Sent(requests int64, rate float64, duration time.Duration, items int64) (n int64) {
	if d.Requests == 0 {
		return 0
	}
	least := func(items int64) {
		if m := items * d.Requests / d.Items; m > 0 && (n == 0 || m < n) {
			n = m
		}
	}
	least((requests*d.Items + d.Requests - 1) / d.Requests)
	least(int64(rate * duration.Seconds()))
	least(items)
	return n
}
