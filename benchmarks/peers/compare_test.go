//go:build linux

package main

import (
	"math"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		streams int
		most    float64
		gap     time.Duration
		tokens  int
	}{
		{1, 40000, 20 * time.Millisecond, 99},
		{800, 40000, 20 * time.Millisecond, 99},
		{1000, 40000, 25 * time.Millisecond, 79},
		{10000, 40000, 250 * time.Millisecond, 20}, // never fewer
		{10000, 0, 20 * time.Millisecond, 99},
	} {
		l := newLoad(c.streams, 20*time.Millisecond, 10*time.Second, c.most)
		if l.Gap != c.gap || l.Tokens != c.tokens {
			t.Errorf("%d streams, at most %v tokens/s: gap %v, %d tokens; want %v and %d", c.streams, c.most, l.Gap, l.Tokens, c.gap, c.tokens)
		}
		// On average the asked number of streams is open.
		if open := l.rate() * l.reply().Seconds(); math.Abs(open-float64(c.streams)) > 1e-9 {
			t.Errorf("%d streams: %v are open", c.streams, open)
		}
		if l.length() < 10*time.Second-time.Millisecond {
			t.Errorf("%d streams: measured requests start over %v", c.streams, l.length())
		}
	}
}

// Two requests whose errors are known.
func TestCompare(t *testing.T) {
	const second = int64(time.Second)
	truths := map[string]*truth{
		"a": {ID: "a", ReceivedNS: second, WriteNS: []int64{second + 50e6, second + 60e6, second + 70e6}, EndNS: second + 70e6},
		"b": {ID: "b", ReceivedNS: 2 * second, WriteNS: []int64{2*second + 50e6, 2*second + 60e6, 2*second + 70e6}, EndNS: 2*second + 70e6},
	}
	r := &row{Load: load{Streams: 1, Tokens: 3, First: 50 * time.Millisecond, Gap: 10 * time.Millisecond, Requests: 2},
		samples: []sample{{atNS: second, cpuNS: 0}, {atNS: 2*second + 70e6, cpuNS: 6000}}}
	m := &measured{
		requests: []request{
			{id: "a", sentNS: second - 1e6, firstMS: 52, lastMS: 72, atMS: []float64{52, 64, 72}}, // gaps 12 and 8
			{id: "b", firstMS: 54, lastMS: 74, atMS: []float64{54, 74}},                           // a token is missing
			{id: "c", firstMS: 1, lastMS: 2},
		},
		published: map[string]figures{"ttft": {Mean: 53, P50: 53, P99: 54}},
	}
	if err := r.compare(m, truths); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("TTFT", r.TTFT.Mean, 3) // +2 and +4
	near("E2E", r.E2E.Mean, 3)   // +2 and +4
	near("ITL", r.ITL.Mean, 2)   // only of a: +2 and −2
	near("token", r.Token.Mean, (1+3+1)/3.0)
	near("published TTFT", r.Published["ttft"].Mean, 3)
	near("CPU", r.CPUPerMillion, 1) // 6 µs for 6 tokens
	near("rate", r.RateShare, 1/r.Load.rate())
	if r.Requests != 2 || r.Unknown != 1 || r.Uneven != 1 {
		t.Errorf("%d compared, %d unknown, %d uneven", r.Requests, r.Unknown, r.Uneven)
	}
}

func TestCPUAt(t *testing.T) {
	s := []sample{{atNS: 10, cpuNS: 100}, {atNS: 20, cpuNS: 200}}
	for at, want := range map[int64]int64{5: 100, 10: 100, 15: 150, 20: 200, 99: 200} {
		if got := cpuAt(s, at); got != want {
			t.Errorf("at %d: %d, want %d", at, got, want)
		}
	}
}

func TestResponseID(t *testing.T) {
	for stream, want := range map[string]string{
		`data: {"id":"sim-7","object":"x"}`: "sim-7",
		`data: {"id":"cut`:                  "cut",
		``:                                  "",
	} {
		if got := responseID(stream); got != want {
			t.Errorf("%q: %q, want %q", stream, got, want)
		}
	}
}
