package method

import (
	"cmp"
	"fmt"
	"time"

	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

const (
	artificial    = "Artificial Analysis"
	notArtificial = "not a result of Artificial Analysis: measured from here and now, not over days from their location, and not published by them"
)

// workloads are input and output tokens by name; the second is their default.
var artificialWorkloads = []struct {
	name          string
	input, output float64
}{{"1k", 1000, 1000}, {"10k", 10_000, 1500}, {"100k", 100_000, 2000}}

var artificialAnalysis = Method{
	Name: "artificial-analysis", Title: artificial + ", performance of language models", AsOf: "methodology 2.2.0, March 2026",
	Says: notArtificial, Variable: sweep.InputTokens, Variants: []string{"1k", "10k", "100k", "parallel"},
	NormTokenizer: "o200k_base",
	Rules: []string{
		"a unique prompt of 1,000 and of 10,000 tokens, answers of up to 1,000 and 1,500 (100,000/2,000 with :100k); theirs are texts with tasks, answered by at least so many",
		"temperature 0 and top_p 1",
		"one request at a time (ten at once with :parallel); 8 of each, which is a day of theirs",
		"output speed is tokens/s after the first chunk, counted by o200k_base (theirs, where a model hides its reasoning: of the last 80 % of the answer's chunks)",
		"end-to-end response time is for 500 answer tokens: TTFT, thinking included, + 500 / output speed; theirs has the mean thinking of 60 prompts",
		"medians; their pages show them over the last 72 hours",
		"blended prices: 7 parts of cached input to 2 of other input and 1 of output, and the older 3 of input to 1 of output",
	},
	takes:   map[string]many{sweep.InputTokens: several},
	prepare: prepareArtificial, read: readArtificial,
}

func prepareArtificial(m *Method, o *Options) (*Steps, error) {
	out := &Steps{}
	inputs, wanted := o.list(sweep.InputTokens), map[string]bool{"1k": true, "10k": true}
	streams, n := 1, 8
	switch m.variant {
	case "":
	case "parallel":
		wanted, streams, n = map[string]bool{"1k": true}, 10, 10
	default:
		wanted = map[string]bool{m.variant: true}
	}
	o.fixed(sweep.InputTokens)
	add := func(input, output float64) {
		out.Cells = append(out.Cells, o.cell(input, number(input), ask{concurrency: streams, requests: n, warmup: -1,
			input: number(input), output: number(output)}))
	}
	if len(inputs) > 0 {
		o.depart("input tokens of the user's own")
		for _, x := range inputs {
			add(x, 1000)
		}
	} else {
		for _, w := range artificialWorkloads {
			if wanted[w.name] {
				add(w.input, w.output)
			}
		}
	}
	if a := o.Base.Client.API; a == api.OpenAIChat || a == api.OpenAICompletions { // others have other names for them
		o.body(out.Cells, "temperature", 0)
		o.body(out.Cells, "top_p", 1)
	}
	return out, nil
}

// speed is a request's output speed: after the first chunk, by their tokenizer
// where answers were counted by it.
func speed(r *metric.Record) opt {
	return cmp.Or(r.NormDecodeTPS, inverse(r.TPOTAdjMS, 1000), r.DecodeTPS)
}

// answered is when the answer began: after any thinking.
func answered(r *metric.Record) opt { return cmp.Or(r.TTFOMS, r.TTFTMS) }

const answerTokens = 500

// response is the time for an answer of 500 tokens, in s.
func response(r *metric.Record) opt {
	begin, ok := answered(r).Get()
	tps, has := speed(r).Get()
	if !ok || !has || !(tps > 0) {
		return opt{}
	}
	return some(begin/1e3 + answerTokens/tps)
}

func readArtificial(_ *Method, o *Options, s *result.Sweep, out *result.Method) {
	out.Heads = []string{"input tokens", "output speed tok/s", "P5", "P95", "TTFT s", "first answer token s", "end-to-end s", "n"}
	for i := range s.Points {
		v, ok := look(s, &s.Points[i])
		if !ok {
			continue
		}
		tps := v.values(speed)
		out.Rows = append(out.Rows, []result.MethodCell{word(s.Points[i].Text),
			cellOf(quantile(tps, 0.5), 1), cellOf(quantile(tps, 0.05), 1), cellOf(quantile(tps, 0.95), 1),
			cellOf(scaled(quantile(v.values(ttft), 0.5), 1e-3), 3), cellOf(scaled(quantile(v.values(answered), 0.5), 1e-3), 3),
			cellOf(quantile(v.values(response), 0.5), 2), cellOf(some(float64(len(v.good))), 0)})
	}
	if o.Base.Pricing == nil {
		return
	}
	if p, ok := o.Base.Pricing.For(o.Base.Model); ok {
		field(out, "Price, blended 7:2:1", "USD/M tokens", p.Blend(7, 2, 1), "(7 × cached input + 2 × input + output) / 10, in the model's own tokens")
		field(out, "Price, blended 3:1", "USD/M tokens", p.Blend(0, 3, 1), "(3 × input + output) / 4")
	}
}

var artificialLoad = Method{
	Name: "artificial-analysis-load", Title: artificial + ", System Load Test", AsOf: "methodology page, 2026",
	Says: notArtificial, Variable: sweep.Concurrency, NormTokenizer: "o200k_base",
	Rules: []string{
		"closed loop of 1, 2, 4, 8, 16, 32, 64 streams, then 64 more each, until throughput levels off (here: until two points in a row bring less than 2 % more than the best before them)",
		"3 minutes measured at each; ramp-up and cool-down are left out",
		"unique prompts of 1,000 tokens, answers of 1,000",
		"system output throughput, response rate (at least one token came), median end-to-end time and output speed of a query",
	},
	takes:   map[string]many{sweep.Concurrency: several},
	prepare: prepareArtificialLoad, read: readArtificialLoad,
}

func prepareArtificialLoad(_ *Method, o *Options) (*Steps, error) {
	streams := o.list(sweep.Concurrency)
	own := len(streams) > 0
	o.fixed(sweep.Concurrency)
	if own {
		o.depart("streams of the user's own")
	} else {
		streams = []float64{1, 2, 4, 8, 16, 32, 64}
	}
	cell := func(c float64) sweep.Cell {
		ramp := 30 * time.Second
		if d := o.Base.Duration; d > 0 {
			ramp = min(ramp, d/4)
		}
		return o.cell(c, number(c), ask{concurrency: int(c), duration: 3 * time.Minute, ramp: ramp, cooldown: time.Minute, warmup: -1,
			input: "1000", output: "1000", ignoreEOS: true})
	}
	out := &Steps{}
	for _, c := range streams {
		out.Cells = append(out.Cells, cell(c))
	}
	if !own {
		out.Next = func(made []result.Point) *sweep.Cell {
			if len(made) == 0 || level(made) || made[len(made)-1].Value >= 4096 {
				return nil
			}
			next := cell(made[len(made)-1].Value + 64)
			return &next
		}
	}
	return out, nil
}

// level reports that the last two points brought less than 2 % over the best
// before them.
func level(made []result.Point) bool {
	if len(made) < 3 {
		return false
	}
	best := 0.0
	for _, p := range made[:len(made)-2] {
		best = max(best, p.Throughput.SystemOutputTPS.Or(0))
	}
	for _, p := range made[len(made)-2:] {
		if p.Throughput.SystemOutputTPS.Or(0) >= 1.02*best {
			return false
		}
	}
	return true
}

func readArtificialLoad(_ *Method, _ *Options, s *result.Sweep, out *result.Method) {
	out.Heads = []string{"concurrency", "system output tok/s", "response rate", "end-to-end s", "output speed tok/s", "n"}
	top := opt{}
	for i := range s.Points {
		p := &s.Points[i]
		v, ok := look(s, p)
		if !ok {
			continue
		}
		tps := cmp.Or(p.Throughput.SustainedTPS, p.Throughput.SystemOutputTPS)
		if tps.Or(0) > top.Or(0) {
			top = tps
		}
		answered := 0
		for j := range v.records {
			if r := &v.records[j]; r.Outcome == timeline.OK || r.OutputTokens.Or(0) > 0 {
				answered++
			}
		}
		out.Rows = append(out.Rows, []result.MethodCell{word(p.Text), cellOf(tps, 1), cellOf(ratio(float64(answered), float64(len(v.records))), 3),
			cellOf(scaled(quantile(v.values(e2e), 0.5), 1e-3), 2), cellOf(quantile(v.values(speed), 0.5), 1), cellOf(some(float64(len(v.good))), 0)})
	}
	note := ""
	if n := len(s.Points); n > 0 && !level(s.Points) {
		note = fmt.Sprintf("it had not levelled off at %s streams", s.Points[n-1].Text)
	}
	field(out, "Peak system output throughput", "tokens/s", top, note)
}
