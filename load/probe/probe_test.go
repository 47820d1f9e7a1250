package probe

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
	"tokenmeter/wire/tokens"
)

// small is a suite of the default's shape whose prompts are quickly made.
func small() []Kind {
	return []Kind{
		{Name: "light", Input: 60, Output: 8, PerDay: 1440, Ask: true},
		{Name: "short", Input: 300, Output: 8, PerDay: 8, Ask: true},
		{Name: "long", Input: 300, Output: 200, PerDay: 8},
		{Name: "parallel", Input: 60, Output: 20, PerDay: 1, Parallel: 10},
		{Name: "cold", Input: 60, Output: 8, PerDay: 1, Ask: true, Idle: 20 * time.Minute},
	}
}

func now() time.Time { return time.Now().UTC().Round(0) }

// row is a probe as it was taken.
type row struct {
	target int
	at     time.Time
	tl     *timeline.Timeline
}

// log keeps rows.
type log struct {
	mu   sync.Mutex
	rows []row
	said []string
}

func (l *log) took(target int, tl *timeline.Timeline) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, row{target, now(), tl})
	return nil
}

func (l *log) of(target int, class string) (out []row) {
	for _, r := range l.rows {
		if r.target == target && r.tl.Class == class {
			out = append(out, r)
		}
	}
	return out
}

func yardstick(t testing.TB) tokens.Encoder {
	t.Helper()
	e, err := tokens.ByName(tokens.Default)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// server is what serves: a *sim.Server or an *http.Server.
type server interface {
	Serve(net.Listener) error
	Close() error
}

// served are servers in memory, each under its own name.
func served(t *testing.T, servers ...server) (targets []Target) {
	for i, s := range servers {
		ln := simtest.NewPipeListener()
		go s.Serve(ln)
		t.Cleanup(func() { s.Close() })
		targets = append(targets, Target{Name: fmt.Sprintf("t%d", i), Model: "m", Client: client.Config{
			BaseURL: "http://sim", API: api.OpenAIChat, Dial: ln.Dial, NoKernelStamps: true, Form: client.PlainForm}})
	}
	return targets
}

func of(h http.Handler) server { return &http.Server{Handler: h} }

func (l *log) plan(t testing.TB, dir string, targets []Target, kinds []Kind, b Budget) Plan {
	t.Helper()
	ledger, err := OpenLedger(filepath.Join(dir, "spent.json"), b)
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Targets: targets, Kinds: kinds, Ledger: ledger, Tokenizer: yardstick(t), Took: l.took,
		Say: func(text string) { l.mu.Lock(); l.said = append(l.said, text); l.mu.Unlock() }}
}

