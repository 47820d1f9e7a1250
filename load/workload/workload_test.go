package workload

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
)

func lengths(t testing.TB, text string) Lengths {
	t.Helper()
	l, err := ParseLengths(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func ofLength(t testing.TB, input string, seed uint64, salt string) *Made {
	return synthetic(lengths(t, input), lengths(t, "128"), seed, salt)
}

func prompt(w Workload, i int64) string { return w.Item(i).Messages[0].Content }

func TestWordsAre512DifferentOnes(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range words {
		if seen[w] || strings.ToLower(w) != w {
			t.Errorf("word %q", w)
		}
		seen[w] = true
	}
	if len(words) != 1<<wordBits {
		t.Errorf("%d words", len(words))
	}
}

// Every prompt differs from its first token on: so for 1024 in a row, and no
// prompt of a run is ever sent twice (B70).
func TestB70PromptsDifferFromTheFirstToken(t *testing.T) {
	for _, salt := range []string{"", "a", "b"} {
		w := ofLength(t, "256", 42, salt)
		first, whole := map[string]int64{}, map[string]int64{}
		for i := range int64(4096) {
			p := prompt(w, i)
			head, _, _ := strings.Cut(p, " ")
			if before, seen := first[head]; seen && i-before < 1024 {
				t.Fatalf("salt %q: prompts %d and %d both start with %q", salt, before, i, head)
			}
			first[head] = i
			if before, seen := whole[p[:40]]; seen {
				t.Fatalf("salt %q: prompts %d and %d start alike: %q", salt, before, i, p[:40])
			}
			whole[p[:40]] = i
			if n := len(strings.Fields(p)); n != 256 {
				t.Fatalf("%d words", n)
			}
		}
		if w.Unique(0, 4096) != 4096 {
			t.Errorf("Unique says %d", w.Unique(0, 4096))
		}
	}
}

func TestNonceIsOneToOne(t *testing.T) {
	for _, n := range []int{1, 2} {
		count := 1 << (wordBits*n + 1)
		seen := make(map[string]bool, count)
		for i := range count {
			seen[text(77, int64(i), n)] = true
		}
		if len(seen) != count {
			t.Errorf("%d words: %d different texts, want %d", n, len(seen), count)
		}
	}
	if got := ofLength(t, "1", 1, "").Unique(4, 5000); got != 1024 {
		t.Errorf("Unique of one-word prompts: %d", got)
	}
}

func TestScrambleIsOneToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Uint64().Draw(t, "key")
		for _, bits := range []uint{wordBits, wordBits + 1} {
			seen := map[uint64]bool{}
			for x := range uint64(1) << bits {
				seen[scramble(x, bits, key)] = true
			}
			if len(seen) != 1<<bits {
				t.Fatalf("%d bits, key %x: %d values", bits, key, len(seen))
			}
		}
	})
}

// The same seed gives the same lengths; another salt gives other words (B71).
func TestB71SeedFixesLengthsAndSaltTheWords(t *testing.T) {
	a, b := ofLength(t, "uniform:10,500", 42, "run a"), ofLength(t, "uniform:10,500", 42, "run b")
	again, other := ofLength(t, "uniform:10,500", 42, "run a"), ofLength(t, "uniform:10,500", 43, "run a")
	differ := 0
	for i := range int64(500) {
		x, y, z := a.Item(i), b.Item(i), again.Item(i)
		if x.InputTokens != y.InputTokens || x.MaxTokens != y.MaxTokens {
			t.Fatalf("item %d: lengths differ under one seed", i)
		}
		if x.Messages[0].Content == y.Messages[0].Content {
			t.Fatalf("item %d: one text under two salts", i)
		}
		if x.Messages[0].Content != z.Messages[0].Content {
			t.Fatalf("item %d: not reproducible", i)
		}
		if x.InputTokens != other.Item(i).InputTokens {
			differ++
		}
	}
	if differ < 400 {
		t.Errorf("only %d of 500 lengths differ under another seed", differ)
	}
}

