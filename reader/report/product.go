package report

import (
	"tokenmeter/reader/report/view"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// product is a kind of answers, and what is shown of them.
type product struct {
	is           func(*run.Run) bool
	served, unit string // the rate at which they are served, and its unit in words
	column, head string // that of a sweep's points, and its heading
	latencies    []sweepFigure
}

type sweepFigure struct{ key, name, objective, unit string }

var (
	ttftFigure = sweepFigure{"ttft_ms", "TTFT", "ttft", "ms"}
	tpotFigure = sweepFigure{"tpot_ms", "TPOT", "tpot", "ms"}
	e2eFigure  = sweepFigure{"e2e_ms", "E2E", "e2e", "ms"}
	rtfFigure  = sweepFigure{"rtf", "RTF", "rtf", ""}
)

// words are answers of tokens, as most are.
var words = product{nil, "system_output_tps", "output tok/s", "system_output_tps", "out tok/s", []sweepFigure{ttftFigure, tpotFigure}}

// products are all others: sound, what was heard, pictures, and vectors or scores.
var products = []product{
	{(*run.Run).Speaks, "audio_s_per_s", "s of sound a second", "audio_s_per_s", "sound s/s", []sweepFigure{{"ttfa_ms", "TTFA", "ttfa", "ms"}, rtfFigure}},
	{(*run.Run).Hears, words.served, words.unit, "audio_s_per_s", "sound s/s", []sweepFigure{ttftFigure, rtfFigure}},
	{(*run.Run).Draws, "images_per_s", "pictures/s", "images_per_s", "pictures/s", []sweepFigure{{"ttfi_ms", "TTFI", "ttfi", "ms"}, e2eFigure}},
	{(*run.Run).Wordless, "inputs_per_s", "texts/s", "inputs_per_s", "texts/s", []sweepFigure{e2eFigure}},
}

// productOf is the first kind that holds.
func productOf(holds func(is func(*run.Run) bool) bool) *product {
	for i := range products {
		if holds(products[i].is) {
			return &products[i]
		}
	}
	return &words
}

// ofRun is what one run answered.
func ofRun(r *run.Run) *product {
	return productOf(func(is func(*run.Run) bool) bool { return is(r) })
}

// served is the rate at which a run was answered, its name and its unit in words: that of
// tokens where the rate of its own kind is not known.
func served(r *run.Run) (rate timeline.Opt[float64], name, unit string) {
	if p := ofRun(r); p.served != words.served && r.Throughput.Rate(p.served).OK() {
		return r.Throughput.Rate(p.served), p.served, p.unit
	}
	return view.OutputRate(r)
}
