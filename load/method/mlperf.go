package method

import (
	"fmt"
	"math"
	"strings"
	"time"

	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/validity"
)

const (
	loadgen    = "MLCommons MLPerf Inference, LoadGen"
	loadgenAt  = "LoadGen 6.0.17, rules of v6.1 (2026-08)"
	unofficial = "unofficial, not an MLPerf result: measured over HTTP by tokenmeter, with made prompts, without the accuracy and audit runs, and not reviewed by MLCommons"

	// confidence and tail are those of early stopping and of the limits.
	confidence = 0.99
	tail       = 0.99
	minTime    = 10 * time.Minute

	valid   = "VALID by these rules"
	invalid = "INVALID"
)

// limits are p99 limits in ms of the benchmarks: TTFT and TPOT.
type limits struct{ ttft, tpot float64 }

var (
	serverLimits = map[string]limits{
		"llama2-70b": {2000, 200}, "mixtral-8x7b": {2000, 200}, "llama3.1-405b": {6000, 175}, "llama3.1-8b": {2000, 100},
		"deepseek-r1": {2000, 80}, "gpt-oss-120b": {3000, 80},
	}
	interactiveLimits = map[string]limits{
		"llama2-70b": {450, 40}, "llama3.1-405b": {4500, 80}, "llama3.1-8b": {500, 30}, "deepseek-r1": {1500, 15}, "gpt-oss-120b": {2000, 15},
	}
	mlperfModels = []string{"llama2-70b", "mixtral-8x7b", "llama3.1-405b", "llama3.1-8b", "deepseek-r1", "gpt-oss-120b"}
)

// Benchmarks of text that people may look for here, and why there are no limits for them.
var (
	serverAbsent = map[string]string{
		"gptj": gptjLeft, "gptj-99": gptjLeft, "gptj-99.9": gptjLeft,
		"qwen3-vl-235b-a22b": `its limit is on the whole answer, so measure it with --objective "p99 e2e < 12s" and no method`,
	}
	interactiveAbsent = map[string]string{
		"gptj": gptjLeft, "gptj-99": gptjLeft, "gptj-99.9": gptjLeft,
		"mixtral-8x7b":       "it has limits as a server only, mlperf-server:mixtral-8x7b",
		"qwen3-vl-235b-a22b": "it has no interactive limits",
	}
)

// gptjLeft is from the notes on v5.1, in which llama3.1-8b took its place.
const gptjLeft = "GPT-J has left the benchmark, whose v5.1 has llama3.1-8b in its place"

func withLimits(of map[string]limits) (names []string) {
	for _, n := range mlperfModels {
		if _, ok := of[n]; ok {
			names = append(names, n)
		}
	}
	return names
}

var serverRules = []string{
	"Poisson arrivals at a fixed rate; latency counts from the scheduled time",
	"one run of at least 10 minutes",
	"p99 of TTFT and p99 of TPOT below the benchmark's limits",
	"early stopping at 99 % confidence on both: enough queries for the tail that is claimed",
	"no query fails",
	"the figure is completed tokens/s: all tokens over the time until the query issued last is complete",
}

// benchmark is whose limits hold; the user's objectives may stand for it.
const benchmark = "BENCHMARK"

// rates are taken in place of a search.
var rates = map[string]many{sweep.Rate: several}

var mlperf = []Method{
	{Name: "mlperf-server", Title: loadgen + ", Server", AsOf: loadgenAt, Says: unofficial, Variable: sweep.Rate, Rules: serverRules,
		Variants: withLimits(serverLimits), absent: serverAbsent, needs: benchmark, takes: rates, prepare: prepareServer, read: readServer},
	{Name: "mlperf-interactive", Title: loadgen + ", Interactive", AsOf: loadgenAt, Says: unofficial, Variable: sweep.Rate, Rules: serverRules,
		Variants: withLimits(interactiveLimits), absent: interactiveAbsent, needs: benchmark, takes: rates, prepare: prepareServer, read: readServer},
	{Name: "mlperf-offline", Title: loadgen + ", Offline", AsOf: loadgenAt, Says: unofficial, Variable: sweep.Concurrency,
		Rules: []string{"24,576 samples, all due at once; of a benchmark with fewer, all of its own (llama3.1-8b 13,368, mixtral-8x7b 15,000, llama3.1-405b 8,313, deepseek-r1 4,388): --requests", "one run of at least 10 minutes", "no query fails",
			"the figure is tokens/s: all tokens over the time until the last one is complete", "no limit on latency"},
		takes: map[string]many{sweep.Concurrency: one}, prepare: prepareOffline, read: readOffline},
	{Name: "mlperf-singlestream", Title: loadgen + ", SingleStream", AsOf: loadgenAt, Says: unofficial, Variable: sweep.Concurrency,
		Rules: []string{"one query at a time, the next when it is complete", "one run of at least 10 minutes and at least 64 queries", "no query fails",
			"the figure is the early-stopping estimate of p90 latency: an upper bound at 99 % confidence"},
		prepare: prepareSingle, read: readSingle},
}