// Four workers make 400 different prompts, not four times the same 100 (B72).
func TestB72WorkersMakeDistinctPrompts(t *testing.T) {
	seen := map[string]bool{}
	for worker := range int64(4) {
		w := ofLength(t, "64", 42, "one run")
		for k := range int64(100) {
			seen[prompt(w, 4*k+worker)] = true
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d distinct prompts", len(seen))
	}
}

func TestWarmupPromptsAreNotMeasuredOnes(t *testing.T) {
	w := ofLength(t, "16", 1, "s")
	seen := map[string]bool{}
	for i := int64(-64); i < 64; i++ {
		seen[prompt(w, i)] = true
	}
	if len(seen) != 128 {
		t.Errorf("%d distinct prompts of 128", len(seen))
	}
}

// One token of input is still a prompt; none is refused (B77).
func TestB77ShortestPrompt(t *testing.T) {
	w := ofLength(t, "1", 3, "x")
	for i := range int64(100) {
		if p := prompt(w, i); len(p) < 1 || strings.Contains(p, " ") {
			t.Fatalf("prompt %q", p)
		}
	}
	if _, err := ParseLengths("0"); err == nil {
		t.Error("a length of 0 passes")
	}
}

func TestParseLengths(t *testing.T) {
	for _, bad := range []string{"", "0", "-3", "1.5", "x", "NaN", "Inf", "1e12", "uniform:", "uniform:5", "uniform:9,3",
		"uniform:0,3", "uniform:1.5,3", "normal:0,3", "normal:5", "normal:5,-1", "normal:5,1,2", "normal:5,1,min=9,max=3",
		"normal:5,1,mid=3", "uniform:1,5,min=2", "zipf:1,2", "lognormal:0,1", "fixed:1,2", "normal:5,1,min=0"} {
		if l, err := ParseLengths(bad); err == nil {
			t.Errorf("%q passes as %v", bad, l)
		} else if bad != "" && !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: the error does not quote it: %v", bad, err)
		}
	}
	for _, good := range []string{"256", "fixed:256", "uniform:128,512", "uniform:7,7", "normal:256,32", "normal:256,0",
		"lognormal:256,128,min=16,max=4096", " 1 "} {
		l := lengths(t, good)
		if l.String() != strings.TrimSpace(good) {
			t.Errorf("%q prints as %q", good, l)
		}
	}
}

func TestLengthsHaveTheirMoments(t *testing.T) {
	const n = 50000
	cases := []struct {
		text     string
		mean, sd float64
		lo, hi   int64
	}{
		{"256", 256, 0, 256, 256},
		{"uniform:128,512", 320, math.Sqrt((385.0*385 - 1) / 12), 128, 512},
		{"normal:256,32", 256, 32, 1, 512},
		{"normal:256,0", 256, 0, 256, 256},
		{"lognormal:256,128", 256, 128, 1, MaxTokens},
	}
	for _, c := range cases {
		l := lengths(t, c.text)
		var sum, sq float64
		for i := range uint64(n) {
			src := random.New(9, i)
			x := l.Draw(&src)
			if x < c.lo || x > c.hi {
				t.Fatalf("%s gave %d", c.text, x)
			}
			sum += float64(x)
			sq += float64(x) * float64(x)
		}
		mean := sum / n
		sd := math.Sqrt(max(sq/n-mean*mean, 0))
		if math.Abs(mean-c.mean) > 4*c.sd/math.Sqrt(n)+1e-9 || math.Abs(sd-c.sd) > 0.05*c.sd+1e-6 {
			t.Errorf("%s: mean %.2f, sd %.2f; want %.2f, %.2f", c.text, mean, sd, c.mean, c.sd)
		}
	}
}

