package report

import (
	"fmt"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// itemFacts are the lines about what requests belong to: checks, tasks, media
// and the classes of a mix.
func itemFacts(r *run.Run, add func(label, text string)) {
	add("checks", checkWords(r.Checks))
	add("tasks", taskWords(r.Tasks))
	add("media", mediaWords(r.Media))
	add("readers", readerWords(r.Readers))
	for i := range r.Classes {
		add("class", classWords(&r.Classes[i]))
	}
	add("template", templateWords(&r.Workload))
}

func interval(ci *[2]float64) string {
	if ci == nil {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", bare(percent(ci[0])), bare(percent(ci[1])))
}

func checkWords(c *metric.Checks) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s right%s, %s of %s", percent(c.Rate.Or(0)), interval(c.CI95), exact(c.Passed), exact(c.N))
}

func taskWords(t *metric.Tasks) string {
	if t == nil {
		return ""
	}
	within := ""
	if s, ok := t.DeadlineS.Get(); ok {
		within = " within " + span(s*1e3, digits{round: true})
	}
	share, ok := t.Success.Get()
	if !ok {
		return fmt.Sprintf("%s begun, none ended", exact(t.Total))
	}
	text := fmt.Sprintf("%s done%s%s, %s of %s", percent(share), within, interval(t.CI95), exact(t.InTime), exact(t.OK+t.Failed))
	if p50, ok := t.Duration.P50.Get(); ok {
		text += fmt.Sprintf("; p50 %s", span(p50, digits{round: true}))
		if model, ok := t.Model.P50.Get(); ok {
			text += fmt.Sprintf(", of which %s at the model", span(model, digits{round: true}))
		}
		if s := t.Shares; s != nil {
			text += fmt.Sprintf(" (first tokens %s, reasoning %s, decode %s, tools %s of all time)", percent(s.TTFT), percent(s.Reasoning), percent(s.Decode), percent(s.Tool))
		}
	}
	if t.Cancelled > 0 {
		text += fmt.Sprintf("; %s cut off by the end", exact(t.Cancelled))
	}
	return text
}

func mediaWords(m *metric.Media) string {
	if m == nil {
		return ""
	}
	text := fmt.Sprintf("%s segments of %s", exact(m.N), span(m.SegmentS*1e3, digits{round: true}))
	if x, ok := m.Factor.P50.Get(); ok {
		text += fmt.Sprintf(", real-time factor p50 %s, p95 %s", digits{}.value(x), digits{}.value(m.Factor.P95.Or(x)))
	}
	if x, ok := m.InTime.Get(); ok {
		text += fmt.Sprintf(", %s answered before the next one ended", percent(x))
	}
	return text + fmt.Sprintf(", at most %s behind", exact(m.MaxBacklog))
}

// readerWords says how much of their time readers wait.
func readerWords(all []metric.Reader) string {
	var parts []string
	for _, x := range all {
		mean, ok := x.Waiting.Mean.Get()
		if !ok {
			continue
		}
		parts = append(parts, fmt.Sprintf("at %s tok/s %s of the time, %s never", digits{}.value(x.TPS), percent(mean), percent(x.Smooth.Or(0))))
	}
	switch {
	case len(all) == 0:
		return ""
	case parts == nil:
		return "not known: no stream tells a pace"
	}
	return "wait " + strings.Join(parts, "; ")
}

func classWords(c *metric.ClassSummary) string {
	parts := []string{fmt.Sprintf("%s: %s", c.Name, plural(c.Requests, "request"))}
	if c.Failed > 0 {
		parts = append(parts, exact(c.Failed)+" failed")
	}
	for _, m := range []struct{ name, label string }{{"ttft_ms", "TTFT"}, {"tpot_ms", "TPOT"}, {"e2e_ms", "E2E"}} {
		d := c.Metrics[m.name]
		if p50, ok := d.P50.Get(); ok {
			parts = append(parts, fmt.Sprintf("%s p50 %s p95 %s", m.label, span(p50, digits{round: true}), span(d.P95.Or(p50), digits{round: true})))
		}
	}
	if c.Checks != nil {
		parts = append(parts, checkWords(c.Checks))
	}
	return strings.Join(parts, ", ")
}

// templateWords says what the server's chat template adds, where that is known
// and not nothing.
func templateWords(w *run.Workload) string {
	overhead, ok := w.TemplateOverhead.Get()
	if !ok || overhead < 0.5 {
		return ""
	}
	if w.TemplateCompensated {
		return fmt.Sprintf("adds %s tokens to each request; prompts were made shorter by them", digits{}.value(overhead))
	}
	return fmt.Sprintf("adds %s tokens to each request, beside our own %s", digits{}.value(overhead), digits{}.value(w.UserInput.Or(0)))
}

// csvItems are the same as lines of CSV.
func (c *csvTable) items(r *run.Run) {
	if k := r.Checks; k != nil {
		c.value("checks", "rate", k.Rate, k.N, k.CI95)
	}
	if t := r.Tasks; t != nil {
		c.value("tasks", "success", t.Success, t.OK+t.Failed, t.CI95)
		c.value("tasks", "duration_ms p50", t.Duration.P50, t.Duration.N, nil)
		c.value("tasks", "model_ms p50", t.Model.P50, t.Model.N, nil)
	}
	if m := r.Media; m != nil {
		c.value("media", "real_time_factor p50", m.Factor.P50, m.Factor.N, nil)
		c.value("media", "in_time", m.InTime, m.N, nil)
		c.value("media", "max_backlog", timeline.Some(float64(m.MaxBacklog)), m.N, nil)
	}
	for _, k := range r.Classes {
		for _, name := range []string{"ttft_ms", "tpot_ms", "e2e_ms"} {
			d := k.Metrics[name]
			c.value(k.Name, name+" p50", d.P50, d.N, nil)
			c.value(k.Name, name+" p95", d.P95, d.N, nil)
		}
	}
}
