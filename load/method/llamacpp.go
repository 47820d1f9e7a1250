package method

import (
	"fmt"

	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
)

var llamaBench = Method{
	Name: "llama-bench", Title: "llama.cpp, llama-bench", AsOf: "2026-08",
	Says: "not llama-bench: over HTTP, with tokenising, sampling and the server inside, so llama-bench itself prints more",
	Rules: []string{
		"pp: a prompt of 512 tokens and one token to answer; tg: 128 tokens after a prompt of 16, as a server needs one; --input-tokens and --output-tokens set them",
		"one sequence at a time, 5 repetitions after one of warm-up",
		"the figure is the mean of the rates with their standard deviation (n − 1)",
		"pp counts prompt tokens that were not cached over the time from the sent request to the first token; tg tokens after the first over the time after it",
	},
	takes:    map[string]many{sweep.InputTokens: several, sweep.OutputTokens: several},
	Variable: "test", prepare: prepareLlamaBench, read: readLlamaBench,
}

func prepareLlamaBench(_ *Method, o *Options) (*Steps, error) {
	prompts, gens := o.list(sweep.InputTokens, 512), o.list(sweep.OutputTokens, 128)
	o.fixed(sweep.InputTokens, sweep.OutputTokens, sweep.Concurrency)
	out := &Steps{}
	add := func(label, input, output string) {
		out.Cells = append(out.Cells, o.cell(float64(len(out.Cells)+1), label,
			ask{concurrency: 1, requests: 5, warmup: 1, input: input, output: output, ignoreEOS: true}))
	}
	for _, p := range prompts {
		add("pp"+number(p), number(p), "1")
	}
	for _, g := range gens {
		add("tg"+number(g), lead, number(g))
	}
	return out, nil
}

func readLlamaBench(_ *Method, _ *Options, s *result.Sweep, out *result.Method) {
	out.Heads = []string{"model", "test", "t/s"}
	for i := range s.Points {
		p := &s.Points[i]
		rows, _ := through("llama-bench", s, p)
		kind := p.Text[:min(2, len(p.Text))]
		avg, sd := rows[kind+" avg_ts"].Value, rows[kind+" stddev_ts"].Value
		out.Rows = append(out.Rows, []result.MethodCell{word(s.Target.Model), word(p.Text), spread(avg, sd)})
	}
}

// spread is a figure as llama-bench prints it: 131.42 ± 0.59.
func spread(avg, sd opt) result.MethodCell {
	c := cellOf(avg, 2)
	if v, ok := avg.Get(); ok {
		c.Text = fmt.Sprintf("%.2f ± %.2f", v, sd.Or(0))
	}
	return c
}

var batchedBench = Method{
	Name: "batched-bench", Title: "llama.cpp, llama-batched-bench", AsOf: "2026-08",
	Says: "not llama-batched-bench: over HTTP a server mixes prompts and generation, so the two phases overlap; S t/s is what compares",
	Rules: []string{
		"PP prompt tokens, TG steps of generation, B sequences that start at once, each with a prompt of its own; one batch each, no repetition",
		"answers are of TG + 1 tokens: the first is the prompt's, and each of the others takes a step",
		"T_PP ends with the last first token, T_TG is the rest",
		"S_PP = B × PP / T_PP; S_TG = B × TG / T_TG, of all sequences together; S = N_KV / T, N_KV = B × (PP + TG)",
		"PP 128, 256 and 512, TG 128 and 256, B 1, 2, 4, 8, 16, 32, as in its README, for it has no defaults; --input-tokens, --output-tokens and --concurrency set them",
	},
	takes:    map[string]many{sweep.InputTokens: several, sweep.OutputTokens: several, sweep.Concurrency: several},
	Variable: sweep.Concurrency, prepare: prepareBatched, read: readBatched,
}

func prepareBatched(_ *Method, o *Options) (*Steps, error) {
	prompts, gens := o.list(sweep.InputTokens, 128, 256, 512), o.list(sweep.OutputTokens, 128, 256)
	batches := o.list(sweep.Concurrency, 1, 2, 4, 8, 16, 32)
	o.fixed(sweep.InputTokens, sweep.OutputTokens, sweep.Concurrency)
	out := &Steps{}
	for _, pp := range prompts {
		for _, tg := range gens {
			for _, b := range batches {
				out.Cells = append(out.Cells, o.cell(b, number(b), ask{concurrency: int(b), requests: int(b), warmup: 1,
					input: number(pp), output: number(tg + 1), ignoreEOS: true},
					result.Setting{Name: sweep.Concurrency, Value: number(b)}, result.Setting{Name: sweep.InputTokens, Value: number(pp)},
					result.Setting{Name: sweep.OutputTokens, Value: number(tg)}))
			}
		}
	}
	return out, nil
}

func readBatched(_ *Method, _ *Options, s *result.Sweep, out *result.Method) {
	out.Heads = []string{"PP", "TG", "B", "N_KV", "T_PP s", "S_PP t/s", "T_TG s", "S_TG t/s", "T s", "S t/s"}
	for i := range s.Points {
		v, ok := look(s, &s.Points[i])
		if !ok || len(v.good) == 0 {
			continue
		}
		out.Rows = append(out.Rows, batched(&v))
	}
}

// less is a number of tokens without some of them.
func less(tokens opt, n float64) opt {
	if v, ok := tokens.Get(); ok && v > n {
		return some(v - n)
	}
	return opt{}
}

// batched is a row: one batch of sequences that started together. What follows each
// first token are the steps of generation.
func batched(v *seen) []result.MethodCell {
	b := float64(len(v.good))
	in, steps := v.sum(inputs), less(v.sum(outputs), b)
	kv := plus(in, steps)
	pp, all := v.first-v.from, v.last-v.from
	tg := all - pp
	return []result.MethodCell{cellOf(scaled(in, 1/b), 0), cellOf(scaled(steps, 1/b), 0), cellOf(some(b), 0), cellOf(kv, 0),
		cellOf(some(pp), 3), cellOf(over(in, pp), 2), cellOf(some(tg), 3), cellOf(over(steps, tg), 2), cellOf(some(all), 3), cellOf(over(kv, all), 2)}
}