// What 20,000 draws of GuideLLM's own IntegerRangeSampler come to, by its version 0.8.1.
func TestClippedLengths(t *testing.T) {
	for text, mean := range map[string]float64{
		"normal:800,1500,min=20,max=8000,clip": 1084, "normal:8000,8500,min=50,max=30000,clip": 8765, "normal:256,256,clip": 277,
	} {
		l, sum := lengths(t, text), 0.0
		const n = 20_000
		for i := range uint64(n) {
			src := random.New(5, i)
			sum += float64(l.Draw(&src))
		}
		if got := sum / n; math.Abs(got/mean-1) > 0.02 {
			t.Errorf("%s: mean %.0f, want %.0f", text, got, mean)
		}
	}
	if _, err := ParseLengths("uniform:3,9,clip"); err == nil {
		t.Error("uniform has limits already")
	}
	if d, err := ParseTimes("normal:1s,9s,max=2s,clip"); err != nil {
		t.Error(err)
	} else {
		most := 0
		for i := range uint64(1000) {
			src := random.New(5, i)
			if d.Draw(&src) == 2*time.Second {
				most++
			}
		}
		if most < 400 || most > 500 { // 45.6 % lie above
			t.Errorf("%d of 1,000 are the limit", most)
		}
	}
}

func TestLimitsCutOff(t *testing.T) {
	l := lengths(t, "normal:100,200,min=50,max=150")
	at := map[int64]int{}
	for i := range uint64(5000) {
		src := random.New(1, i)
		x := l.Draw(&src)
		if x < 50 || x > 150 {
			t.Fatalf("%d", x)
		}
		at[x]++
	}
	if at[50] > 150 || at[150] > 150 {
		t.Errorf("heaps at the limits: %d and %d of 5000", at[50], at[150])
	}
}

func FuzzParseLengths(f *testing.F) {
	for _, s := range []string{"256", "uniform:128,512", "normal:256,32,min=1", "lognormal:9,9,max=50"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLengths(s)
		if err != nil {
			return
		}
		src := random.New(1)
		for range 10 {
			if x := l.Draw(&src); x < 1 || x > MaxTokens {
				t.Fatalf("%q drew %d", s, x)
			}
		}
	})
}

