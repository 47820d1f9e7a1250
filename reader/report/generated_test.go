package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// generated is a run made from a seed: n requests on streams, with a stall of
// all streams in the middle, prefill that grows with the input and a few
// failures.
func generated(n, streams, tokens int, failEvery int) (*run.Run, []*timeline.Timeline) {
	rng := rand.New(rand.NewPCG(7, 11))
	free := make([]int64, streams)
	for i := range free {
		free[i] = int64(i) * 3000
	}
	stallAt := int64(n) * int64(tokens) * 24_000 / int64(streams) / 3
	var list []*timeline.Timeline
	for i := range n + 4 {
		s := slices.IndexFunc(free, func(at int64) bool { return at == slices.Min(free) })
		tl := timeline.New()
		tl.Request, tl.DueUS, tl.StartUS, tl.Clock = int64(i), free[s], free[s]+int64(rng.IntN(60)), timeline.Kernel
		tl.Outcome, tl.HTTPStatus, tl.Streamed, tl.Asked, tl.FinishReason = timeline.OK, 200, true, true, "stop"
		tl.Model, tl.API, tl.Attempts = "llama-3.1-8b", "openai-chat", 1
		tl.Reused = timeline.Some(i >= streams)
		if i < streams {
			tl.ConnectUS = timeline.Some(int64(900 + rng.IntN(900)))
		}
		tl.SentUS = timeline.Some(int64(1200))
		input := int64(64 + rng.IntN(1900))
		at := int64(60_000+float64(input)*90) + int64(rng.ExpFloat64()*30_000)
		if i < 4 {
			tl.Phase = timeline.Warmup
		}
		count := tokens/2 + rng.IntN(tokens)
		pace := 18_000 + float64(input)*6
		for k := range count {
			if k > 0 {
				at += int64(pace * (0.85 + 0.3*rng.Float64()))
			}
			if k > 0 && tl.DueUS+at > stallAt && tl.DueUS+at < stallAt+30_000 {
				at += 700_000 + int64(rng.IntN(200_000))
			}
			if rng.IntN(4000) == 0 {
				at += int64(100_000 * rng.ExpFloat64())
			}
			tl.Events.Append(timeline.Event{AtUS: at, LagUS: int64(8 + rng.IntN(20)), Kind: timeline.Text, Bytes: 4, Read: int64(k), Tokens: timeline.Some(int64(1))})
		}
		tl.Usage = timeline.Usage{Input: timeline.Some(input), Output: timeline.Some(int64(count))}
		tl.CloseUS = timeline.Some(at + 300)
		if failEvery > 0 && i > 4 && i%failEvery == 0 {
			tl.Fail(timeline.TimeoutIdle, "no token for 2m0s")
			tl.FinishReason = ""
		}
		free[s] += at + 2000
		list = append(list, tl)
	}
	slices.SortFunc(list, func(a, b *timeline.Timeline) int { return cmp.Compare(a.Request, b.Request) })
	return runOf(list, streams), list
}

// runOf summarises timelines as a run folder would.
func runOf(list []*timeline.Timeline, streams int) *run.Run {
	c := metric.NewCollector(metric.CollectorOpts{Concurrency: int64(streams), PromptsUnique: true})
	for _, tl := range list {
		c.Add(tl)
	}
	r := validRun()
	r.Summary = c.Summary()
	n := r.Requests.Total
	r.Load.Concurrency, r.Load.Requests = timeline.Some(int64(streams)), timeline.Some(n)
	r.Command = []string{"tokenmeter", "bench", "http://localhost:8000", "--concurrency", fmt.Sprint(streams), "--requests", fmt.Sprint(n), "--objective", "p99 tpot < 32ms", "--objective", "p95 ttft < 1s"}
	finished := r.Started.Add(time.Duration(r.Throughput.WindowS.Or(0)*1e9) + time.Second)
	r.Finished = &finished
	r.Goodput = judged(r)
	r.Validity = validity.Validity{Verdict: "valid", Checks: holds(nineChecks...)}
	return r
}

func judged(r *run.Run) *objective.Goodput {
	one := func(text, name string, p float64, stat string, limit float64) objective.ObjectiveResult {
		d := r.Metrics[name+"_ms"]
		v := map[string]timeline.Opt[float64]{"p95": d.P95, "p99": d.P99}[stat]
		o := objective.ObjectiveResult{Text: text, Metric: name, Percentile: some(p), Limit: limit, Value: v, N: d.N, State: "open"}
		if x, ok := v.Get(); ok {
			o.State, o.Met = "met", timeline.Some(x < limit)
			if x >= limit {
				o.State = "missed"
			}
		}
		if ci, ok := d.CI95[stat]; ok {
			o.CI95, o.Settled = &ci, timeline.Some(ci[0] > limit || ci[1] < limit)
		}
		return o
	}
	good := int64(math.Round(float64(r.Requests.OK) * 0.97))
	n := r.Requests.OK + r.Requests.Failed
	g := &objective.Goodput{Good: good, Bad: n - good,
		Objectives: []objective.ObjectiveResult{one("p99 tpot < 32ms", "tpot", 0.99, "p99", 32), one("p95 ttft < 1s", "ttft", 0.95, "p95", 1000)}}
	if n > 0 {
		g.Fraction = some(float64(good) / float64(n))
		g.FractionCI95 = &[2]float64{max(0, float64(good)/float64(n)-0.02), min(1, float64(good)/float64(n)+0.01)}
	}
	return g
}

func each(list []*timeline.Timeline) timelines {
	return func(yield func(*timeline.Timeline, error) bool) {
		for _, tl := range list {
			if !yield(tl, nil) {
				return
			}
		}
	}
}
