package method

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/load/workload"
	"tokenmeter/load/workload/sessions"
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
)

// agentXRules are the settings of AgentX as one place publishes them. Three do, and
// they differ.
type agentXRules struct {
	name, asOf string
	own        []string // rules that the others don't have
	idle       sessions.Idle
	from, to   float64 // where sessions begin that are in full swing
	prime      int64   // tokens of an answer that brings one there; 0: as recorded
	lasts      time.Duration
	least      time.Duration // a shorter run is not valid; 0: only a departure
	mostErrors float64       // share of requests that may fail; 0: any
	departs    []string      // what is not done here
}

var agentXVariants = []agentXRules{
	{
		name: "docs", asOf: "AIPerf's documents (agentx-mvp, FAQ), 2026",
		own: []string{
			"the start of a request comes at most 10 s after the start before it in its session; what was longer is cut",
			"before a session begins in the middle, the last request before that of each of its agents is sent, with its whole answer",
			"sessions begin anywhere in them; 1,800 s, at least 900",
		},
		idle: sessions.Idle{Most: 10 * time.Second, Starts: true}, to: 1, lasts: 30 * time.Minute, least: 15 * time.Minute,
	},
	{
		name: "aiperf-0.13", asOf: "AIPerf 0.13.0 as installed, scenario inferencex-agentx-mvp",
		own: []string{
			"no request is in flight for at most 10 s",
			"before a session begins in the middle, the last request before that of each of its agents is sent, for one token",
			"sessions begin anywhere in them; 1,800 s, at least 900",
		},
		idle: sessions.Idle{Most: 10 * time.Second}, to: 1, prime: 1, lasts: 30 * time.Minute, least: 15 * time.Minute,
		departs: []string{"10 s without a request are the most in each session; the rule is of all of them together, where it cuts less"},
	},
	{
		name: "ci", asOf: "InferenceX, benchmark_lib.sh of 2026-08-21",
		own: []string{
			"no request of a session is in flight for at most 300 s, and none at all for at most 10 s",
			"before a session begins in the middle, the last request before that of each of its agents is sent, for one token, and ten more of one token a stream",
			"sessions begin between 25 % and 75 % of them; 3,600 s; not valid where more than 10 % of the requests fail",
		},
		idle: sessions.Idle{Most: 300 * time.Second}, from: 0.25, to: 0.75, prime: 1, lasts: time.Hour, mostErrors: 0.1,
		departs: []string{"pauses of all sessions together are not cut to 10 s", "the ten requests of one token a stream are not sent"},
	},
}

var agentX = Method{
	Name: "inferencex-agentx", Title: "SemiAnalysis InferenceX, AgentX", AsOf: "2026-08",
	Says: "not a result of InferenceX: recorded sessions of your own choice, measured by tokenmeter",
	Rules: []string{
		"recorded sessions of agents with their sub-agents (a Weka corpus); as many at once as there are streams, here 8",
		"the first session of each stream begins in the middle, those after it at their beginning",
		"a request is sent when those that it waits for have ended, plus the recorded pause; answers have the recorded length",
		"each play of a session has texts of its own, so that no cache knows it from before; the original puts a mark in front of its first text",
		"E2E / OSL: end-to-end time over output tokens of each request; its interactivity is 1 / that, of the same percentile (not 1 / TPOT)",
		"not valid where the context was too long in more than 1 % of the answers; other failures end their session only",
	},
	Variable: sweep.Concurrency, Variants: []string{"docs", "aiperf-0.13", "ci"},
	takes:   map[string]many{sweep.Concurrency: several, sweep.InputTokens: none, sweep.OutputTokens: none},
	prepare: prepareAgentX, read: readAgentX,
}

// agentXOf is the variant that was asked for; the first one where none was.
func agentXOf(m *Method) *agentXRules {
	for i := range agentXVariants {
		if agentXVariants[i].name == m.variant {
			return &agentXVariants[i]
		}
	}
	return &agentXVariants[0]
}

func prepareAgentX(m *Method, o *Options) (*Steps, error) {
	rules := agentXOf(m)
	work, ok := o.Base.Workload.(*workload.Loaded)
	if !ok {
		return nil, errors.New(m.Name + " plays recorded sessions of agents: name a file of them as the workload")
	}
	if kind := work.Info().Kind; kind != "weka" {
		o.depart("sessions of the format %s instead of a Weka corpus", kind)
	}
	if o.Base.NoStream {
		o.depart("answers that are not streamed")
	}
	for _, what := range rules.departs {
		o.depart("%s", what)
	}
	streams := o.list(sweep.Concurrency, 8)
	o.fixed(sweep.Concurrency)
	lasts := rules.lasts
	if d := o.Base.Duration; rules.least > 0 && d >= rules.least {
		lasts = d // the rules leave it open
	}
	out := &Steps{}
	for _, n := range streams {
		cell := o.cell(n, number(n), ask{concurrency: int(n), duration: lasts, given: true, ignoreEOS: true})
		var err error
		cell.Plan.Workload, err = work.Midway(workload.Midway{Sessions: int(n), From: rules.from, To: rules.to, PrimeTokens: rules.prime, Idle: rules.idle})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		out.Cells = append(out.Cells, cell)
	}
	return out, nil
}

