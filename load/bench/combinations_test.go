package bench

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
)

// combination is a load and the server it meets.
type combination struct {
	plan    Plan
	content string
	srv     *server
	speed   float64       // of a trace
	pause   time.Duration // of a user who thinks, or of a tool
	single  bool          // each item is one request
}

func (c *combination) String() string {
	p := c.plan
	return fmt.Sprintf("%+v %s retries %d budget %v timeouts %v/%v/%v; server ttft %v gap %v tokens %d room %d faults %v after %q",
		p.Load, c.content, p.Client.Retries, p.Client.RetryBudget, p.Client.TTFTTimeout, p.Client.IdleTimeout, p.Client.Timeout,
		c.srv.ttft, c.srv.gap, c.srv.tokens, c.srv.room, c.srv.faults, c.srv.after)
}

func drawCombination(rt *rapid.T) *combination {
	yes := func(name string, oneIn int) bool { return rapid.IntRange(1, oneIn).Draw(rt, name+"?") == oneIn }
	number := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(rt, name) }
	millis := func(name string, from, to int) time.Duration {
		return time.Duration(number(name, from, to)) * time.Millisecond
	}
	c := &combination{}
	c.srv = &server{ttft: millis("ttft", 20, 600), gap: millis("gap", 1, 80), tokens: number("tokens", 1, 8)}
	if yes("room", 3) {
		c.srv.room = number("room", 1, 6)
	}
	for yes("fault", 3) && len(c.srv.faults) < 2 {
		c.srv.faults = append(c.srv.faults, fault{rapid.SampledFrom([]string{"429", "503", "hang", "drop", "break", "short"}).Draw(rt, "kind"), number("every", 1, 9)})
	}
	if yes("after", 2) {
		c.srv.after = fmt.Sprint(number("retry-after", 0, 3))
	}
	p := &c.plan
	p.Model = "m"
	p.Preflight = "none"
	p.KeepGoing = yes("keep going", 2)
	p.Seed = uint64(number("seed", 0, 1000))
	p.Workers = rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(rt, "workers")
	p.IgnoreEOS = yes("ignore-eos", 4)
	contents := []string{"made", "made", "made", "prompt", "file", "turns", "task"}
	open := yes("open", 2)
	if open {
		contents = append(contents, "trace")
	}
	c.content = rapid.SampledFrom(contents).Draw(rt, "content")
	if open {
		switch {
		case c.content == "trace":
		case yes("stages", 4):
			p.Stages, _ = schedule.ParseStages(fmt.Sprintf("%dms@%d..%d,%dms@%d", number("stage", 500, 4000), number("from", 0, 20), number("to", 1, 20), number("stage", 500, 4000), number("level", 1, 20)))
		default:
			p.Rate = float64(number("rate", 1, 30))
		}
		if c.content != "trace" {
			p.Arrival = rapid.SampledFrom([]string{"constant", "constant", "poisson", "gamma", "uniform"}).Draw(rt, "arrival")
			if p.Arrival == "gamma" && yes("burstiness", 2) {
				p.Burstiness = float64(number("shape", 1, 8)) / 4
			}
		}
		if yes("cap", 3) {
			p.Concurrency = number("cap", 1, 8)
		}
	} else {
		if yes("levels", 6) {
			p.Stages, _ = schedule.ParseStages(fmt.Sprintf("%dms@%d..%d,%dms@%d", number("stage", 500, 4000), number("from", 0, 8), number("to", 1, 8), number("stage", 500, 4000), number("level", 1, 8)))
			p.StagesClosed = true
		} else {
			p.Concurrency = number("streams", 1, 10)
		}
		if yes("pace", 5) {
			p.Pace = millis("pace", 100, 2000)
		}
	}
	if yes("requests", 2) {
		p.Requests = number("requests", 1, 60)
	}
	if p.Requests == 0 || yes("duration", 3) {
		p.Duration = millis("duration", 500, 6000)
	}
	if yes("grace", 2) {
		p.Grace = millis("grace", -1, 3000)
	} else {
		p.Grace = 4 * time.Second
	}
	if yes("ramp", 4) && c.content != "trace" {
		p.Ramp = millis("ramp", 100, 4000)
	}
	if yes("cooldown", 4) {
		p.Cooldown = millis("cooldown", 100, 4000)
	}
	if yes("prefills", 4) {
		p.Prefills = number("prefills", 1, 6)
	}
	if yes("max failures", 6) {
		p.MaxFailures = 0.3
	}
	switch number("warm-up", 0, 4) {
	case 0:
		p.Warmup.Requests = number("warm-up requests", 1, 12)
	case 1:
		p.Warmup.Duration = millis("warm-up for", 100, 2000)
	case 2:
	default:
		p.Warmup.Off = true
	}
	p.WarmupMost = 20 * time.Second
	if yes("retries", 3) {
		p.Client.Retries = number("retries", 1, 3)
		if yes("budget", 2) {
			p.Client.RetryBudget = 0.2
		}
	}
	if yes("ttft timeout", 6) {
		p.Client.TTFTTimeout = millis("ttft timeout", 50, 3000)
	}
	if yes("idle timeout", 6) {
		p.Client.IdleTimeout = millis("idle timeout", 10, 3000)
	}
	p.Client.Timeout = 60 * time.Second
	if yes("timeout", 6) {
		p.Client.Timeout = millis("timeout", 50, 3000)
	}
	p.Client.NoKeepAlive = yes("no keep-alive", 10)
	c.pause, c.speed = millis("pause", 1, 1500), float64(number("speed", 1, 4))
	return c
}