// limitsOf are those of the benchmark that was named, or of the user's objectives.
func (m *Method) limitsOf(o *Options) (limits, error) {
	of := serverLimits
	if m.Name == "mlperf-interactive" {
		of = interactiveLimits
	}
	if l, ok := of[m.variant]; ok {
		if len(o.Base.Objectives) > 0 {
			return l, fmt.Errorf("%s:%s has limits of its own: leave --objective out", m.Name, m.variant)
		}
		return l, nil
	}
	var l limits
	for i := range o.Base.Objectives {
		switch x := &o.Base.Objectives[i]; {
		case x.Percentile == tail && x.Metric == "ttft":
			l.ttft = x.Limit
		case x.Percentile == tail && x.Metric == "tpot":
			l.tpot = x.Limit
		default:
			return l, fmt.Errorf("%s has limits on p99 of TTFT and of TPOT only: leave %q out", m.Name, x.Text)
		}
	}
	if l.ttft > 0 && l.tpot > 0 {
		o.depart("limits of the user, not of a benchmark")
		return l, nil
	}
	return l, fmt.Errorf("%s needs limits: name a benchmark, like %s:%s (or one of %s), or give --objective \"p99 ttft < 2s\" and --objective \"p99 tpot < 100ms\"",
		m.Name, m.Name, m.Variants[0], strings.Join(m.Variants[1:], ", "))
}

// claim is early stopping's word on a limit.
type claim struct {
	over, n, more int64
}

// earlyStop counts the queries over a limit, those without the figure among
// them where failed ones are to count.
func earlyStop(v stat.Sorted, limit float64, missing int) claim {
	c := claim{n: int64(len(v) + missing), over: int64(missing)}
	for _, x := range v {
		if x > limit {
			c.over++
		}
	}
	c.more = stat.MoreForLimit(c.over, c.n, tail, 0, confidence)
	return c
}

func (c claim) words(name string) string {
	return fmt.Sprintf("early stopping on %s: %d of %d queries were over the limit, %d more within it are needed", name, c.over, c.n, c.more)
}

// rank is LoadGen's percentile: no interpolation, index ⌊N × p⌋ from 0.
func rank(v stat.Sorted, p float64) opt {
	if len(v) == 0 {
		return opt{}
	}
	return some(v[min(int(math.Floor(float64(len(v))*p+1e-9)), len(v)-1)])
}

// measured is the point that the method's figures are of: the last run that is no
// probe of the search.
func measured(s *result.Sweep) *result.Point {
	for i := len(s.Points) - 1; i >= 0; i-- {
		if p := &s.Points[i]; !s.Searched() || p.Place > 0 {
			return p
		}
	}
	return nil
}

// lookOrWhy reads the measured run, or says why there is nothing to read.
func lookOrWhy(s *result.Sweep, p *result.Point, out *result.Method) (v seen, ok bool) {
	why := "nothing was measured"
	switch {
	case p != nil:
		if v, ok = look(s, p); ok {
			return v, true
		}
		if p.Error != "" {
			why += ": " + p.Error
		}
	case s.Searched() && s.Found.Holds.OK():
		why = fmt.Sprintf("the limits hold at %s requests/s, but the run at that rate was not made", number(s.Found.Holds.Or(0)))
	case s.Searched():
		why = "no rate was shown at which the limits hold"
	}
	if p == nil && s.Searched() && s.Found.Why != "" {
		why += ": " + s.Found.Why
	}
	out.Verdict, out.Why = invalid, append(out.Why, why)
	return v, false
}

