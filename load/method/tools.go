package method

import (
	"slices"
	"time"

	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
)

// tools are benchmarks whose defaults are followed and whose definitions are
// those of a lens: a line each.
var tools = []Method{
	preset{name: "vllm-serve", title: "vllm bench serve", lens: "vllm", api: completions,
		rules:   []string{"1,000 prompts of 1,024 random tokens, answers of 128", "request rate inf: all at once (--concurrency caps them)", "no warm-up; answers go on to their length"},
		streams: []float64{1000}, ask: ask{requests: 1000, warmup: -1, input: "1024", output: "128", ignoreEOS: true}}.method(),
	preset{name: "aiperf", title: "NVIDIA AIPerf", lens: "aiperf",
		rules:   []string{"closed loop, one stream; max(10, 2 × concurrency) requests", "prompts of 550 tokens, answers as long as the model likes (here: 128)"},
		streams: []float64{1}, perStream: 2, least: 10, ask: ask{warmup: -1, input: "550", output: "128"}}.method(),
	preset{name: "llmperf", title: "LLMPerf (ray-project)", lens: "llmperf",
		rules:   []string{"prompts of 550 ± 150 tokens, answers of 150 ± 80", "10 requests in all, 10 at once (num_concurrent_requests, max_num_completed_requests), for at most 90 s"},
		streams: []float64{10}, ask: ask{requests: 10, duration: 90 * time.Second, warmup: -1, input: "normal:550,150", output: "normal:150,80"}}.method(),
	preset{name: "nim", title: "NVIDIA's NIM benchmarking guide", lens: "nim",
		rules:   []string{"prompts of 5,000 tokens, answers of 500, always that long, at 1, 5, 25, 50, 100, 150, 200 and 250 streams, as in its tables (its script: 200/200, 200/5 and 1,000/200 at 1, 2, 5, 10, 50, 100 and 250)", "closed loop, 3 requests a stream; the script warms up by 30 requests before all, here one goes before each", "TTFT and ITL are means, ITL of a request over n − 1; tokens/s are output tokens over the wall clock"},
		streams: []float64{1, 5, 25, 50, 100, 150, 200, 250}, perStream: 3, ask: ask{warmup: 1, input: "5000", output: "500", ignoreEOS: true}, rows: nimRow,
		heads: []string{"concurrency", "TTFT ms", "ITL ms", "output tok/s", "requests/s"}}.method(),
	preset{name: "inferencex", title: "SemiAnalysis InferenceX", lens: "inferencex", api: completions,
		rules:   []string{"prompts of 6,553 to 8,192 tokens, answers of 819 to 1,024, each length alike often (random range 0.8) and always reached, at temperature 0", "closed loop of 4, 8, 16, 32 and 64 streams, 10 requests each after 2 each of warm-up, which are the first prompt there and prompts of their own here", "throughput per GPU counts input and output tokens over all GPUs (there the input by the client's tokenizer; of disaggregated servers input by the prefill's GPUs, output by the decode's); interactivity is 1000 / TPOT of the same statistic, so p99 is the slow tail"},
		streams: []float64{4, 8, 16, 32, 64}, perStream: 10, warmPerStream: 2, greedy: true, ask: ask{input: "uniform:6553,8192", output: "uniform:819,1024", ignoreEOS: true}, rows: inferenceXRow,
		heads: []string{"concurrency", "tput_per_gpu", "output_tput_per_gpu", "input_tput_per_gpu", "median_intvty", "p99_intvty", "e2e_intvty p90", "TTFT ms"}}.method(),
}

const completions = "openai-completions"

// preset is a tool in a line.
type preset struct {
	name, title, lens string
	api               string // where it sends unless it is told; empty: as ours
	rules             []string
	streams           []float64
	ask               ask
	perStream, least  int // requests: so many a stream, at least so many
	warmPerStream     int
	greedy            bool // each request asks for temperature 0
	heads             []string
	rows              func(o *Options, s *result.Sweep, p *result.Point, v *seen) []result.MethodCell
}

func (t preset) method() Method {
	return Method{Name: t.name, Title: t.title, AsOf: "2026-08", Variable: sweep.Concurrency,
		Says:  "not made by " + t.title + ": its defaults and definitions, measured by tokenmeter",
		Rules: t.rules, takes: map[string]many{sweep.Concurrency: several}, lens: t.lens, API: t.api, prepare: t.prepare, read: t.read}
}

func (t preset) prepare(_ *Method, o *Options) (*Steps, error) {
	streams := o.list(sweep.Concurrency, t.streams...)
	o.fixed(sweep.Concurrency)
	out := &Steps{}
	for _, c := range streams {
		a := t.ask
		a.concurrency = int(c)
		if t.perStream > 0 {
			a.requests = max(t.perStream*int(c), t.least)
		}
		if t.warmPerStream > 0 {
			a.warmup = t.warmPerStream * int(c)
		}
		out.Cells = append(out.Cells, o.cell(c, number(c), a))
	}
	if t.greedy {
		o.body(out.Cells, "temperature", 0)
	}
	if a := o.Base.Client.API; t.api != "" && a != nil && a.Name != t.api {
		o.depart("sent to %s instead of %s", a.Name, t.api)
	}
	return out, nil
}

func (t preset) read(_ *Method, o *Options, s *result.Sweep, out *result.Method) {
	out.Heads = append(out.Heads, t.heads...)
	if !o.GPUs.OK() && slices.Contains(t.heads, "tput_per_gpu") {
		field(out, "tput_per_gpu", "tokens/s", opt{}, "needs the number of GPUs: --gpus N")
	}
	for i := range s.Points {
		p := &s.Points[i]
		if t.rows == nil {
			t.figures(s, p, out)
			continue
		}
		if v, ok := look(s, p); ok {
			out.Rows = append(out.Rows, t.rows(o, s, p, &v))
		}
	}
}

// figures are the tool's own, by its names; of several points a row a figure.
func (t preset) figures(s *result.Sweep, p *result.Point, out *result.Method) {
	rows, order := through(t.lens, s, p)
	for _, name := range order {
		label := name
		if len(s.Points) > 1 {
			label += " @ " + p.Text
		}
		r := rows[name]
		note := ""
		if !r.Value.OK() {
			note = r.Why
		}
		field(out, label, r.Unit, r.Value, note)
	}
}

func nimRow(_ *Options, _ *result.Sweep, p *result.Point, v *seen) []result.MethodCell {
	window := v.last - v.from
	return []result.MethodCell{word(p.Text), cellOf(mean(v.values(ttft)), 2), cellOf(mean(v.values(tpot)), 2),
		cellOf(over(v.sum(outputs), window), 2), cellOf(ratio(float64(len(v.good)), window), 2)}
}

func inferenceXRow(o *Options, _ *result.Sweep, p *result.Point, v *seen) []result.MethodCell {
	gpus := asFloat(o.GPUs)
	window := v.last - v.from
	in, out := over(v.sum(inputs), window), over(v.sum(outputs), window)
	paces := v.values(tpot)
	return []result.MethodCell{word(p.Text), cellOf(ratioOf(plus(in, out), gpus), 2), cellOf(ratioOf(out, gpus), 2), cellOf(ratioOf(in, gpus), 2),
		cellOf(intvty(quantile(paces, 0.5)), 2), cellOf(intvty(quantile(paces, 0.99)), 2), cellOf(intvty(quantile(perToken(v), 0.9)), 2),
		cellOf(quantile(v.values(ttft), 0.5), 2)}
}

// intvty is tokens/s for one user at a time per token in ms.
func intvty(ms opt) opt { return inverse(ms, 1000) }