func TestGiven(t *testing.T) {
	g := NewGiven("a", lengths(t, "uniform:5,9"), 1)
	for _, c := range [][3]int64{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {2, 3, 1}} {
		if got := g.Unique(c[0], c[1]); got != c[2] {
			t.Errorf("Unique(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
	if m := g.Item(-1).Messages; len(m) != 1 || m[0].Role != "user" || m[0].Content != "a" {
		t.Errorf("%+v is sent", m)
	}
	if n, ok := g.Item(0).MaxTokens.Get(); !ok || n < 5 || n > 9 {
		t.Errorf("output length %d, %v", n, ok)
	}
	if one := NewGiven("x", Lengths{}, 0); one.Info().Kind != "prompt" || one.Item(3).MaxTokens.OK() {
		t.Errorf("%+v", one.Info())
	}
}

func TestFit(t *testing.T) {
	same := func(words int, tokens int64, n int) (out []Observed) {
		for range n {
			out = append(out, Observed{words, tokens})
		}
		return out
	}
	cases := []struct {
		name string
		seen []Observed
		per  float64
		ok   bool
	}{
		{"nothing seen", nil, 0, false},
		{"usage without counts", same(256, 0, 3), 0, false},
		{"a word is a token", same(256, 257, 4), 0, false},
		{"B76 a template adds 22", same(128, 150, 4), 0, false},
		{"B75 five tokens a word", same(1000, 5128, 20), 5.128, true},
		{"fewer tokens than words", same(1000, 800, 4), 0.8, true},
		{"two lengths tell pace from template", []Observed{{100, 170}, {200, 320}}, 1.5, true},
		{"two lengths, template only", []Observed{{100, 250}, {400, 550}}, 0, false},
		{"a fixed number, whatever was sent", same(256, 10, 4), 0, false},
		{"far too many", same(10, 1000, 4), 0, false},
	}
	for _, c := range cases {
		got, ok := Fit(c.seen)
		if ok != c.ok || ok && math.Abs(got.PerWord-c.per) > 1e-9 {
			t.Errorf("%s: %+v, %v", c.name, got, ok)
		}
	}
	w := ofLength(t, "1000", 1, "")
	w.Calibrate(Words, Calibration{PerWord: 5.128})
	if it := w.Item(0); it.Units != 195 || it.InputTokens.Or(0) != 1000 {
		t.Errorf("calibrated: %d words for %v tokens", it.Units, it.InputTokens)
	}
	// B76 with compensation, which is only done when asked: 106 for 128.
	w = ofLength(t, "128", 1, "")
	w.Calibrate(Words, Calibration{Overhead: 22})
	if it := w.Item(0); it.Units != 106 {
		t.Errorf("compensated: %d words", it.Units)
	}
	unknown := timeline.Opt[float64]{}
	for _, c := range []struct {
		asked, counted float64
		overhead       timeline.Opt[float64]
		off            float64
	}{
		{1000, 5128, unknown, 4.128}, {128, 150, unknown, 0}, {256, 200, unknown, -56. / 256},
		{32, 42, timeline.Some(10.), 0}, {32, 60, timeline.Some(10.), 18. / 42}, {1000, 1064, timeline.Some(0.), 0.064},
		{1000, 1500, timeline.Some(500.), 0}, {1000, 1000, timeline.Some(500.), -500. / 1500},
	} {
		if off := Off(c.asked, c.counted, c.overhead); math.Abs(off-c.off) > 1e-9 {
			t.Errorf("%+v: off by %v", c, off)
		}
	}
}

// A template is told by one letter and two: exactly where a letter is a token, as
// in every vocabulary, or where each counts as much.
func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		one, two int64
		overhead float64
		ok       bool
	}{
		{1, 2, 0, true}, {11, 12, 10, true}, {11, 13, 10, true}, {11, 11, 10, true}, // 11, 11: a server that trims or caches
		{25, 30, 20, true}, {1001, 1002, 1000, true},
		{0, 0, 0, false}, {0, 12, 0, false}, {11, 0, 0, false}, {11, 4, 0, false}, {3, 9, 0, false},
	} {
		got, ok := Template(c.one, c.two)
		if ok != c.ok || ok && got != c.overhead {
			t.Errorf("%d and %d tokens: %v, %v", c.one, c.two, got, ok)
		}
	}
	if got, ok := Pace([]Observed{{32, 122}}, 10); !ok || got.PerWord != 3.5 {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, seen := range [][]Observed{nil, {{256, 300}}, {{256, 10}}} {
		if got, ok := Pace(seen, 44); ok {
			t.Errorf("%v: %+v", seen, got)
		}
	}
}

// Prompts of a few words of several tokens each have the asked length on
// average, whatever the fraction of a word is.
func TestFractionsOfWords(t *testing.T) {
	for _, per := range []float64{1.3, 2.9, 3.5, 7} {
		for _, asked := range []int{9, 16, 28, 32, 33} {
			w := ofLength(t, strconv.Itoa(asked), 1, "")
			w.Calibrate(Words, Calibration{PerWord: per, Overhead: 2})
			const n = 4000
			sum := 0.0
			for i := range int64(n) {
				sum += per * float64(w.Item(i).Units)
			}
			// A fraction's spread is half a word at most.
			if mean := sum/n + 2; math.Abs(mean-float64(asked)) > 4*per/2/math.Sqrt(n) {
				t.Errorf("%d tokens at %v a word: %.2f", asked, per, mean)
			}
		}
	}
}

func BenchmarkItem(b *testing.B) {
	w := ofLength(b, "256", 1, "s")
	b.ReportAllocs()
	for i := range int64(b.N) {
		w.Item(i)
	}
}

// synthetic is a workload of words, which need no tokenizer.
func synthetic(input, output Lengths, seed uint64, salt string) *Made {
	w, err := NewMade(Shape{text: input.String(), parts: []shapePart{{input, output}}}, Words, nil, seed, salt)
	if err != nil {
		panic(err)
	}
	return w
}