func probing(t testing.TB, plan Plan) *Prober {
	t.Helper()
	p, err := New(plan, clock.Start())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Two days over two simulators side by side: each kind once in each part of the
// day, ten at once, nothing before a cold start, and TTFT and TPOT as the
// simulators' physics have them.
func TestTwoDaysOfTwoSimulators(t *testing.T) {
	var l log
	days := 2
	if testing.Short() {
		days = 1
	}
	begin := time.Time{}
	synctest.Test(t, func(t *testing.T) {
		var all []server
		for i := range 2 {
			all = append(all, sim.New(sim.Config{Base: time.Now(), Overhead: time.Duration(20*(i+1)) * time.Millisecond,
				DecodeBase: time.Duration(5*(i+1)) * time.Millisecond}))
		}
		begin = now()
		p := probing(t, l.plan(t, t.TempDir(), served(t, all...), small(), Budget{}))
		if err := p.Run(t.Context(), begin.Add(time.Duration(days)*24*time.Hour)); err != nil {
			t.Error(err)
		}
	})
	if !begin.Equal(begin.Truncate(24 * time.Hour)) {
		t.Fatalf("the virtual clock began at %v: the counts below are of whole days", begin)
	}
	for target := range 2 {
		for class, want := range map[string]int{"short": 8 * days, "long": 8 * days, "parallel": 10 * days, "cold": days, "cold-again": days} {
			// A probe may fall into the twenty minutes before a cold start.
			if n := len(l.of(target, class)); n > want || n < want-2 && class != "parallel" {
				t.Errorf("target %d: %d of %s, want %d", target, n, class, want)
			}
		}
		if n := len(l.of(target, "light")); n > days*(1440-19) || n < days*(1440-22-20) {
			t.Errorf("target %d: %d light ones", target, n)
		}
		for _, r := range l.rows {
			if r.target != target {
				continue
			}
			if r.tl.Outcome != timeline.OK || r.tl.Phase != timeline.Measure || !r.tl.Norm.OK() {
				t.Fatalf("%+v", r.tl)
			}
		}
		for _, cold := range l.of(target, "cold") {
			sent := cold.at.Add(-time.Duration(cold.tl.CloseUS.Or(0)) * time.Microsecond)
			for _, r := range l.rows {
				if r.target == target && r.at.Before(sent) && r.at.After(sent.Add(-20*time.Minute)) {
					t.Fatalf("%s was asked %v before a cold start", r.tl.Class, sent.Sub(r.at))
				}
			}
		}
		// 5 and 10 ms a token.
		for _, r := range l.of(target, "long") {
			var at []int64
			for ev := range r.tl.Events.Generation() {
				at = append(at, ev.AtUS)
			}
			if tpot := float64(at[len(at)-1]-at[0]) / float64(len(at)-1); tpot != float64(5000*(target+1)) {
				t.Fatalf("target %d: %v µs a token", target, tpot)
			}
		}
	}
}

// A virtual machine's clock may be hours, or years, off until it is set (prometheus/prometheus#10028):
// what is due is asked by the time that it then has, and the whole lasts as long as it was to.
func TestClockIsSet(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": 6 * time.Hour, "years ahead": 5 * 365 * 24 * time.Hour, "behind": -6 * time.Hour, "right": 0} {
		var l log
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			clk := clock.Start()
			clk.WallNS = func() int64 {
				if since := time.Since(begin); since > time.Hour && since < 90*time.Minute {
					return time.Now().Add(off).UnixNano()
				}
				return time.Now().UnixNano()
			}
			kinds := []Kind{{Name: "often", Input: 60, Output: 8, PerDay: 288}}
			p, err := New(l.plan(t, t.TempDir(), served(t, sim.New(sim.Config{Base: begin})), kinds, Budget{}), clk)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(t.Context(), begin.Add(4*time.Hour)); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took < 4*time.Hour-10*time.Minute || took > 4*time.Hour {
				t.Errorf("%s: it ran for %v", name, took)
			}
			var n [4]int // by hour
			for _, r := range l.rows {
				n[r.at.Sub(begin.Round(0))/time.Hour]++
			}
			if slices.Min(n[:]) < 10 || slices.Max(n[:]) > 14 { // 12, and each change of the clock may cost or give one
				t.Errorf("%s: %v probes in the hours", name, n)
			}
		})
	}
}

// The moments of a day are the same in each process, one in each part of the day,
// and spread over it.
func TestMoments(t *testing.T) {
	k := Kind{Name: "k", PerDay: 7}
	day := time.Date(2026, 11, 12, 0, 0, 0, 0, time.UTC)
	seen := map[int64]bool{}
	at := day.Add(-time.Nanosecond)
	for d := range 50 {
		for part := range 7 {
			at = next("x", &k, at)
			within := at.Sub(day.Add(time.Duration(d) * 24 * time.Hour))
			if int(within/k.part()) != part {
				t.Fatalf("day %d, part %d: %v", d, part, at)
			}
			seen[int64(within.Minutes())%60/6] = true
			if again := next("x", &k, at.Add(-time.Microsecond)); !again.Equal(at) {
				t.Fatalf("%v and %v", at, again)
			}
		}
	}
	if len(seen) != 10 {
		t.Errorf("only %d of ten parts of an hour", len(seen))
	}
	if next("x", &k, day).Equal(next("y", &k, day)) {
		t.Error("two targets are asked at the same moment")
	}
}

// counted answers as a server that counts, and checks the budget at each request:
// what came so far, and this one, is within it.
type counted struct {
	mu         sync.Mutex
	t          *testing.T
	spent, n   map[string]int64 // by day
	budget     int64
	right      bool
	prompts    map[string]bool
	marked     bool
	refuseWith func(body string) (int, string)
}

