package workload

import (
	"testing"
	"time"

	"tokenmeter/load/workload/sessions"
	"tokenmeter/wire/api"
)

// said is a conversation as one text.
func said(messages []api.Message) (text string) {
	for _, m := range messages {
		text += m.Role + ": " + m.Content + "\n"
	}
	return text
}

// A session that begins in the middle says what it would have said there, and begins with
// what its prime said. Sessions after the first ones, and the same seed, play alike.
func TestMidway(t *testing.T) {
	load := func(seed uint64) *Loaded {
		work, err := FromSpec("x", Spec{Content: Content{File: "sessions/testdata/weka.json"}}, Options{Salt: "s", Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(work.Close)
		return work
	}
	whole := load(1)
	// 0.8 of 8.1 s is 6.48 s: the second turn and the first of the sub-agent are primes.
	work, err := whole.Midway(Midway{Sessions: 2, From: 0.8, To: 0.8, PrimeTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	primed := work.(Primed)
	if primed.Primes() != 2 {
		t.Errorf("%d primes", primed.Primes())
	}
	for i := range int64(2) {
		prime, any := primed.Prime(i)
		item := work.Item(i)
		if !any || prime.Err != nil || item.Err != nil || prime.Len() != 2 || item.Len() != 2 {
			t.Fatalf("%+v\n%+v", prime, item)
		}
		for k := range 2 {
			if s := prime.Nth(k); s.After != nil || s.Wait != 0 || s.MaxTokens.Or(0) != 1 {
				t.Errorf("prime %d: %+v", k, s)
			}
		}
		sub, last := item.Nth(0), item.Nth(1)
		if sub.Wait != 120*time.Millisecond || sub.After != nil || len(last.After) != 1 || last.After[0] != 0 || last.Wait != 600*time.Millisecond ||
			sub.Agent != "sub_001" || sub.MaxTokens.Or(0) != 30 || sub.Reusable.Or(0) != 192 || last.Reusable.Or(0) != 448 {
			t.Errorf("%+v\n%+v", sub, last)
		}
		for k, by := range []int{1, 0} { // whose prime it is; the recorded answer has whole blocks in the last turn only
			begin, goesOn := prime.Conversation(by, nil), item.Conversation(k, nil)
			if len(goesOn) != 1+2*k || begin[0].Content == "" || !hasPrefix(said(goesOn), begin[0].Content, 0.99) {
				t.Errorf("item %d, step %d does not begin with its prime:\n%.200s\n%.200s", i, k, said(goesOn), said(begin))
			}
		}
	}
	a, b := work.Item(2), whole.Item(2)
	if a.Len() != 5 || said(a.Conversation(4, nil)) != said(b.Conversation(4, nil)) {
		t.Error("a session after the first ones begins at its beginning")
	}
	if said(first(work, 0)) == said(first(work, 1)) {
		t.Error("two plays of a session share their texts")
	}
	where := map[time.Duration]bool{}
	anywhere, _ := load(7).Midway(Midway{Sessions: 64, To: 1})
	again, _ := load(7).Midway(Midway{Sessions: 64, To: 1})
	for i := range int64(64) {
		a, b := anywhere.Item(i), again.Item(i)
		if a.Err != nil || a.Len() != b.Len() || a.Wait != b.Wait {
			t.Errorf("item %d: %d and %d requests, %v", i, a.Len(), b.Len(), a.Err)
		}
		where[a.Wait] = true
	}
	if len(where) < 32 {
		t.Errorf("64 sessions begin at %d moments", len(where))
	}
	cut, _ := whole.Midway(Midway{Idle: sessions.Idle{Most: 500 * time.Millisecond}})
	if cut.Item(0).More[0].Wait != 500*time.Millisecond {
		t.Errorf("%+v", cut.Item(0).More[0])
	}
}

// hasPrefix reports whether a text holds the first share of another one near its beginning.
func hasPrefix(text, begin string, share float64) bool {
	n := int(float64(len(begin)) * share)
	return len(text) > n+6 && text[len("user: "):len("user: ")+n] == begin[:n]
}

// What can't begin in the middle says so.
func TestNoMidway(t *testing.T) {
	made, err := FromSpec("x", Spec{Content: Content{Input: "16"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := FromSpec("x", Spec{Content: Content{File: "sessions/testdata/weka.json", History: "live"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	for _, work := range []*Loaded{made, live} {
		if _, err := work.Midway(Midway{Sessions: 1}); err == nil {
			t.Error("it can")
		}
	}
}

func first(w Workload, i int64) []api.Message {
	it := w.Item(i)
	return it.Conversation(0, nil)
}
