//go:build !lean

package export

import (
	"io"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// vllmResult is the file of vllm bench serve --save-result --save-detailed: lists in
// seconds, one element a measured request, and the summary of them in ms. Times count
// from when a request was due, and only chunks with tokens are chunks. What is not
// known is null. Source: vllm/benchmarks/serve.py.
type vllmResult struct {
	Date              string                `json:"date"`
	Backend           string                `json:"backend"`
	ModelID           string                `json:"model_id"`
	Label             string                `json:"label"`
	NumPrompts        int                   `json:"num_prompts"`
	RequestRate       any                   `json:"request_rate"` // "inf" in a closed loop
	MaxConcurrency    timeline.Opt[int64]   `json:"max_concurrency"`
	Duration          float64               `json:"duration"`
	Completed         int64                 `json:"completed"`
	Failed            int64                 `json:"failed"`
	TotalInput        timeline.Opt[int64]   `json:"total_input_tokens"`
	TotalOutput       timeline.Opt[int64]   `json:"total_output_tokens"`
	RequestThroughput timeline.Opt[float64] `json:"request_throughput"`
	OutputThroughput  timeline.Opt[float64] `json:"output_throughput"`
	TotalThroughput   timeline.Opt[float64] `json:"total_token_throughput"`

	MeanTTFT   timeline.Opt[float64] `json:"mean_ttft_ms"`
	MedianTTFT timeline.Opt[float64] `json:"median_ttft_ms"`
	StdTTFT    timeline.Opt[float64] `json:"std_ttft_ms"` // divides by n
	P99TTFT    timeline.Opt[float64] `json:"p99_ttft_ms"`
	MeanTPOT   timeline.Opt[float64] `json:"mean_tpot_ms"`
	MedianTPOT timeline.Opt[float64] `json:"median_tpot_ms"`
	StdTPOT    timeline.Opt[float64] `json:"std_tpot_ms"` // divides by n
	P99TPOT    timeline.Opt[float64] `json:"p99_tpot_ms"`
	MeanITL    timeline.Opt[float64] `json:"mean_itl_ms"`
	MedianITL  timeline.Opt[float64] `json:"median_itl_ms"`
	StdITL     timeline.Opt[float64] `json:"std_itl_ms"` // divides by n
	P99ITL     timeline.Opt[float64] `json:"p99_itl_ms"`
	MeanE2EL   timeline.Opt[float64] `json:"mean_e2el_ms"`
	MedianE2EL timeline.Opt[float64] `json:"median_e2el_ms"`
	StdE2EL    timeline.Opt[float64] `json:"std_e2el_ms"` // divides by n
	P99E2EL    timeline.Opt[float64] `json:"p99_e2el_ms"`

	InputLens  []timeline.Opt[int64]   `json:"input_lens"`
	OutputLens []timeline.Opt[int64]   `json:"output_lens"`
	StartTimes []float64               `json:"start_times"`
	TTFTs      []timeline.Opt[float64] `json:"ttfts"`
	ITLs       [][]float64             `json:"itls"`
	Latencies  []timeline.Opt[float64] `json:"latencies"`
	Errors     []string                `json:"errors"`
}

func writeVLLM(w io.Writer, f *run.Folder) error {
	m := f.Run()
	out := vllmResult{
		Date: m.Started.UTC().Format("20060102-150405"), Backend: m.Target.API, ModelID: m.Target.Model, Label: m.Name,
		RequestRate: "inf", MaxConcurrency: m.Load.Concurrency,
	}
	if rate, ok := m.Load.RatePerS.Get(); ok {
		out.RequestRate = rate
	}
	var ttft, tpot, itl, e2el stat.Sample
	var span timeline.Span
	in, output := total{known: true}, total{known: true}
	err := each(f, func(rec *metric.Record, tl *timeline.Timeline) error {
		if !tl.Phase.Counts() || tl.Outcome.Cancelled() {
			return nil
		}
		out.NumPrompts++
		span.Add(tl.DueUS, tl.DueUS+max(tl.CloseUS.Or(0), tl.Events.LastUS()))
		out.InputLens = append(out.InputLens, rec.InputTokens)
		out.StartTimes = append(out.StartTimes, float64(tl.DueUS)/1e6)
		gaps := []float64{} // none, as an answer of one chunk has them
		if tl.Evidence != timeline.Arrivals {
			gaps = nil // not known
		}
		for _, ms := range rec.ICLMS {
			gaps = append(gaps, ms/1000)
		}
		out.ITLs = append(out.ITLs, gaps)
		first := rec.TTFTMS
		if !tl.Streamed {
			first = timeline.Opt[float64]{}
		}
		out.TTFTs = append(out.TTFTs, inSeconds(first))
		out.Latencies = append(out.Latencies, inSeconds(rec.E2EMS))
		tokens := rec.OutputTokens
		if rec.TokenSource != nil && *rec.TokenSource == "chunks" {
			tokens = timeline.Opt[int64]{}
		}
		out.OutputLens = append(out.OutputLens, tokens)
		if rec.Error != nil {
			out.Failed++
			out.Errors = append(out.Errors, rec.Error.Message)
			return nil
		}
		out.Completed++
		out.Errors = append(out.Errors, "")
		in.add(rec.InputTokens)
		output.add(tokens)
		addKnown(&ttft, first)
		addKnown(&tpot, rec.TPOTMS)
		addKnown(&e2el, rec.E2EMS)
		for _, ms := range rec.ICLMS {
			itl.Add(ms)
		}
		return nil
	})
	if err != nil {
		return err
	}
	out.Duration = span.Seconds()
	out.TotalInput, out.TotalOutput = in.get(), output.get()
	if d := out.Duration; d > 0 {
		out.RequestThroughput = timeline.Some(float64(out.Completed) / d)
		i, n := out.TotalInput.Or(0), out.TotalOutput.Or(0)
		out.OutputThroughput = timeline.Maybe(float64(n)/d, output.known)
		out.TotalThroughput = timeline.Maybe(float64(i+n)/d, output.known && in.known)
	}
	out.MeanTTFT, out.MedianTTFT, out.StdTTFT, out.P99TTFT = vllmStats(&ttft)
	out.MeanTPOT, out.MedianTPOT, out.StdTPOT, out.P99TPOT = vllmStats(&tpot)
	out.MeanITL, out.MedianITL, out.StdITL, out.P99ITL = vllmStats(&itl)
	out.MeanE2EL, out.MedianE2EL, out.StdE2EL, out.P99E2EL = vllmStats(&e2el)
	return printable.EncodeJSON(w, "", out)
}

func vllmStats(s *stat.Sample) (mean, median, std, p99 timeline.Opt[float64]) {
	m, ok := s.Moments()
	if !ok {
		return
	}
	middle, _ := stat.Quantile(s, 0.5)
	high, _ := stat.Quantile(s, 0.99)
	return timeline.Some(m.Mean), timeline.Some(middle), timeline.Some(populationSD(m)), timeline.Some(high)
}

func inSeconds(ms timeline.Opt[float64]) timeline.Opt[float64] {
	return timeline.Map(ms, func(ms float64) float64 { return ms / 1000 })
}

func addKnown(s *stat.Sample, v timeline.Opt[float64]) {
	if x, ok := v.Get(); ok {
		s.Add(x)
	}
}

// total is a sum that is unknown once a part is.
type total struct {
	sum   int64
	known bool
}

func (t *total) add(n timeline.Opt[int64]) {
	t.sum += n.Or(0)
	t.known = t.known && n.OK()
}

func (t *total) get() timeline.Opt[int64] {
	return timeline.Maybe(t.sum, t.known)
}