var sum = regexp.MustCompile(`What is (\d+) \+ (\d+)\?`)

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Messages []struct{ Content any }
		Max      int64 `json:"max_tokens"`
		Newer    int64 `json:"max_completion_tokens"`
	}
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		c.t.Error(err)
	}
	text := fmt.Sprint(b.Messages[0].Content)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.marked = r.Header.Get(Header) == "1"
	if c.refuseWith != nil {
		if status, words := c.refuseWith(fmt.Sprint(text, b.Max)); status != 0 {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, words)
			return
		}
	}
	if c.prompts == nil {
		c.prompts, c.spent, c.n = map[string]bool{}, map[string]int64{}, map[string]int64{}
	}
	start := text[:min(len(text), 30)]
	if c.prompts[start] {
		c.t.Errorf("%q was asked before", start)
	}
	c.prompts[start] = true
	day := now().Format(time.DateOnly)
	in, out := int64(len(strings.Fields(text))), max(b.Max, b.Newer)
	c.spent[day] += in + out
	c.n[day]++
	if c.budget > 0 && c.spent[day] > c.budget {
		c.t.Errorf("%s: %d tokens, the budget is %d", day, c.spent[day], c.budget)
	}
	said := "I will not."
	if m := sum.FindStringSubmatch(text); m != nil && c.right {
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[2])
		said = fmt.Sprintf("It is %d.", a+b)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", said)
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", in, out)
}

// The budget is never passed, whatever restarts; the next day begins anew.
func TestBudgetOverRestarts(t *testing.T) {
	var l log
	c := &counted{t: t, budget: 30_000}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		begin := now()
		targets := served(t, of(c))
		for i := range 12 { // every four hours another process, cut off without a word
			ctx, cancel := context.WithCancel(t.Context())
			plan := l.plan(t, dir, targets, small(), Budget{Tokens: c.budget})
			until := begin.Add(time.Duration(i+1) * 4 * time.Hour)
			if err := probing(t, plan).Run(ctx, until); err != nil {
				t.Error(err)
			}
			cancel()
			time.Sleep(until.Sub(now()))
		}
	})
	if len(c.n) < 2 || len(l.said) == 0 {
		t.Errorf("%v requests, %q", c.n, l.said)
	}
	for day, spent := range c.spent {
		if spent < c.budget/2 && c.n[day] > 10 {
			t.Errorf("%s: only %d of %d tokens were used", day, spent, c.budget)
		}
	}
}

// Dollars are a bound as tokens are; without a price they are none that can be kept.
func TestDollars(t *testing.T) {
	prices := &cost.Pricing{Models: map[string]cost.Tokens{"m": {Input: timeline.Some(3.0), Output: timeline.Some(15.0), CacheWrite: timeline.Some(3.75)}}}
	var l log
	c := &counted{t: t, right: true}
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		targets := served(t, of(c))
		plan := l.plan(t, t.TempDir(), targets, small(), Budget{USD: 0.1})
		if _, err := New(plan, clock.Start()); err == nil || !strings.Contains(err.Error(), "prices") {
			t.Errorf("%v", err)
		}
		plan.Pricing = prices
		if err := probing(t, plan).Run(t.Context(), now().Add(24*time.Hour-time.Second)); err != nil {
			t.Error(err)
		}
	})
	usd, right := 0.0, 0
	for _, r := range l.rows {
		usd += r.tl.CostUSD.Or(1)
		if r.tl.CheckPassed.Or(false) {
			right++
		}
	}
	if usd > 0.1 || usd < 0.05 {
		t.Errorf("%v dollars", usd)
	}
	if right < 10 || !c.marked {
		t.Errorf("%d right answers, marked %t", right, c.marked)
	}
}

