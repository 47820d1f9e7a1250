package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// vllmResult is what vllm bench serve writes with --save-result --save-detailed:
// lists of equal length, in seconds. SGLang's bench_serving writes the same lists
// as a line of JSON. Source: vllm/benchmarks/serve.py and
// sglang/bench_serving.py.
type vllmResult struct {
	Date        string      `json:"date"`
	Duration    any         `json:"duration"`
	Backend     string      `json:"backend"`
	ModelID     string      `json:"model_id"`
	Model       string      `json:"model"`
	Concurrency *float64    `json:"max_concurrency"`
	Rate        any         `json:"request_rate"` // "inf" or a number
	Burstiness  *float64    `json:"burstiness"`
	Ramp        string      `json:"ramp_up_strategy"`
	InputLens   []*float64  `json:"input_lens"` // null where our own export knows no count
	OutputLens  []*float64  `json:"output_lens"`
	TTFTs       []*float64  `json:"ttfts"`
	ITLs        [][]float64 `json:"itls"`
	Starts      []float64   `json:"start_times"`
	Latencies   []*float64  `json:"latencies"`
	Errors      []string    `json:"errors"`
	Completed   *float64    `json:"completed"`
	RandomIn    *float64    `json:"random_input_len"` // what SGLang was asked for
	RandomOut   *float64    `json:"random_output_len"`
	MeanTTFT    any         `json:"mean_ttft_ms"` // of a file with figures of the whole run
}

func isVLLM(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) &&
		(bytes.Contains(head, []byte(`"mean_ttft_ms"`)) || bytes.Contains(head, []byte(`"ttfts"`))) &&
		(bytes.Contains(head, []byte(`"request_throughput"`)) || bytes.Contains(head, []byte(`"itls"`)))
}

func readVLLM(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	v, at, _, err := pick(in, eachLine[vllmResult], func(v *vllmResult) string {
		rate := v.Rate
		if rate == nil {
			rate = "inf"
		}
		name := fmt.Sprintf("%s, rate %v", cmp.Or(v.Date, v.Backend), rate)
		for _, says := range []struct {
			words string
			n     *float64
		}{{"%g at once", v.Concurrency}, {"%g tokens in", v.RandomIn}, {"%g tokens out", v.RandomOut}} {
			if says.n != nil {
				name += fmt.Sprintf(", "+says.words, *says.n)
			}
		}
		if n := len(v.TTFTs); n > 0 || v.Completed == nil {
			return fmt.Sprintf("%s, %s", name, metric.Plural(int64(n), "request"))
		}
		return fmt.Sprintf("%s, %s completed", name, metric.Plural(int64(*v.Completed), "request"))
	})
	if err != nil {
		return m, err
	}
	if len(v.TTFTs) == 0 || v.Starts == nil && v.MeanTTFT != nil {
		m = vllmRun(v)
		err = vllmSummary(in, at, v, &m)
		return m, err
	}
	all, err := vllmRequests(in, at, v)
	if err != nil {
		return m, err
	}
	m = vllmRun(v)
	err = emit(in, &m.Load, all, add)
	return m, err
}

func vllmRequests(in *Input, at int64, v *vllmResult) (all []*request, err error) {
	n := len(v.TTFTs)
	for _, list := range []struct {
		name   string
		length int
	}{{"input_lens", len(v.InputLens)}, {"output_lens", len(v.OutputLens)}, {"itls", len(v.ITLs)}} {
		if list.length != n {
			return nil, in.at(at, fmt.Errorf("%s has %d elements and ttfts has %d", list.name, list.length, n))
		}
	}
	if len(v.Starts) != n {
		return nil, in.at(at, fmt.Errorf("start_times has %d elements and ttfts has %d: newer versions of vLLM write them", len(v.Starts), n))
	}
	for i := range n {
		r := unknown(at)
		r.start, r.gaps = v.Starts[i], v.ITLs[i]
		r.first, r.streamed = known(v.TTFTs[i], 1), v.TTFTs[i] != nil
		if i < len(v.Latencies) {
			r.e2e = known(v.Latencies[i], 1)
		}
		r.input, r.output = count(v.InputLens[i]), count(v.OutputLens[i])
		if i < len(v.Errors) {
			r.failure = failure(v.Errors[i])
		}
		if r.failure == "" && r.first == 0 && len(r.gaps) == 0 {
			r.failure = "no token came" // zeros stand for what failed
		}
		if r.failure != "" {
			r.output = timeline.Opt[int64]{}
			if r.first == 0 {
				r.first, r.gaps = -1, nil
			}
		} else if r.gaps != nil && len(r.gaps) == 0 && sensible(r.first) && !(r.e2e > r.first+halfUS) {
			r.events = []float64{r.first} // all came at once
		}
		all = append(all, r)
	}
	return all, nil
}

