package scrape

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tokenmeter/record/timeline"
)

// What counts lasts from second 10 to second 20.
func replayOf(t *testing.T, readings ...Reading) *Replay {
	t.Helper()
	r := NewReplay(10e6, 20e6, nil)
	for i := range readings {
		if readings[i].URL == "" {
			readings[i].URL = "u"
		}
		if err := r.Read(&readings[i]); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func tokensAt(s float64, n int) Reading {
	return Reading{AtUS: int64(s * 1e6), Page: fmt.Appendf(nil, "vllm:generation_tokens_total{engine=\"0\"} %d\nvllm:num_requests_running %d\n", n, n%7)}
}

func TestReplayTakesCountersFromBeforeToAfter(t *testing.T) {
	early := tokensAt(11, 120)
	early.Early = true
	for _, c := range []struct {
		name     string
		readings []Reading
		total    float64
		from, to float64
	}{
		{"between the last before and the first after", []Reading{tokensAt(1, 0), tokensAt(9, 100), tokensAt(15, 600), tokensAt(21, 1100), tokensAt(30, 5000)}, 1000, 10, 21},
		{"a reading that says of itself that it is early", []Reading{tokensAt(1, 0), early, tokensAt(19, 1100)}, 980, 11, 19},
		{"not after one that counts", []Reading{tokensAt(5, 0), tokensAt(10.5, 50), early, tokensAt(19, 1100)}, 1100, 10, 19},
		{"nothing before", []Reading{tokensAt(12, 100), tokensAt(18, 700)}, 600, 12, 18},
		{"the server was started again", []Reading{tokensAt(9, 100), tokensAt(15, 600), tokensAt(18, 40), tokensAt(20, 90)}, 590, 10, 20},
	} {
		m, samples, _ := replayOf(t, c.readings...).Summary()
		got := m.Counters["output_tokens"]
		if got.Total != c.total || m.FromS.Or(-1) != c.from || m.ToS.Or(-1) != c.to || math.Abs(got.PerS.Or(0)-c.total/(c.to-c.from)) > 1e-9 {
			t.Errorf("%s: %+v from %v to %v, want %v from %v to %v", c.name, got, m.FromS.Or(-1), m.ToS.Or(-1), c.total, c.from, c.to)
		}
		if len(samples) == 0 {
			t.Errorf("%s: no samples", c.name)
		}
	}
}

// Energy is used whether anybody asks or not: growth from 10 s before the start would be
// too much, so the nearer reading counts. 700 W all the time.
func TestReplayTakesMetersFromTheNearestReading(t *testing.T) {
	at := func(s float64) Reading {
		return Reading{AtUS: int64(s * 1e6), Page: fmt.Appendf(nil, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID=\"a\"} %v\nDCGM_FI_DEV_POWER_USAGE{UUID=\"a\"} 700\n", s*700e3)}
	}
	for _, c := range []struct {
		readings []Reading
		joules   float64
	}{
		{[]Reading{at(1), at(10.5), at(20)}, 6650},
		{[]Reading{at(9.9), at(10.5), at(20)}, 7070},
	} {
		m, _, _ := replayOf(t, c.readings...).Summary()
		got := m.Counters["gpu_energy_j"]
		if math.Abs(got.Total-c.joules) > 1e-6 || math.Abs(got.PerS.Or(0)-700) > 1e-6 || m.Engine != "" {
			t.Errorf("%+v, want %v J", got, c.joules)
		}
	}
}

// A page that has figures of the whole time: counters between two pages, gauges summed
// up elsewhere, of two replicas.
func TestReplayOfSums(t *testing.T) {
	sums := func(url string, mean, most float64) []Reading {
		return []Reading{
			{URL: url, AtUS: 10e6, Early: true, Page: []byte("vllm:generation_tokens 0\nvllm:time_to_first_token_seconds_sum 0\nvllm:time_to_first_token_seconds_count 0\n")},
			{URL: url, AtUS: 20e6, Times: 30, EveryS: 0.33, Page: []byte("vllm:generation_tokens 500\nvllm:time_to_first_token_seconds_sum 1.5\nvllm:time_to_first_token_seconds_count 10\n"),
				Mean:  fmt.Appendf(nil, "vllm:num_requests_running %v\nvllm:kv_cache_usage_perc 0.25\n", mean),
				Least: []byte("vllm:num_requests_running 0\nvllm:kv_cache_usage_perc 0.1\n"),
				Most:  fmt.Appendf(nil, "vllm:num_requests_running %v\nvllm:kv_cache_usage_perc 0.5\n", most)},
		}
	}
	m, _, _ := replayOf(t, append(sums("a", 2, 4), sums("b", 3, 5)...)...).Summary()
	run, kv := m.Gauges["running"], m.Gauges["kv_usage"]
	if run.Mean != 5 || run.Min != 0 || run.Max != 9 || kv.Mean != 0.25 || kv.Min != 0.1 || kv.Max != 0.5 {
		t.Errorf("running %+v, KV cache %+v", run, kv)
	}
	if m.Counters["output_tokens"].Total != 1000 || m.Counters["output_tokens"].PerS != timeline.Some(100.0) || m.Times["ttft"].N != 20 || m.Times["ttft"].MeanMS.Or(0) != 150 {
		t.Errorf("%+v, %+v", m.Counters, m.Times)
	}
	if m.EveryS != 0.33 || m.Sources[0].Readings != 31 {
		t.Errorf("every %v s, %+v", m.EveryS, m.Sources)
	}
	// Gauges alone, as an exporter of GPUs without a meter has them.
	m, _, _ = replayOf(t, Reading{AtUS: 10e6, Page: []byte{}, Early: true}, Reading{AtUS: 20e6, Mean: []byte("DCGM_FI_DEV_GPU_UTIL 50\n"), Least: []byte("DCGM_FI_DEV_GPU_UTIL 0\n"), Most: []byte("DCGM_FI_DEV_GPU_UTIL 100\n")}).Summary()
	if m == nil || m.Gauges["gpu_utilization"].Mean != 0.5 || m.Gauges["gpus"].Mean != 1 {
		t.Errorf("%+v", m)
	}
}

// Two replicas whose readings stand in a file each: the gauge of both is over the same
// moments, whichever file comes first, and what is kept is in the order of time.
func TestReplayOfFilesAfterEachOther(t *testing.T) {
	at := func(url string, s int64, running int) Reading {
		return Reading{URL: url, AtUS: s * 1e6, Page: fmt.Appendf(nil, "vllm:num_requests_running %d\nvllm:num_requests_waiting 1\n", running)}
	}
	a := []Reading{at("a", 10, 1), at("a", 12, 2), at("a", 14, 3), at("a", 16, 4)}
	b := []Reading{at("b", 11, 10), at("b", 13, 20), at("b", 15, 30), at("b", 17, 40)}
	// From 11 on, when both were read: 11, 12, 22, 23, 33, 34, 44.
	const mean = (11 + 12 + 22 + 23 + 33 + 34 + 44) / 7.0
	for name, list := range map[string][]Reading{"a first": slices.Concat(a, b), "b first": slices.Concat(b, a)} {
		m, samples, _ := replayOf(t, list...).Summary()
		if got := m.Gauges["running"]; math.Abs(got.Mean-mean) > 1e-9 || got.Min != 11 || got.Max != 44 {
			t.Errorf("%s: %+v, want a mean of %v", name, got, mean)
		}
		for i := 1; i < len(samples); i++ {
			if p, q := samples[i-1], samples[i]; q.AtUS < p.AtUS || q.AtUS == p.AtUS && q.Name < p.Name {
				t.Errorf("%s: %+v after %+v", name, q, p)
			}
		}
	}
}

// A file may say anything of the time between its readings.
func TestReplayEverySoLong(t *testing.T) {
	far := tokensAt(21, 5)
	far.EveryS = math.MaxInt64
	m, _, _ := replayOf(t, tokensAt(9, 0), far).Summary()
	if m.EveryS != mostEveryS || m.Gauges["running"].Max != 5 {
		t.Errorf("every %v s, %+v", m.EveryS, m.Gauges)
	}
}

func TestReplayOfNothingThatIsKnown(t *testing.T) {
	if m, _, _ := replayOf(t, Reading{AtUS: 10e6, Page: []byte("x 1\n")}).Summary(); m != nil {
		t.Errorf("%+v", m)
	}
	r := NewReplay(0, 1, nil)
	for i := range mostReplayed {
		if err := r.Read(&Reading{URL: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Read(&Reading{URL: "one more"}); err == nil {
		t.Error("any number of pages is taken")
	}
}