// fill makes the content.
func (c *combination) fill(dir string) (err error) {
	p := &c.plan
	opts := workload.Options{Salt: "salt"}
	c.single = true
	switch c.content {
	case "made":
		p.InputTokens, p.OutputTokens = "40", fmt.Sprint(c.srv.tokens)
		p.AllowISLDrift = true
	case "prompt":
		p.Prompt = "always the same"
		if p.IgnoreEOS {
			p.OutputTokens = fmt.Sprint(c.srv.tokens)
		}
	case "file", "trace":
		var text strings.Builder
		for i := range 25 {
			if c.content == "trace" {
				fmt.Fprintf(&text, `{"timestamp":%d,"input_length":%d,"output_length":%d}`+"\n", 200*i, 30+i, c.srv.tokens)
			} else {
				fmt.Fprintf(&text, `{"prompt":"words of number %d"}`+"\n", i)
			}
		}
		name := dir + "/" + c.content + ".jsonl"
		if err := writeFile(name, text.String()); err != nil {
			return err
		}
		work, err := workload.Load(name, opts)
		if err != nil {
			return err
		}
		p.Workload, p.IgnoreEOS = work, p.IgnoreEOS && c.content == "trace" // the others have no lengths
		if c.content == "trace" {
			p.Trace = &schedule.Trace{Times: work.Times, Speed: c.speed}
		}
	case "turns", "task":
		c.single = false
		text := "task: {steps: [{name: a, input: 20}, {name: b, after: [a], tool: %dms, input: 20}, {name: c, after: [a], input: 20}]}"
		if c.content == "turns" {
			text = "input: 20\noutput: 10\nturns: 3\nthink: %dms\nhistory: live"
		}
		work, err := workload.FromYAML("x.yaml", fmt.Appendf(nil, text, c.pause.Milliseconds()), opts)
		if err != nil {
			return err
		}
		p.Workload, p.ReadsAnswers = work, work.ReadsAnswers()
	}
	return nil
}

// Whatever flags meet whatever server: what a run says is what the server's log says,
// and nothing that the user asked for is laid to the client or to the server.
func TestCombinationsOfLoads(t *testing.T) {
	begun, bounded := time.Now(), flag.Lookup("rapid.checks").Value.String() == "100" // nobody asked for a number
	rapid.Check(t, func(rt *rapid.T) {
		if bounded && time.Since(begun) > 4*time.Second {
			return
		}
		c := drawCombination(rt)
		if testing.Verbose() {
			fmt.Println(c)
		}
		if wrong := c.run(t); wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// What went wrong once, by name.
func TestKnownCombinations(t *testing.T) {
	off := Warmup{Off: true}
	stages, err := schedule.ParseStages("503ms@20,754ms@2")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		load    Load
		content string
		ttft    time.Duration
		hangs   bool
	}{
		"a cap on prefills looks like lateness while it runs": {Load{Rate: 26, Requests: 30, Prefills: 1, Warmup: off}, "made", 200 * time.Millisecond, false},
		"requests that wait for a prefill in vain":            {Load{Rate: 10, Duration: 3 * time.Second, Grace: time.Second, Prefills: 2, Warmup: off}, "made", time.Millisecond, true},
		"a ramp has the places":                               {Load{Rate: 10, Ramp: 2 * time.Second, Requests: 2, Concurrency: 4, Warmup: off}, "made", 2 * time.Second, false},
		"a ramp has most of the connections":                  {Load{Rate: 20, Ramp: 3 * time.Second, Requests: 2, Warmup: off}, "made", 2 * time.Second, false},
		"a warm-up's connections beside those opened ahead":   {Load{Stages: stages, Warmup: Warmup{Duration: 261 * time.Millisecond}}, "prompt", 240 * time.Millisecond, false},
		"prompts of a file that are made and not sent":        {Load{Concurrency: 8, Requests: 2, Cooldown: 100 * time.Millisecond, Warmup: off}, "file", 361 * time.Millisecond, false},
		"tasks of several workers leave no gaps":              {Load{Rate: 11, Requests: 5, Workers: 3, Warmup: off}, "task", 300 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // for chance decides who comes first
				b := &combination{content: c.content, srv: &server{ttft: c.ttft, gap: time.Millisecond, tokens: 1}, pause: 300 * time.Millisecond}
				if c.hangs {
					b.srv.faults = []fault{{"hang", 1}}
				}
				b.plan.Load, b.plan.Model, b.plan.Preflight, b.plan.KeepGoing = c.load, "m", "none", true
				if wrong := b.run(t); wrong != "" {
					t.Fatal(wrong)
				}
			}
		})
	}
}

// run plays it and says what is not true of what was told; empty: all is.
func (c *combination) run(t *testing.T) string {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c.srv.chat = c.srv.answer
	if err := c.fill(dir); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	trusts := map[string]bool{}
	plan := c.plan
	plan.Progress = func(s Snapshot) {
		mu.Lock()
		trusts[s.Trust] = true
		mu.Unlock()
	}
	res := virtual(t, &c.srv.fake, plan, func(func()) {
		if c.srv.room > 0 { // made here, for its waits to be of virtual time
			c.srv.places = make(chan struct{}, c.srv.room)
		}
	})
	defer os.RemoveAll(res.dir)
	var wrong []string
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if res.run != nil {
		c.check(&res, trusts, fail)
	} else if res.err == nil || strings.Contains(res.err.Error(), "want") {
		fail("no run: %v", res.err)
	}
	if len(wrong) == 0 {
		return ""
	}
	told := ""
	if res.run != nil {
		told = fmt.Sprintf("%+v\n%+v", res.run.Requests, res.run.Warnings)
	}
	return fmt.Sprintf("%v\n%s\n%v after %v\n%s", c, strings.Join(wrong, "\n"), res.err, res.wall, told)
}