// What a target never took is no failure of it, what it took once is; and the
// other name of the length field is learnt.
func TestRefusals(t *testing.T) {
	var l log
	c := &counted{t: t, right: true}
	broken := false
	c.refuseWith = func(text string) (int, string) {
		switch {
		case strings.HasSuffix(text, "8") || strings.HasSuffix(text, "9"): // max_tokens is there
			return 400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
		case len(text) > 3000:
			return 400, "the prompt is longer than the context"
		case broken:
			return 422, "no"
		}
		return 0, ""
	}
	kinds := []Kind{{Name: "a", Output: 8, Ask: true}, {Name: "b", Input: 2000, Output: 9, Ask: true}}
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		p := probing(t, l.plan(t, t.TempDir(), served(t, of(c)), kinds, Budget{}))
		for range 2 {
			if err := p.Once(t.Context()); err != nil {
				t.Error(err)
			}
			broken = true
		}
	})
	var got []string
	for _, r := range l.rows {
		got = append(got, fmt.Sprint(r.tl.Class, " ", r.tl.Phase, " ", r.tl.Outcome))
	}
	if want := "[a measure ok b warmup http_4xx a measure http_4xx]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	if len(l.said) != 2 || !strings.Contains(l.said[0], "longer than the context") || !strings.Contains(l.said[1], "asked again after") {
		t.Errorf("%q", l.said)
	}
}

// Text-only models refuse pictures by 404 (OpenRouter, Xiaomi MiMo) and 500 (llama.cpp,
// Ollama) in words that name them. All else of these statuses is a failure, and so are these
// words of another status or where no picture was asked about.
func TestPicturesRefusedAsFailures(t *testing.T) {
	for _, c := range []struct {
		images, status int
		words, want    string
	}{
		{1, 404, "No endpoints found that support image input", "warmup http_4xx"},
		{1, 500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", "warmup http_5xx"},
		{1, 500, "this model is missing data required for image input", "warmup http_5xx"},
		{1, 404, "No endpoints found for m", "measure http_4xx"},
		{1, 500, "could not decode the image input", "measure http_5xx"},
		{1, 503, "image input is not supported", "measure http_5xx"},
		{0, 500, "image input is not supported", "measure http_5xx"},
	} {
		var l log
		server := &counted{t: t, refuseWith: func(string) (int, string) { return c.status, c.words }}
		synctest.Test(t, func(t *testing.T) {
			server.t = t
			p := probing(t, l.plan(t, t.TempDir(), served(t, of(server)), []Kind{{Name: "image", Output: 8, Images: c.images}}, Budget{}))
			if err := p.Once(t.Context()); err != nil {
				t.Error(err)
			}
		})
		if len(l.rows) != 1 {
			t.Fatalf("%s: %d rows", c.words, len(l.rows))
		}
		if got := fmt.Sprint(l.rows[0].tl.Phase, " ", l.rows[0].tl.Outcome); got != c.want || (len(l.said) > 0) != strings.HasPrefix(c.want, "warmup") {
			t.Errorf("%d %s: %s, want %s; said %q", c.status, c.words, got, c.want, l.said)
		}
	}
}

// What was learnt of a target outlives the process: what it took is a failure when
// it refuses it a day later, what it never took is asked once a day by Run, and one
// that bills more than it may is believed from the first request of every day on.
func TestLessonsOutliveDays(t *testing.T) {
	var l log
	c := &counted{t: t, right: true}
	broken := false
	c.refuseWith = func(text string) (int, string) {
		if broken || len(text) > 3000 {
			return 400, "no"
		}
		return 0, ""
	}
	kinds := []Kind{{Name: "a", Output: 8, Ask: true, PerDay: 4}, {Name: "b", Input: 2000, Output: 9, PerDay: 4}}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		targets := served(t, of(c))
		for range 3 { // each day and process knows what the one before learnt
			if err := probing(t, l.plan(t, dir, targets, kinds, Budget{})).Run(t.Context(), now().Truncate(24*time.Hour).Add(24*time.Hour-time.Second)); err != nil {
				t.Error(err)
			}
			time.Sleep(now().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now()))
			broken = true
		}
		// By hand it is asked at once.
		if err := probing(t, l.plan(t, dir, targets, kinds, Budget{})).Once(t.Context()); err != nil {
			t.Error(err)
		}
	})
	phases := map[string]int{}
	for _, r := range l.rows {
		phases[fmt.Sprint(r.tl.Class, " ", r.tl.Phase, " ", r.tl.Outcome)]++
	}
	if phases["a measure ok"] != 4 || phases["a measure http_4xx"] != 9 || phases["a warmup http_4xx"] != 0 {
		t.Errorf("of what was taken: %v", phases)
	}
	if n := phases["b warmup http_4xx"]; n < 3 || n > 4 || phases["b measure http_4xx"] != 0 {
		t.Errorf("of what never was: %v", phases)
	}
}

