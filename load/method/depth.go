package method

import (
	"errors"
	"fmt"

	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/load/workload"
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
)

var depthSeries = Method{
	Name: "depth", Title: "llama.cpp, llama-bench with a depth (-d), and llama-benchy", AsOf: "2026-08",
	Says: "not llama-bench: over HTTP, with tokenising, sampling and the server inside, so llama-bench itself prints more",
	Rules: []string{
		"at each depth d: a context of d tokens, which nothing knows, and one token to answer (cold); then 512 tokens behind it (pp); then 128 to answer behind it (tg)",
		"depths 0, 4096 and 8192, where both tools have 0 unless told; --depth, --input-tokens (pp) and --output-tokens (tg) set them. Lengths and repetitions are llama-bench's; llama-benchy's are 2048, 32 and 3",
		"one sequence at a time, 5 repetitions, each with a context of its own",
		"cold and pp are prompt tokens that were not cached over the time to the first token (llama-benchy takes the network's time off, and unless told to use the cache it computes, and counts, the context again); tg is tokens after the first over the time after it",
		"the figure is the mean of the rates with their standard deviation (n − 1)",
	},
	takes:    map[string]many{sweep.Depth: several},
	Variable: sweep.Depth, prepare: prepareDepth, read: readDepth,
}

// The requests of a repetition, where there is a context.
const (
	coldStep = iota
	ppStep
	tgStep
	depthSteps
)

// lead is the prompt in front of what is generated, in tokens.
const lead = "16"

const depthRepetitions = 5

func prepareDepth(m *Method, o *Options) (*Steps, error) {
	if o.Base.Workload != nil || o.Base.Prompt != "" {
		return nil, errors.New(m.Name + " makes what it sends: leave the workload, or the prompts, out")
	}
	depths := o.list(sweep.Depth, 0, 4096, 8192)
	pp, tg := o.list(sweep.InputTokens, 512)[0], o.list(sweep.OutputTokens, 128)[0]
	o.fixed(sweep.InputTokens, sweep.OutputTokens, sweep.Concurrency)
	out := &Steps{}
	for _, d := range depths {
		context := workload.StepSpec{Name: "context", Input: number(d), Output: "1"}
		steps := []workload.StepSpec{context,
			{Name: "pp", After: []string{context.Name}, Input: number(pp), Output: "1"},
			{Name: "tg", After: []string{"pp"}, Continues: context.Name, Input: lead, Output: number(tg)}}
		if d == 0 {
			steps = steps[ppStep:]
			steps[0].After, steps[1].Continues = nil, "none"
		}
		spec := workload.Spec{Content: workload.Content{Task: &workload.TaskSpec{Steps: steps}}}
		opt := workload.Options{Seed: o.Base.Seed, Salt: o.Salt + number(d)} // no context is the beginning of another
		if t := o.Base.Tokenizer; t != nil {
			opt.TokenizerName, opt.Tokenizer = "the server's", func(string) (workload.Tokenizer, error) { return t, nil }
		}
		work, err := workload.FromSpec(m.Name, spec, opt)
		if err != nil {
			return nil, fmt.Errorf("depth %s: %w", number(d), err)
		}
		cell := o.cell(d, number(d), ask{concurrency: 1, requests: depthRepetitions * len(steps), given: true, ignoreEOS: true})
		cell.Plan.Workload = work
		out.Cells = append(out.Cells, cell)
	}
	return out, nil
}

func readDepth(_ *Method, _ *Options, s *result.Sweep, out *result.Method) {
	out.Heads = []string{"depth", "cold t/s", "pp t/s", "new tokens", "cached", "TTFT ms", "tg t/s", "n"}
	for i := range s.Points {
		p := &s.Points[i]
		if v, ok := look(s, p); ok {
			out.Rows = append(out.Rows, depthRow(p.Text, p.Value, &v))
		}
	}
	for i := range out.Rows {
		if out.Rows[i][4].Text == untold {
			out.Why = append(out.Why, "the server does not tell what it cached, so pp behind a context has no figure")
			break
		}
	}
}

const untold = "not told"

func depthRow(text string, depth float64, v *seen) []result.MethodCell {
	first := int64(coldStep)
	if depth == 0 {
		first = ppStep
	}
	of := func(step int64, figure func(*metric.Record) opt) stat.Sorted {
		return v.values(func(r *metric.Record) opt {
			if r.Step.Or(-1) != step-first {
				return opt{}
			}
			return figure(r)
		})
	}
	told := func(r *metric.Record) opt { return asFloat(r.CachedTokens) }
	fresh := func(r *metric.Record) opt { // tokens that had to be computed
		in, known := r.InputTokens.Get()
		cached, isTold := r.CachedTokens.Get()
		if !known || !isTold && depth > 0 && r.Step.Or(0) > 0 {
			return opt{} // a context of its own is new in any case
		}
		return some(float64(in - cached))
	}
	rate := func(r *metric.Record) opt {
		if n, ok := fresh(r).Get(); ok && n > 0 {
			return scaled(ratioOf(some(n), r.TTFTMS), 1e3)
		}
		return opt{}
	}
	cached := cellOf(quantile(of(ppStep, told), 0.5), 0)
	if !cached.Value.OK() && depth > 0 {
		cached.Text = untold
	}
	cold := word("–")
	if depth > 0 {
		cold = deviating(of(coldStep, rate))
	}
	generated := of(tgStep, func(r *metric.Record) opt { return r.DecodeTPS })
	return []result.MethodCell{word(text), cold, deviating(of(ppStep, rate)), cellOf(quantile(of(ppStep, fresh), 0.5), 0), cached,
		cellOf(quantile(of(ppStep, ttft), 0.5), 2), deviating(generated), cellOf(some(float64(generated.Len())), 0)}
}

// deviating is the mean of rates with their standard deviation.
func deviating(v stat.Sorted) result.MethodCell {
	m, ok := v.Moments()
	if !ok {
		return spread(opt{}, opt{})
	}
	return spread(some(m.Mean), some(m.SD))
}