func readAgentX(m *Method, o *Options, s *result.Sweep, out *result.Method) {
	rules := agentXOf(m)
	out.Name, out.AsOf = m.Name+":"+rules.name, rules.asOf
	out.Rules = append(append([]string{}, m.Rules...), rules.own...)
	out.Heads = []string{"concurrency", "statistic", "E2E/OSL ms", "E2E interactivity tok/s", "TPOT ms", "1/TPOT tok/s", "TTFT ms", "E2E ms"}
	for i := range s.Points {
		p := &s.Points[i]
		v, ok := look(s, p)
		if !ok {
			continue
		}
		at := ""
		if len(s.Points) > 1 {
			at = " @ " + p.Text
		}
		agentXFigures(o, &v, at, out)
		rules.judge(out, p, &v, at)
		per, pace, first, whole := perToken(&v), v.values(tpot), v.values(ttft), v.values(e2e)
		for _, q := range []float64{0.5, 0.75, 0.9, 0.95, 0.99} {
			out.Rows = append(out.Rows, []result.MethodCell{word(p.Text), word(fmt.Sprintf("p%g", 100*q)),
				cellOf(quantile(per, q), 2), cellOf(intvty(quantile(per, q)), 2), cellOf(quantile(pace, q), 2), cellOf(intvty(quantile(pace, q)), 2),
				cellOf(quantile(first, q), 2), cellOf(quantile(whole, q), 2)})
		}
	}
	if len(out.Rows) == 0 {
		out.Why = append(out.Why, "nothing was measured")
	}
	decide(out)
}

// agentXFigures are those of a whole point.
func agentXFigures(o *Options, v *seen, at string, out *result.Method) {
	gpus := asFloat(o.GPUs)
	window := v.last - v.from
	in, tokens := v.sum(inputs), v.sum(outputs)
	field(out, "P90 E2E interactivity"+at, "tokens/s", intvty(quantile(perToken(v), 0.9)), "what InferenceX shows, and decides by")
	field(out, "Output throughput"+at, "tokens/s", over(tokens, window), "")
	field(out, "Input throughput"+at, "tokens/s", over(in, window), "cached tokens included")
	if gpus.OK() {
		field(out, "Output throughput per GPU"+at, "tokens/s", ratioOf(over(tokens, window), gpus), "")
	}
	cached, ideal := v.share(func(r *metric.Record) opt { return asFloat(r.CachedTokens) }), v.share(func(r *metric.Record) opt { return asFloat(r.ReusableTokens) })
	field(out, "Cache hits"+at, "share", cached, noteUnless(cached, "the server does not tell them"))
	field(out, "Ideal cache hits"+at, "share", ideal, "what a cache without a limit would have had of these requests")
	field(out, "Requests"+at, "", some(float64(len(v.records))), fmt.Sprintf("%d failed", v.failed()))
}

func noteUnless(x opt, note string) string {
	if x.OK() {
		return ""
	}
	return note
}

// perToken is E2E / OSL of each request, in ms.
func perToken(v *seen) stat.Sorted {
	return v.values(func(r *metric.Record) opt { return ratioOf(r.E2EMS, asFloat(r.OutputTokens)) })
}

// mostOverflows is the share of answers that may say that the context is too long.
const mostOverflows = 0.01

// overflow is what such an answer says, in small letters: of OpenAI, vLLM and SGLang;
// Anthropic; llama.cpp; Bedrock; xAI; Gemini; TGI.
var overflow = []string{"context length", "maximum context", "context_length_exceeded", "context window", "prompt is too long",
	"context size", "input is too long", "maximum prompt length", "input token count", "`max_new_tokens` must be", "`inputs` must have less than"}

// judge says what is in the way of a valid result.
func (r *agentXRules) judge(out *result.Method, p *result.Point, v *seen, at string) {
	no := func(format string, args ...any) { out.Why = append(out.Why, fmt.Sprintf(format, args...)+at) }
	all, over := float64(len(v.records)), 0
	for i := range v.records {
		if e := v.records[i].Error; e != nil {
			text := strings.ToLower(e.Message)
			for _, words := range overflow {
				if strings.Contains(text, words) {
					over++
					break
				}
			}
		}
	}
	if share := float64(over) / all; share > mostOverflows {
		no("the context was too long in %.1f %% of the answers, more than 1 %%", 100*share)
	}
	if share := float64(v.failed()) / all; r.mostErrors > 0 && share > r.mostErrors {
		no("%.1f %% of the requests failed, more than %.0f %%", 100*share, 100*r.mostErrors)
	}
	if len(v.good) == 0 {
		no("no request was answered: %d failed", len(v.records))
	}
	if v.partial {
		no("the run was stopped")
	}
	if asked := r.least.Seconds(); v.lasted < asked*0.999 {
		no("it went on for %.0f s, where at least %.0f s are asked", v.lasted, asked)
	}
	out.Why = append(out.Why, doubts(p, "e2e", "tpot", "ttft", "system_output_tps")...)
}