// Each reason for not asking is said once a day: one does not hide another.
func TestReasonsOnceADay(t *testing.T) {
	var l log
	synctest.Test(t, func(t *testing.T) {
		p := probing(t, l.plan(t, t.TempDir(), served(t, of(&counted{t: t})), []Kind{{Name: "a"}}, Budget{}))
		for range 3 {
			p.skip(p.targets[0], 0, "it was asked %v before", time.Minute)
			p.skip(p.targets[0], 0, "it may cost %d", 7)
			p.skip(p.targets[0], 0, "cost")
		}
		time.Sleep(24 * time.Hour)
		p.skip(p.targets[0], 0, "it may cost %d", 8)
	})
	want := []string{"t0: a is not asked: it was asked 1m0s before", "t0: a is not asked: it may cost 7", "t0: a is not asked: cost", "t0: a is not asked: it may cost 8"}
	if !slices.Equal(l.said, want) {
		t.Errorf("%q", l.said)
	}
}

// The file of lessons is read as it is written, and what is none is told.
func TestLessonsDamage(t *testing.T) {
	for text, ok := range map[string]bool{
		`{}`: true, `null`: true, `{"x": {"taken": true}}`: true, ``: false, `[`: false, `[1]`: false, `{"x": {"taken": false, "most_in": -1}}`: false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, lessonsFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLedger(filepath.Join(dir, "spent.json"), Budget{})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), lessonsFile) {
			t.Errorf("%q: %v", text, err)
		}
		if ok {
			want := lesson{Taken: true, MostIn: 9, Retry: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
			if err := l.learn("y", want); err != nil {
				t.Error(err)
			}
			again, err := OpenLedger(filepath.Join(dir, "spent.json"), Budget{})
			if err != nil || again.lesson("y") != want || again.lesson("z") != (lesson{}) {
				t.Errorf("%q: %+v, %v", text, again, err)
			}
		}
	}
}

// A server that gives wrong answers is told from one that gives right ones, and
// an answer that we cut off is neither.
func TestAnswers(t *testing.T) {
	var l log
	c := &counted{t: t}
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		p := probing(t, l.plan(t, t.TempDir(), served(t, of(c)), []Kind{{Name: "a", Output: 8, Ask: true}}, Budget{}))
		p.Once(t.Context())
	})
	if len(l.rows) != 1 || l.rows[0].tl.CheckPassed.OK() {
		t.Errorf("an answer that used all its tokens: %+v", l.rows[0].tl.CheckPassed)
	}
	tl := timeline.New()
	tl.Requested, tl.FinishReason = timeline.Some[int64](8), "stop"
	if cutByUs(tl) {
		t.Error("a whole answer is cut")
	}
	tl.FinishReason = "MAX_TOKENS"
	if !cutByUs(tl) {
		t.Error("a cut answer is whole")
	}
}

// Rows go into a run folder of each target; what can't be written ends it all.
func TestFolders(t *testing.T) {
	root := t.TempDir()
	c := &counted{t: t, right: true}
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		clk := clock.Start()
		targets := served(t, of(c), of(c))
		targets[1].Client.TLS = &tls.Config{InsecureSkipVerify: true}
		var l log
		plan := l.plan(t, root, targets, []Kind{{Name: "a", Output: 8, Ask: true}}, Budget{})
		f, err := Create(t.Context(), root, targets, About{Version: "v", Kinds: plan.Kinds}, clk)
		if err != nil {
			t.Fatal(err)
		}
		plan.Took = f.Took
		p, err := New(plan, clk)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Once(t.Context()); err != nil {
			t.Error(err)
		}
		if err := f.Finish(false); err != nil {
			t.Error(err)
		}
	})
	dirs, _ := filepath.Glob(root + "/t*/*")
	if len(dirs) != 2 {
		t.Fatalf("%q", dirs)
	}
	for _, dir := range dirs {
		folder, err := run.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for rec, err := range folder.Records() {
			if err != nil || *rec.Class != "a" || *rec.Check != "pass" || !rec.NormTokens.OK() {
				t.Errorf("%+v, %v", rec, err)
			}
		}
		unverified := slices.ContainsFunc(folder.Run().Warnings, func(w metric.Warning) bool { return w.Name == "tls_unverified" })
		if m := folder.Run(); unverified != strings.Contains(dir, "t1") || m.Tags["source"] != "probe" || m.Requests.OK != 1 || m.Partial {
			t.Errorf("%+v", m)
		}
		folder.Close()
	}
}

