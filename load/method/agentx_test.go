package method

import (
	"strings"
	"testing"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep/result"
	"tokenmeter/load/workload"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

func recorded(t *testing.T) *workload.Loaded {
	t.Helper()
	work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{File: "../workload/sessions/testdata/weka.json"}}, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(work.Close)
	return work
}

func agentXPlan(t *testing.T, name string, base bench.Plan) (plan bench.Plan, departs []string) {
	t.Helper()
	m, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	base.Workload = recorded(t)
	o := Options{Base: base}
	steps, err := m.Prepare(&o)
	if err != nil {
		t.Fatal(err)
	}
	return steps.Cells[0].Plan, o.departs
}

// The settings are those that each of the three places publishes.
func TestAgentXVariants(t *testing.T) {
	for _, c := range []struct {
		name    string
		lasts   time.Duration
		departs int
	}{
		{"inferencex-agentx", 30 * time.Minute, 0},
		{"inferencex-agentx:docs", 30 * time.Minute, 0},
		{"inferencex-agentx:aiperf-0.13", 30 * time.Minute, 1},
		{"inferencex-agentx:ci", time.Hour, 2},
	} {
		p, departs := agentXPlan(t, c.name, bench.Plan{})
		if p.Duration != c.lasts || p.Requests != 0 || p.Concurrency != 8 || !p.IgnoreEOS || p.NoStream || p.Rate != 0 {
			t.Errorf("%s: %+v", c.name, p.Load)
		}
		if primes := p.Workload.(workload.Primed).Primes(); primes != 8 {
			t.Errorf("%s: %d sessions begin in the middle", c.name, primes)
		}
		if len(departs) != c.departs {
			t.Errorf("%s departs by %q", c.name, departs)
		}
	}
	for _, c := range []struct {
		name  string
		lasts time.Duration
		want  string
	}{
		{"inferencex-agentx", 20 * time.Minute, ""},
		{"inferencex-agentx", time.Minute, "1m0s instead of 30m0s"},
		{"inferencex-agentx:ci", 20 * time.Minute, "20m0s instead of 1h0m0s"},
	} {
		_, departs := agentXPlan(t, c.name, bench.Plan{Load: bench.Load{Duration: c.lasts}})
		if text := strings.Join(departs, "; "); !strings.Contains(text, c.want) || c.want == "" && text != "" {
			t.Errorf("%s for %v: %q", c.name, c.lasts, text)
		}
	}
}

func TestAgentXWithoutSessions(t *testing.T) {
	m, _ := ByName("inferencex-agentx")
	if _, err := m.Prepare(&Options{}); err == nil || !strings.Contains(err.Error(), "recorded sessions") {
		t.Errorf("%v", err)
	}
	made, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{Input: "16"}}, workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Prepare(&Options{Base: bench.Plan{Content: bench.Content{Workload: made}}}); err == nil || !strings.Contains(err.Error(), "recorded sessions") {
		t.Errorf("%v", err)
	}
}

// Ten requests of 1 s for 10 tokens and one of 5 s for 10: the medians are 100 ms a token
// and 10 tokens/s. More than 1 % of too long contexts is not valid, other failures are;
// in continuous integration 10 % are the most.
func TestAgentXFigures(t *testing.T) {
	v := seen{lasted: 1800}
	for range 100 {
		v.add(record(0, 200, 1000, 100, 10))
	}
	near(t, "E2E/OSL", quantile(perToken(&v), 0.5), 100)
	near(t, "interactivity", intvty(quantile(perToken(&v), 0.9)), 10)
	judged := func(rules *agentXRules) string {
		var out result.Method
		rules.judge(&out, &result.Point{}, &v, "")
		return strings.Join(out.Why, "; ")
	}
	docs, ci := agentXOf(&Method{}), agentXOf(&Method{variant: "ci"})
	if why := judged(docs); why != "" {
		t.Error(why)
	}
	fail := func(text string) {
		v.add(metric.Record{Outcome: timeline.HTTP5xx, Error: &timeline.Error{Message: text}})
	}
	for range 12 {
		fail("overloaded")
	}
	if why := judged(docs); why != "" {
		t.Error(why)
	}
	if why := judged(ci); !strings.Contains(why, "10.7 % of the requests failed, more than 10 %") {
		t.Error(why)
	}
	fail("the Maximum Context of this model is 4096")
	if why := judged(docs); why != "" {
		t.Error(why)
	}
	fail("your Prompt is too long")
	if why := judged(docs); !strings.Contains(why, "the context was too long in 1.8 % of the answers") {
		t.Error(why)
	}
	// As the servers write it, gathered by agents that shorten a conversation then (pi-ai's overflow.ts; TGI's of LiteLLM).
	for _, text := range []string{
		"the request exceeds the available context size, try increasing it",
		"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`",
		"Your input exceeds the context window of this model",
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens",
		"The input (5000 tokens) is longer than the model's context length (4096 tokens).",
		"Input is too long for requested model.",
	} {
		one := seen{lasted: 1800, records: []metric.Record{{Error: &timeline.Error{Message: text}}}}
		var out result.Method
		docs.judge(&out, &result.Point{}, &one, "")
		if !strings.Contains(strings.Join(out.Why, "; "), "the context was too long") {
			t.Errorf("%s: %v", text, out.Why)
		}
	}
	v.partial, v.lasted = true, 60
	if why := judged(docs); !strings.Contains(why, "the run was stopped") || !strings.Contains(why, "it went on for 60 s, where at least 900 s are asked") {
		t.Error(why)
	}
}
