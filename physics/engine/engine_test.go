package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

// run gives the requests to a configuration and returns the events.
func run(t testing.TB, cfg Config, requests ...*Request) (all []Event) {
	t.Helper()
	e, err := New(cfg, func(ev Event) { all = append(all, ev) })
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(slices.Values(requests)); err != nil {
		t.Fatal(err)
	}
	if e.live != 0 {
		t.Errorf("%d requests are left over", e.live)
	}
	for i := range e.instances {
		checkBlocks(t, e.instances[i].blocks)
		if s := e.instances[i].now(); s.BlocksUsed != 0 || s.Running != 0 || s.Waiting != 0 || s.QueuedTokens != 0 {
			t.Errorf("instance %d is not empty at the end: %+v", i, s)
		}
	}
	return all
}

// checkBlocks holds the block lists to their rules.
func checkBlocks(t testing.TB, b *blocks) {
	t.Helper()
	if !b.limited() {
		return
	}
	end := int32(len(b.uses))
	free := 0
	for i := b.next[end]; i != end; i = b.next[i] {
		if b.uses[i] != 0 {
			t.Fatalf("block %d is free and in use", i)
		}
		free++
	}
	used := 0
	for _, n := range b.uses {
		if n > 0 {
			used++
		}
	}
	if free != b.free || free+used != len(b.uses) {
		t.Fatalf("%d free (counted %d) and %d used of %d blocks", free, b.free, used, len(b.uses))
	}
}

// times is when a request's tokens came, and how many at each moment.
func times(all []Event, r *Request) (at []time.Duration, n []int) {
	for _, ev := range all {
		if ev.Kind == Tokens && ev.Request == r {
			at, n = append(at, ev.At), append(n, ev.Tokens)
		}
	}
	return at, n
}