// A target that was not asked leaves no run, and what is there of earlier ones
// stays.
func TestNoFolderOfNothing(t *testing.T) {
	root := t.TempDir()
	targets := served(t, of(&counted{t: t}), of(&counted{t: t}))
	if err := os.MkdirAll(filepath.Join(root, "t1", "earlier"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := Create(t.Context(), root, targets, About{Kinds: small()}, clock.Start())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(false); err != nil {
		t.Error(err)
	}
	left, _ := filepath.Glob(root + "/*/*")
	if _, err := os.Stat(filepath.Join(root, "t0")); err == nil || len(left) != 1 || filepath.Base(left[0]) != "earlier" {
		t.Errorf("%q, %v", left, err)
	}
}

// What was spent is known or nothing is sent.
func TestLedgerDamage(t *testing.T) {
	for _, text := range []string{"", "{", `{"day":"x"}`, `{"day":"2026-11-12","usd":-1}`, `{"day":"2026-11-12","tokens":9223372036854775807}`, `[]`} {
		name := filepath.Join(t.TempDir(), "spent.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenLedger(name, Budget{}); err == nil || !strings.Contains(err.Error(), "spent") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A budget below nothing would be no bound.
func TestBudgetsBelowNothing(t *testing.T) {
	for _, b := range []Budget{{USD: -5}, {Tokens: -1}} {
		if _, err := OpenLedger(filepath.Join(t.TempDir(), "s.json"), b); err == nil || !strings.Contains(err.Error(), "below 0") {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

func TestLedgerDays(t *testing.T) {
	l, err := OpenLedger(filepath.Join(t.TempDir(), "s.json"), Budget{Tokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 12, 23, 59, 0, 0, time.UTC)
	take := func(at time.Time, n int64, want bool) string {
		t.Helper()
		if _, ok, _ := l.reserve(at, 0, math.MaxInt64); ok {
			t.Error("there is room for more than there are numbers")
		}
		d, ok, err := l.reserve(at, 0, n)
		if err != nil || ok != want {
			t.Errorf("%d at %v: %t, %v", n, at, ok, err)
		}
		return d
	}
	first := take(day, 90, true)
	take(day, 11, false)
	if err := l.correct(first, 0, -80); err != nil {
		t.Error(err)
	}
	take(day, 90, true)
	take(day.Add(time.Minute), 100, true)
	take(day, 1, false) // the clock was put back: no new day
	if err := l.correct(first, 0, -50); err != nil {
		t.Error(err)
	}
	take(day.Add(time.Minute), 1, false) // what the old day gave back is not the new one's
}

func TestKindsThatCanNotBe(t *testing.T) {
	for _, k := range []Kind{{}, {Name: "a", PerDay: -1}, {Name: "a", Input: -5}, {Name: "a", Idle: time.Hour, Parallel: 2},
		{Name: "a", Idle: 2 * time.Hour, PerDay: 8}, {Name: "a", Images: 1000}, {Name: "a", Output: 1 << 40}} {
		if _, err := settle([]Kind{k}); err == nil {
			t.Errorf("%+v is taken", k)
		}
	}
	if _, err := settle([]Kind{{Name: "a"}, {Name: "a"}}); err == nil {
		t.Error("two of one name")
	}
	if kinds, err := settle(Default()); err != nil || len(kinds) != 10 {
		t.Errorf("%d, %v", len(kinds), err)
	}
}
