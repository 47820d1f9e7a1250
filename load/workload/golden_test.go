package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"sync"
	"testing"
	"time"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload/sessions"
)

// What a seed and a salt send, and when, never changes: not with the processor,
// the version of Go, the number of workers or the order in which items are
// made. A change of these sums breaks the repetition of older runs; it needs a
// word in the changelog.
var golden = map[string]string{
	"default":   "b2f43fd1ce675c9a",
	"mix":       "802c47559a2ac0fb",
	"mooncake":  "6795fc4b070dc4a5",
	"prose":     "9b0dddf04689a627",
	"schedules": "e2b3f96113006a59",
}

func TestSameSeedSameBytes(t *testing.T) {
	sums := map[string]string{}
	hashed := func(name string, w Workload, n int64) {
		h := sha256.New()
		for i := int64(-3); i < n; i++ {
			writeItem(h, w.Item(i))
		}
		sums[name] = hex.EncodeToString(h.Sum(nil)[:8])
	}
	hashed("default", synthetic(lengths(t, "lognormal:256,128,max=2000"), lengths(t, "normal:128,30"), 42, "salt"), 300)
	hashed("mix", load(t, "testdata/mix.yaml", Options{Seed: 42, Salt: "salt"}), 200)
	hashed("mooncake", load(t, "testdata/mooncake.jsonl", Options{Seed: 42, Salt: "salt"}), 6)
	hashed("prose", yaml(t, "tokenizer: o200k_base\ncorpus: prose\ninput: uniform:10,900", Options{Seed: 42, Salt: "salt"}), 50)

	h := sha256.New()
	for _, o := range []schedule.Open{
		{Rate: 10}, {Rate: 7.3, Arrival: "poisson", Seed: 42}, {Rate: 7.3, Arrival: "gamma", Burstiness: 0.3, Seed: 42},
		{Rate: 3, Arrival: "uniform", Seed: 42}, {Arrival: "poisson", Seed: 1, Stages: schedule.Curve{{For: 60e9, From: 1, To: 90}, {For: 30e9, From: 90, To: 2}}},
	} {
		o.Requests = 2000
		for a := range o.Arrivals(schedule.Share{}) {
			fmt.Fprintln(h, a.Index, int64(a.At))
		}
	}
	sums["schedules"] = hex.EncodeToString(h.Sum(nil)[:8])
	for name, want := range golden {
		if sums[name] != want {
			t.Errorf("%s: %s, want %s", name, sums[name], want)
		}
	}
}

func writeItem(h hash.Hash, it Item) {
	fmt.Fprintln(h, it.Index, it.Kind, it.Class, it.Live, it.Len(), it.Err)
	for k := range it.Len() {
		s := it.Nth(k)
		in, hasIn := s.InputTokens.Get()
		out, hasOut := s.MaxTokens.Get()
		at, fixed := s.At.Get()
		fmt.Fprintln(h, in, hasIn, out, hasOut, at, fixed, s.Units, s.Name, s.After, s.Wait, s.Model, s.LeaveAfter, s.LeaveTokens, s.ReadRate, s.Answer)
		for _, m := range it.Conversation(k, nil) {
			fmt.Fprintln(h, m.Role, m.Content)
			for _, p := range m.Images {
				h.Write(p.Data)
			}
		}
	}
}

// Items do not depend on which were made before them, nor on who makes them, nor on how
// many make them at once.
func TestItemsAreIndependent(t *testing.T) {
	opt := Options{Seed: 9, Salt: "x"}
	works := map[string]func() Workload{}
	for _, s := range Scenarios() {
		works[s.Name] = func() Workload { w, _ := FromSpec(s.Name, s.Workload, opt); return w }
	}
	for _, name := range []string{"mix.yaml", "mooncake.jsonl", "bailian.jsonl", "azure2024.csv", "sharegpt.json", "checks.jsonl",
		"../sessions/testdata/weka.json", "../sessions/testdata/claude.jsonl", "../sessions/testdata/codex.jsonl", "../sessions/testdata/otlp.jsonl", "../sessions/testdata/spans.json"} {
		works[name] = func() Workload { return load(t, "testdata/"+name, opt) }
	}
	for name, m := range map[string]Midway{
		"from the middle":    {Sessions: 6, From: 0.8, To: 0.8},
		"from the beginning": {Sessions: 6},
		"without pauses":     {Sessions: 3, To: 1, Idle: sessions.Idle{Most: time.Millisecond}},
	} {
		works[name] = func() Workload {
			w, err := load(t, "sessions/testdata/weka.json", opt).Midway(m)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
	}
	sum := func(it Item) string {
		h := sha256.New()
		writeItem(h, it)
		return string(h.Sum(nil))
	}
	const items = 12
	for name, work := range works {
		a, b := work(), work()
		var forward [items]string
		for i := range forward {
			forward[i] = sum(a.Item(int64(i)))
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for i := int64(items - 1); i >= 0; i-- {
					if primed, ok := b.(Primed); ok {
						primed.Prime(i)
					}
					if sum(b.Item(i)) != forward[i] {
						t.Errorf("%s: item %d depends on who makes it, and when", name, i)
					}
				}
			})
		}
		all.Wait()
	}
}