func want(t *testing.T, what string, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

var linear = Linear{Base: 5 * ms, PerSequence: ms, PerPrefillToken: 100 * time.Microsecond}

func request(at time.Duration, prompt, output int) *Request {
	return &Request{Arrival: at, PromptTokens: prompt, OutputTokens: output}
}

func TestOneRequest(t *testing.T) {
	r := request(3*ms, 100, 3)
	all := run(t, Config{Law: linear}, r)
	at, _ := times(all, r)
	want(t, "tokens", at, 18*ms, 24*ms, 30*ms) // 5 + 10; then 5 + 1 each
	if r.TTFT() != 15*ms || r.TPOT() != 6*ms || r.E2E() != 27*ms || r.Start != 3*ms {
		t.Errorf("%+v", r)
	}
}

func TestAConfiguratorsLatency(t *testing.T) {
	// AIConfigurator: TTFT 202.65 ms, TPOT 8.07 ms, 1,000 tokens: 8,264.58 ms.
	law := LawFunc(func(b *Batch) time.Duration {
		if b.Prefills > 0 {
			return 202650 * time.Microsecond
		}
		return 8070 * time.Microsecond
	})
	r := request(0, 4000, 1000)
	run(t, Config{Law: law}, r)
	if r.E2E() != 8264580*time.Microsecond {
		t.Errorf("%v", r.E2E())
	}
}

func TestChunkedPrefillMixesWithDecoding(t *testing.T) {
	// A decodes when B comes with 100 tokens; a step takes 40 positions.
	a, b := request(0, 10, 6), request(7*ms, 100, 2)
	all := run(t, Config{Law: linear, MaxBatchTokens: 40, MaxSequences: 4}, a, b)
	at, _ := times(all, a)
	// 6: prompt. 12: alone. Then 39, 39 and 22 tokens of B beside A: 9.9, 9.9, 8.2.
	want(t, "A", at, 6*ms, 12*ms, 21900*time.Microsecond, 31800*time.Microsecond, 40*ms, 47*ms)
	at, _ = times(all, b)
	want(t, "B", at, 40*ms, 47*ms)
	if b.Start != 12*ms {
		t.Errorf("B began at %v", b.Start)
	}
}

func TestPrefillFirstHoldsDecodingUp(t *testing.T) {
	a, b := request(0, 10, 4), request(7*ms, 100, 2)
	all := run(t, Config{Law: linear, Batching: PrefillFirst, MaxBatchTokens: 40, MaxSequences: 4}, a, b)
	at, _ := times(all, a)
	want(t, "A", at, 6*ms, 12*ms, 34*ms, 40*ms) // 12 to 27: B's prompt; 27 to 34: both
	at, _ = times(all, b)
	want(t, "B", at, 27*ms, 34*ms)
}

func TestStaticBatchWaitsForItsLongest(t *testing.T) {
	z := request(0, 20, 1)
	a, b, c := request(ms, 10, 2), request(2*ms, 20, 4), request(3*ms, 10, 2)
	all := run(t, Config{Law: linear, Batching: Static, MaxSequences: 2}, z, a, b, c)
	at, _ := times(all, a)
	want(t, "A", at, 16*ms, 23*ms) // from 7 on: 5 + 2 × 20 × 0.1 (padded), then 5 + 2
	at, _ = times(all, b)
	want(t, "B", at, 16*ms, 23*ms, 30*ms, 37*ms)
	at, _ = times(all, c)
	want(t, "C", at, 43*ms, 49*ms) // it had no place in the batch of A and B: 37 + 5 + 1
}

func TestPreemption(t *testing.T) {
	// Two requests of 32 + 32 tokens in 6 blocks of 16: both start, the second
	// gives way when the first needs its fourth block.
	a, b := request(0, 32, 32), request(0, 32, 32)
	all := run(t, Config{Law: linear, Blocks: 6}, a, b)
	if a.Preempted != 0 || b.Preempted != 1 {
		t.Errorf("preempted %d and %d times", a.Preempted, b.Preempted)
	}
	if a.End >= b.First+time.Hour || b.Made != 32 {
		t.Errorf("%+v", b)
	}
	if _, n := times(all, b); sum(n) != 32 {
		t.Errorf("%d tokens told", sum(n))
	}
}

// Who lost a place has it again before the others, and the older before the younger.
func TestQueueIsFirstComeFirstServed(t *testing.T) {
	var q queue
	a, b, c, d := request(0, 1, 1), request(0, 1, 1), request(0, 1, 1), request(0, 1, 1)
	q.push(c)
	q.push(d)
	q.pushFront(b)
	q.pushFront(a)
	for i, want := range []*Request{a, b, c, d} {
		if got := q.peek(); got != want {
			t.Fatalf("place %d has another", i)
		}
		q.pop(want)
	}
	if q.peek() != nil || q.live != 0 {
		t.Errorf("%d are left", q.live)
	}
}

func sum(v []int) (s int) {
	for _, x := range v {
		s += x
	}
	return s
}

func TestPrefixCache(t *testing.T) {
	tokens := make([]uint32, 100)
	for i := range tokens {
		tokens[i] = uint32(i)
	}
	names := NameBlocks(tokens, 16) // 6 full blocks
	ask := func(at time.Duration, n int) *Request {
		r := request(at, n, 1)
		r.Blocks = names[:min(n/16, 6)]
		return r
	}
	a, b, c, d := ask(0, 100), ask(100*ms, 100), ask(200*ms, 96), ask(300*ms, 15)
	run(t, Config{Law: linear, Blocks: 100, PrefixCache: true}, a, b, c, d)
	// The last token is always computed: of 96 tokens only 80 can be had.
	for i, r := range []*Request{a, b, c, d} {
		if want := []int{0, 96, 80, 0}[i]; r.Cached != want {
			t.Errorf("request %d: %d tokens cached, want %d", i, r.Cached, want)
		}
	}
	if b.TTFT() != 5*ms+400*time.Microsecond {
		t.Errorf("TTFT with 4 tokens to compute: %v", b.TTFT())
	}
	// A cache of 10 blocks forgets when other requests need the room.
	a, x, b := ask(0, 100), request(100*ms, 140, 1), ask(200*ms, 100)
	run(t, Config{Law: linear, Blocks: 10, PrefixCache: true}, a, x, b)
	if b.Cached >= 96 {
		t.Errorf("%d tokens survived", b.Cached)
	}
}

func TestConversationReusesItsOutput(t *testing.T) {
	tokens := make([]uint32, 200)
	for i := range tokens {
		tokens[i] = uint32(i * 7)
	}
	names := NameBlocks(tokens, 16)
	a := request(0, 64, 64)
	a.Blocks = names[:8]
	b := request(time.Second*2, 160, 1)
	b.Blocks = names[:10]
	run(t, Config{Law: linear, Blocks: 100, PrefixCache: true}, a, b)
	// 127 of the 128 tokens have a cache: 7 full blocks.
	if b.Cached != 112 {
		t.Errorf("%d tokens cached", b.Cached)
	}
}

func TestSpeculation(t *testing.T) {
	// The mean of 1 + accepted of k = 4 at 0.8 is (1 − 0.8⁵) / 0.2 = 3.3616.
	r := request(0, 10, 200_001)
	e, _ := New(Config{Law: linear, Speculation: &Speculation{Draft: 4, Acceptance: 0.8}, Seed: 1}, nil)
	if err := e.Run(slices.Values([]*Request{r})); err != nil {
		t.Fatal(err)
	}
	s := e.Stats()
	near(t, "tokens a step", 200_000/float64(s.Steps-1), 3.3616, 0.01)
	near(t, "accepted share", float64(s.Accepted)/float64(s.Drafted), 0.5904, 0.01)
	if r.Made != 200_001 {
		t.Errorf("made %d", r.Made)
	}
	// A guess that is never right costs nothing here and gains nothing.
	a, b := request(0, 10, 20), request(0, 10, 20)
	run(t, Config{Law: linear, Speculation: &Speculation{Draft: 4}}, a)
	run(t, Config{Law: linear}, b)
	if a.E2E() != b.E2E() {
		t.Errorf("%v and %v", a.E2E(), b.E2E())
	}
}

func TestBeamSearchTellsAtTheEnd(t *testing.T) {
	r := request(0, 100, 10)
	r.Beams = 4
	all := run(t, Config{Law: linear, Blocks: 100}, r)
	at, n := times(all, r)
	// 5 + 10 for the prompt, nine steps of 5 + 4.
	want(t, "tokens", at, 96*ms)
	if n[0] != 10 {
		t.Errorf("%d tokens", n[0])
	}
}

func TestSplit(t *testing.T) {
	cfg := Config{Law: linear, Instances: 2, Split: &Split{Prefill: 1, Latency: 2 * ms, PerToken: 10 * time.Microsecond}}
	a, b := request(0, 100, 3), request(ms, 100, 3)
	all := run(t, cfg, a, b)
	at, _ := times(all, a)
	want(t, "A", at, 15*ms, 24*ms, 30*ms) // 3 ms on the way
	at, _ = times(all, b)
	want(t, "B", at, 30*ms, 39*ms, 45*ms) // no decoding beside prefill
	for _, ev := range all {
		if ev.Kind == Tokens && (ev.Instance == 0) != (ev.At == ev.Request.First) {
			t.Errorf("token at %v on instance %d", ev.At, ev.Instance)
		}
	}
}

func TestInstancesTakeTurns(t *testing.T) {
	var all []*Request
	for range 9 {
		all = append(all, request(0, 10, 5))
	}
	n := make([]int, 3)
	for _, ev := range run(t, Config{Law: linear, Instances: 3}, all...) {
		if ev.Kind == Tokens && ev.Last {
			n[ev.Instance]++
		}
	}
	if d := cmp.Diff([]int{3, 3, 3}, n); d != "" {
		t.Error(d)
	}
}

func TestCancel(t *testing.T) {
	a, b, c := request(0, 10, 100), request(0, 10, 100), request(0, 10, 100)
	e, _ := New(Config{Law: linear, MaxSequences: 1, Blocks: 50}, nil)
	for _, r := range []*Request{a, b, c} {
		if err := e.Submit(r); err != nil {
			t.Fatal(err)
		}
	}
	for at, ok := e.Next(); ok && at <= 50*ms; at, ok = e.Next() {
		e.Step()
	}
	e.Cancel(50*ms, b) // waits
	e.Cancel(50*ms, a) // runs
	e.Cancel(50*ms, a) // twice is once
	for _, ok := e.Next(); ok; _, ok = e.Next() {
		e.Step()
	}
	// A's step ends at 54 ms; then C has the place.
	if a.End != 50*ms || b.Start != -1 || c.Start != 54*ms || c.Made != 100 || e.live != 0 {
		t.Errorf("a %v, b %v, c %v, %d live", a.End, b.Start, c.Start, e.live)
	}
	checkBlocks(t, e.instances[0].blocks)
	if s := e.Stats(); s.BlocksUsed != 0 || s.Waiting != 0 || s.QueuedTokens != 0 {
		t.Errorf("%+v", s)
	}
}

func TestBadInput(t *testing.T) {
	e, _ := New(Config{Law: linear, Blocks: 4, MaxSequences: 2}, nil)
	for _, r := range []*Request{request(0, 0, 1), request(0, 1, 0), request(0, 60, 10), {PromptTokens: 1, OutputTokens: 1, Beams: 3}} {
		if err := e.Submit(r); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
	for _, c := range []Config{{}, {Law: linear, MaxSequences: 10, MaxBatchTokens: 5}, {Law: linear, PrefixCache: true}, {Law: linear, Jitter: 3},
		{Law: linear, Speculation: &Speculation{}}, {Law: linear, Split: &Split{Prefill: 1}}, {Law: linear, Batching: 9}} {
		if _, err := New(c, nil); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}
