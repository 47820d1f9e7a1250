package bench

import (
	"math"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/validity"
	"tokenmeter/wire/api"
)

// counting is a server of a small vocabulary that wraps what it is sent, like
// llama-server with a model of one's own, in virtual time.
func counting(t *testing.T, cfg sim.Config, plan Plan) (res result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Base, cfg.OutputTokens, cfg.DecodeBase = time.Now(), 4, time.Millisecond
		s, ln := sim.New(cfg), simtest.NewPipeListener()
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		plan.Client.API, plan.Client.BaseURL, plan.Client.Dial = api.OpenAIChat, "http://sim", ln.Dial
		plan.Client.NoKernelStamps, plan.Timers = true, true
		plan.Content.Seed, plan.Out = max(plan.Content.Seed, 1), t.TempDir()+"/run"
		if plan.Load.Rate == 0 {
			plan.Load.Concurrency = 1
		}
		res.run, res.err = Run(t.Context(), plan)
		s.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return res
}

// What a chat template adds is found to the token without knowing the tokenizer,
// whatever a word is, and short prompts have the asked length all the same.
func TestTemplateOfUnknownTokenizer(t *testing.T) {
	for _, c := range []struct{ template, letters, asked int }{
		{17, 2, 32}, {17, 3, 32}, {0, 3, 32}, {10, 2, 20}, {17, 0, 32}, {200, 2, 50}, {17, 2, 1000}, {1, 1, 64},
	} {
		for _, compensate := range []bool{false, true} {
			if compensate && c.asked <= c.template {
				continue
			}
			cfg := sim.Config{Like: sim.LikeLlama, TemplateTokens: c.template, LettersPerToken: c.letters}
			plan := Plan{Load: Load{Requests: 200}, Content: Content{InputTokens: strconv.Itoa(c.asked)}, Conditions: Conditions{CompensateTemplate: compensate}}
			res := counting(t, cfg, plan)
			if res.err != nil {
				t.Errorf("%+v: %v", c, res.err)
				continue
			}
			w := res.run.Workload
			if got, ok := w.TemplateOverhead.Get(); !ok || got != float64(c.template) {
				t.Errorf("%+v: the template adds %v", c, w.TemplateOverhead)
			}
			want := float64(c.asked)
			if !compensate {
				want += float64(c.template)
			}
			mean := res.run.Metrics["input_tokens"].Mean.Or(0)
			if math.Abs(mean/want-1) > 0.05 {
				t.Errorf("%+v: %.1f tokens a prompt on average, want %.0f", c, mean, want)
			}
			for _, check := range res.run.Validity.Checks {
				if check.Name == "isl_error" && check.Verdict != validity.Valid {
					t.Errorf("%+v: %s", c, check.Says)
				}
			}
			if says := warned(res.run, "template_compensated"); says != compensate || w.TemplateCompensated != (compensate && c.template > 0) {
				t.Errorf("%+v: told %v, compensated %v", c, says, w.TemplateCompensated)
			}
		}
	}
}

// What several requests share is fitted with the rest, and so is text beside what the
// server alone can count: a picture, a system's text. A system's text of its own words is
// counted by itself.
func TestSharedPartsAreFitted(t *testing.T) {
	for name, c := range map[string]struct {
		load string
		want float64 // tokens without the template
	}{
		"prefix":             {"prefix: {tokens: 200, count: 3}\ninput: 100\noutput: 4", 300},
		"prefix of the user": {"prefix: {tokens: 150, count: 1, as: user}\ninput: 150\noutput: 4", 300},
		"one part of a mix":  {"mix:\n- {name: a, share: 1, input: 200, output: 4, prefix: {tokens: 100}}\n- {name: b, share: 1, input: 300, output: 4}", 300},
		"two corpora":        {"mix:\n- {name: a, share: 1, input: 300, output: 4, corpus: german}\n- {name: b, share: 1, input: 300, output: 4}", 300},
		"pictures":           {"input: 300\noutput: 4\nimages: {count: 1, width: 8, height: 8}", 301},
		"system":             {"system: a b c d\ninput: 300\noutput: 4", 304},
	} {
		for _, rate := range []float64{0, 50} {
			plan := Plan{Load: Load{Requests: 60, Rate: rate}, Content: Content{Workload: spec(t, c.load)}}
			res := counting(t, sim.Config{Like: sim.LikeLlama, TemplateTokens: 20, LettersPerToken: 3}, plan)
			if res.err != nil {
				t.Errorf("%s at rate %v: %v", name, rate, res.err)
				continue
			}
			if mean := res.run.Metrics["input_tokens"].Mean.Or(0); math.Abs(mean/(c.want+20)-1) > 0.05 || !warned(res.run, "prompts_fitted") {
				t.Errorf("%s at rate %v: %.1f tokens a prompt on average, want %.0f", name, rate, mean, c.want+20)
			}
		}
	}
}

// One text of code is seven in a hundred longer or shorter than the next: no load is
// turned away by the luck of its first prompt, and the mean is that which was asked for.
func TestOneTextJudgesNoLoad(t *testing.T) {
	for _, corpus := range []string{"code", "german"} {
		var sum float64
		seeds := 8.0
		if testing.Short() {
			seeds = 2
		}
		for seed := range uint64(seeds) {
			plan := Plan{Load: Load{Requests: 60, Rate: 50}, Content: Content{Seed: seed + 1, Workload: spec(t, "input: 300\noutput: 4\ncorpus: "+corpus)}}
			res := counting(t, sim.Config{Like: sim.LikeLlama, LettersPerToken: 5}, plan)
			if res.err != nil {
				t.Errorf("%s, seed %d: %v", corpus, seed+1, res.err)
				continue
			}
			sum += res.run.Metrics["input_tokens"].Mean.Or(0) / seeds
		}
		if math.Abs(sum/300-1) > 0.03 {
			t.Errorf("%s: %.1f tokens a prompt on average, want 300", corpus, sum)
		}
	}
}

// What was not measured is null and not 0, and what was asked for and could not be
// done is said.
func TestTemplateUnmeasured(t *testing.T) {
	cfg := sim.Config{TemplateTokens: 17}
	for name, plan := range map[string]Plan{
		"no warm-up": {Load: Load{Requests: 5, Warmup: Warmup{Off: true}}, Conditions: Conditions{CompensateTemplate: true}},
		"no usage":   {Load: Load{Requests: 5}, Conditions: Conditions{CompensateTemplate: true}},
	} {
		cfg.Usage = sim.UsageAsked
		if name == "no usage" {
			cfg.Usage = sim.UsageNone
		}
		res := counting(t, cfg, plan)
		if w := res.run.Workload; res.err != nil || w.TemplateOverhead.OK() || w.TemplateCompensated || !warned(res.run, "template_unmeasured") {
			t.Errorf("%s: %v, %+v, %+v", name, res.err, w, res.run.Warnings)
		}
	}
	if res := counting(t, sim.Config{}, Plan{Load: Load{Requests: 5}}); res.run.Workload.TemplateOverhead.Or(-1) != 0 {
		t.Errorf("a server that adds nothing: %v", res.run.Workload.TemplateOverhead)
	}
}