func vllmRun(v *vllmResult) (m run.Run) {
	m.Target.Model = cmp.Or(v.ModelID, v.Model)
	// The date is that of the file, which is written when the run has ended.
	lasted, _ := v.Duration.(float64)
	if ended, err := time.Parse("20060102-150405", v.Date); err == nil && lasted >= 0 && lasted < longest {
		m.Started = ended.Add(-time.Duration(lasted * float64(time.Second)))
	}
	m.Load.Concurrency = count(v.Concurrency)
	switch rate, _ := v.Rate.(float64); {
	case rate > 0:
		m.Load.Kind, m.Load.RatePerS = "open", timeline.Some(rate)
		switch shape := v.Burstiness; { // get_request in vllm/benchmarks/serve.py: gamma of that shape, 1 is Poisson
		case shape == nil:
		case *shape == 1:
			m.Load.Arrival = "poisson"
		case *shape > 0:
			m.Load.Arrival, m.Load.Burstiness = "gamma", timeline.Some(*shape)
		}
	case v.Rate == "trace": // of SGLang, by the times of one
		m.Load.Kind, m.Load.Arrival = "open", "trace"
	case v.Ramp != "": // whose own rate is inf
		m.Load.Kind = "open"
	case m.Load.Concurrency.OK():
		m.Load.Kind = "closed"
	case v.Rate == "inf", v.Rate == nil && strings.HasPrefix(v.Backend, "sglang"): // all at once; SGLang writes Infinity, which is null here
		m.Load.Kind = "open"
	}
	return m
}

// vllmSummary reads what vLLM writes without --save-detailed, and SGLang without
// --output-details. Its ITL are gaps between chunks, which are our ICL. A file that has
// its requests, too, but not when they began, is of SGLang or of an older version of vLLM.
// SGLang counts what completed and not what failed: errors has a text for every request
// there (sglang/bench_serving.py: result and result_details).
func vllmSummary(in *Input, at int64, v *vllmResult, m *run.Run) error {
	var members map[string]json.RawMessage
	if _, err := in.decode(at, &members); err != nil {
		return err
	}
	o := object{}
	for name, text := range members {
		if len(text) > longestFigure {
			continue // a list of what each request had
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return in.at(at, err)
		}
		o[name] = v
	}
	t := newTold(in, at)
	for name, our := range map[string]string{"ttft_ms": "ttft_ms", "tpot_ms": "tpot_ms", "itl_ms": "icl_ms", "e2el_ms": "e2e_ms", "e2e_latency_ms": "e2e_ms"} {
		for key, stat := range map[string]string{"mean": "mean", "std": "sd", "median": "p50", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p999"} {
			t.stat(our, stat, t.number(o, key+"_"+name), 1)
		}
	}
	t.OK, t.Failed = t.whole(t.number(o, "completed")), t.whole(t.number(o, "failed"))
	t.summed(int64(len(v.Errors)))
	t.Throughput.WindowS = t.number(o, "duration")
	t.Throughput.RequestsPerS, t.Throughput.SuccessOutputTPS = t.number(o, "request_throughput"), t.number(o, "output_throughput")
	t.Throughput.SystemInOutTPS = t.number(o, "total_token_throughput")
	if !t.Throughput.SystemInOutTPS.OK() {
		t.Throughput.SystemInOutTPS = t.number(o, "total_throughput") // SGLang's name of it
	}
	t.counted(timeline.Opt[int64]{})
	if len(v.TTFTs) > 0 {
		in.note("the file does not tell when its requests began (start_times), without which rates and concurrency can't be told: of its lists nothing is taken")
	} else {
		in.note("--save-detailed has vLLM write every request; SGLang's --output-details lists them without their moments, so that its files are summaries")
	}
	return t.into(m)
}

// longestFigure is what a number, or a text that stands for one, may take in bytes.
const longestFigure = 100
