package slo

import (
	"fmt"
	"strconv"
	"strings"

	"tokenmeter/base/pattern"
	"tokenmeter/record/objective"
)

// Figure is what a slice of time is judged by: a quotient of two sums over the
// slice, against a limit.
type Figure struct {
	Name  string // system_output_tps, usd_per_1k_output, …
	Op    string // <, <=, >, >=
	Limit float64
	text  string
}

// PerSecond figures are sums over the length of the slice; of the others both
// sums are counted.
func (f *Figure) PerSecond() bool { return figures[f.Name].perSecond }

// OfGPUs reports whether the figure is of readings, not of requests.
func (f *Figure) OfGPUs() bool { return f.Name == "gpu_utilization" }

// impossible says why a limit can never be kept, or is none; "" when it can.
func (f *Figure) impossible() string {
	isShare := strings.HasSuffix(f.text, "%")
	switch {
	case f.OfGPUs() && (f.Limit > 1 || f.Limit == 1 && f.Op == ">"):
		if isShare || f.Limit == 1 {
			return "a GPU is busy for 100 % at most"
		}
		return fmt.Sprintf("%s is a share: write %s%%, or %s", f.Name, number(f.Limit), number(f.Limit/100))
	case isShare && !f.OfGPUs():
		return fmt.Sprintf("%s is no share; leave out the %%", f.Name)
	case f.Op == "<" && f.Limit == 0:
		return "nothing is below 0, so this can never be met"
	}
	return ""
}

// PerDollar figures are what was got for the money.
func (f *Figure) PerDollar() bool { return figures[f.Name].under == "dollars" }

// OfDollars reports whether the figure needs to know what things cost.
func (f *Figure) OfDollars() bool {
	return figures[f.Name].over == "dollars" || f.PerDollar()
}

// Holds reports whether a slice keeps the limit.
func (f *Figure) Holds(v float64) bool {
	return objective.Objective{Op: f.Op, Limit: f.Limit}.Holds(v)
}

// figure is a line of the table of figures: what is summed above and below the
// line, and how the quotient becomes the figure.
type figure struct {
	over, under string
	perSecond   bool // under is the length of the slice
	times       float64
	own         bool // objective does not know it
}

var figures = map[string]figure{
	"system_output_tps": {over: "output tokens", perSecond: true, times: 1},
	"delivered_tps":     {over: "streamed tokens", perSecond: true, times: 1},
	"system_input_tps":  {over: "input tokens", perSecond: true, times: 1},
	"requests_per_s":    {over: "requests", perSecond: true, times: 1},
	"inputs_per_s":      {over: "texts", perSecond: true, times: 1},
	"chars_per_s":       {over: "characters", perSecond: true, times: 1},
	"audio_s_per_s":     {over: "seconds of sound", perSecond: true, times: 1},
	"images_per_s":      {over: "pictures", perSecond: true, times: 1},
	"goodput_per_s":     {over: "good requests", perSecond: true, times: 1},
	"usd_per_1k_output": {over: "dollars", under: "output tokens", times: 1e3},
	"usd_per_m_output":  {over: "dollars", under: "output tokens", times: 1e6},
	"usd_per_m_total":   {over: "dollars", under: "tokens", times: 1e6},
	"usd_per_request":   {over: "dollars", under: "requests", times: 1},
	"requests_per_usd":  {over: "requests", under: "dollars", times: 1, own: true},
	"qps_per_usd":       {over: "requests", under: "dollars", times: 1. / 3600, own: true},
	"gpu_utilization":   {over: "sum of readings", under: "readings", times: 1, own: true},
}

var ownFigure = pattern.Lazy(`^(?:mean\s+)?(requests_per_usd|qps_per_usd|gpu_utili[sz]ation)\s*(<=|>=|<|>)\s*\$?([0-9]*\.?[0-9]+)\s*(%|/\$|/h)?$`)

// parseFigure reads an objective on a figure of a slice; ok is false when the
// text is about something else.
func parseFigure(text string) (f *Figure, ok bool) {
	m := ownFigure().FindStringSubmatch(strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(text, "gpu util", "gpu_util")), " ")))
	if m == nil {
		return nil, false
	}
	f = &Figure{Name: strings.Replace(m[1], "utilisation", "utilization", 1), Op: m[2]}
	f.Limit, _ = strconv.ParseFloat(m[3], 64)
	written := m[3]
	if m[4] == "%" {
		f.Limit = decimal(f.Limit / 100)
		written += "%"
	}
	f.text = fmt.Sprintf("%s %s %s", f.Name, f.Op, written)
	return f, true
}

// figureOf is the figure of a parsed objective about the whole system.
func figureOf(o objective.Objective) (*Figure, bool) {
	if line, known := figures[o.Metric]; !known || line.own {
		return nil, false
	}
	return &Figure{Name: o.Metric, Op: o.Op, Limit: o.Limit, text: o.Text}, true
}
