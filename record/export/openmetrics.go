//go:build !lean

package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// writeOpenMetrics writes a run's summary as text in OpenMetrics 1.0, for a textfile
// collector or a push: quantiles of the whole run, and its rates. What was not
// measured is left out.
func writeOpenMetrics(w io.Writer, f *run.Folder) error {
	sum, err := run.Summarise(f)
	if err != nil {
		return err
	}
	p := page{out: bufio.NewWriter(w), labels: fmt.Sprintf(`run="%s",model="%s"`, label(sum.Name), label(sum.Target.Model))}
	for _, name := range slices.Sorted(maps.Keys(sum.Metrics)) {
		p.summary(name, sum.Metrics[name])
	}
	t := &sum.Throughput
	p.gauge("window_seconds", "seconds", t.WindowS)
	p.gauge("output_tokens_per_second", "", t.SystemOutputTPS)
	p.gauge("input_tokens_per_second", "", t.SystemInputTPS)
	p.gauge("requests_per_second", "", t.RequestsPerS)
	p.gauge("inputs_per_second", "", t.InputsPerS)
	p.gauge("characters_per_second", "", t.CharsPerS)
	p.gauge("audio_seconds_per_second", "", t.AudioPerS)
	p.gauge("images_per_second", "", t.ImagesPerS)
	if sum.Goodput != nil {
		p.gauge("good_ratio", "ratio", sum.Goodput.Fraction)
	}
	p.family("requests", "gauge", "")
	for _, outcome := range slices.Sorted(maps.Keys(sum.Requests.ByClass)) {
		p.sample("requests", `outcome="`+label(string(outcome))+`"`, float64(sum.Requests.ByClass[outcome]))
	}
	p.out.WriteString("# EOF\n")
	return p.out.Flush()
}

// page is a text of metrics that all have the run's labels.
type page struct {
	out    *bufio.Writer
	labels string
}

func (p *page) family(name, kind, unit string) {
	fmt.Fprintf(p.out, "# TYPE tokenmeter_run_%s %s\n", name, kind)
	if unit != "" {
		fmt.Fprintf(p.out, "# UNIT tokenmeter_run_%s %s\n", name, unit)
	}
}

func (p *page) sample(name, more string, v float64) {
	if more != "" {
		more = "," + more
	}
	fmt.Fprintf(p.out, "tokenmeter_run_%s{%s%s} %s\n", name, p.labels, more, strconv.FormatFloat(v, 'g', -1, 64))
}

func (p *page) gauge(name, unit string, v timeline.Opt[float64]) {
	if x, ok := v.Get(); ok {
		p.family(name, "gauge", unit)
		p.sample(name, "", x)
	}
}

// summary writes the quantiles of one metric, in seconds where it is a time.
func (p *page) summary(name string, d metric.Dist) {
	mean, ok := d.Mean.Get()
	if !ok {
		return
	}
	scale, unit := 1.0, ""
	if plain, isTime := strings.CutSuffix(name, "_ms"); isTime {
		name, unit, scale = plain+"_seconds", "seconds", 1e-3
	} else if plain, isRate := strings.CutSuffix(name, "_tps"); isRate {
		name = plain + "_tokens_per_second"
	}
	p.family(name, "summary", unit)
	for _, q := range []struct {
		p string
		v timeline.Opt[float64]
	}{{"0.5", d.P50}, {"0.9", d.P90}, {"0.95", d.P95}, {"0.99", d.P99}, {"0.999", d.P999}} {
		if v, ok := q.v.Get(); ok {
			p.sample(name, `quantile="`+q.p+`"`, v*scale)
		}
	}
	if d.N == 0 {
		return // of another tool's file that does not say how many values there were
	}
	p.sample(name+"_count", "", float64(d.N))
	p.sample(name+"_sum", "", mean*float64(d.N)*scale)
}

// label makes a text fit to stand between the quotes of a label.
func label(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(printable.Text(text))
}