// limitsOfObjectives reads the limits back.
func limitsOfObjectives(o *Options) (l limits) {
	for i := range o.Base.Objectives {
		switch x := &o.Base.Objectives[i]; x.Metric {
		case "ttft":
			l.ttft = x.Limit
		case "tpot":
			l.tpot = x.Limit
		}
	}
	return l
}

func over(sum opt, seconds float64) opt { return ratioOf(sum, some(seconds)) }

func prepareOffline(_ *Method, o *Options) (*Steps, error) {
	const samples, flying = 24576, 1024
	want := ask{requests: samples, concurrency: flying, warmup: -1}
	if o.Base.Concurrency > 0 {
		want.concurrency = o.Base.Concurrency
	}
	o.fixed(sweep.Concurrency)
	if n := o.Base.Requests; n > 0 {
		want.concurrency = min(want.concurrency, n)
	}
	if want.concurrency < max(o.Base.Requests, samples) {
		o.depart("at most %s in flight, where LoadGen hands over all samples at once (--concurrency sets it)", metric.Plural(int64(want.concurrency), "request"))
	}
	return &Steps{Cells: []sweep.Cell{o.cell(float64(want.concurrency), "offline", want)}}, nil
}

func readOffline(_ *Method, o *Options, s *result.Sweep, out *result.Method) {
	p := measured(s)
	v, ok := lookOrWhy(s, p, out)
	if !ok {
		return
	}
	t := v.last - v.from
	field(out, "Tokens per second", "tokens/s", over(v.sum(outputs), t), "all tokens / the time until the last one is complete")
	field(out, "Samples per second", "samples/s", ratio(float64(len(v.good)), t), "")
	conclude(out, p, &v, t, "system_output_tps")
}

func prepareSingle(_ *Method, o *Options) (*Steps, error) {
	o.fixed(sweep.Concurrency)
	return &Steps{Cells: []sweep.Cell{o.cell(1, "1", ask{concurrency: 1, duration: minTime, grace: 10 * time.Minute})}}, nil
}

func readSingle(_ *Method, o *Options, s *result.Sweep, out *result.Method) {
	p := measured(s)
	v, ok := lookOrWhy(s, p, out)
	if !ok {
		return
	}
	latencies := v.values(e2e)
	estimate := opt{}
	if b, ok := stat.UpperBound(latencies, 0.9, confidence); ok {
		estimate = some(b)
	} else {
		out.Why = append(out.Why, fmt.Sprintf("early stopping: %d queries, at least 64 are needed", len(latencies)))
	}
	field(out, "Early stopping 90th percentile estimate", "ms", estimate, "an upper bound at 99 % confidence")
	field(out, "90.00 percentile latency", "ms", rank(latencies, 0.9), "")
	field(out, "90.00 percentile First Token latency", "ms", rank(v.values(ttft), 0.9), "")
	field(out, "Mean latency", "ms", mean(latencies), "")
	conclude(out, p, &v, v.lasted, "e2e")
}

// conclude says VALID or not, by what all scenarios ask for.
// seconds is how long queries were issued, or took in all; figures are the metrics that
// the scenario's result is made of.
func conclude(out *result.Method, p *result.Point, v *seen, seconds float64, figures ...string) {
	switch n := v.failed(); {
	case len(v.good) == 0:
		out.Why = append(out.Why, fmt.Sprintf("all %d queries failed", n))
	case n > 0:
		out.Why = append(out.Why, fmt.Sprintf("%d queries failed", n))
	}
	if asked := minTime.Seconds(); len(v.good) > 0 && seconds < asked*0.999 {
		out.Why = append(out.Why, fmt.Sprintf("it went on for %.0f s, where at least %.0f s are asked", seconds, asked))
	}
	out.Why = append(out.Why, doubts(p, figures...)...)
	decide(out)
}

// decide makes a result valid unless something is in the way of that.
func decide(out *result.Method) {
	if out.Verdict = valid; len(out.Why) > 0 {
		out.Verdict = invalid
	}
}

// doubts says for which figures the measurement itself is invalid, and by which check.
func doubts(p *result.Point, figures ...string) (whys []string) {
	for _, figure := range figures {
		if p.Validity.Of(figure) != validity.Invalid {
			continue
		}
		why := "the measurement itself is invalid for " + figure
		if c, ok := p.Validity.Why(figure); ok {
			why += ": " + c.Name
		}
		whys = append(whys, why)
	}
	return whys
}
