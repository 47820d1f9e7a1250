package view

import (
	"fmt"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
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
	add("template", templateWords(r))
}

func checkWords(c *metric.Checks) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s right%s, %s of %s", typeset.Percent(c.Rate.Or(0)), shareInterval(c.CI95, c.Passed, c.N), typeset.Exact(c.Passed), typeset.Exact(c.N))
}

// shareInterval is the interval of good of all, and what it takes for granted where
// all but one at most are alike: nothing was seen of whether the others come in bursts.
func shareInterval(ci *[2]float64, good, all int64) string {
	text := typeset.ShareInterval(ci)
	switch {
	case ci == nil:
	case all-good <= 1:
		text += " if bad ones come one by one"
	case good <= 1:
		text += " if good ones come one by one"
	}
	return text
}

func taskWords(t *metric.Tasks) string {
	if t == nil {
		return ""
	}
	within := ""
	if s, ok := t.DeadlineS.Get(); ok {
		within = " within " + typeset.Span(s*1e3, typeset.Digits{Round: true})
	}
	share, ok := t.Success.Get()
	if !ok {
		return fmt.Sprintf("%s begun, none ended", typeset.Exact(t.Total))
	}
	text := fmt.Sprintf("%s done%s%s, %s of %s", typeset.Percent(share), within, shareInterval(t.CI95, t.InTime, t.OK+t.Failed), typeset.Exact(t.InTime), typeset.Exact(t.OK+t.Failed))
	if p50, ok := t.Duration.P50.Get(); ok {
		text += fmt.Sprintf("; p50 %s", typeset.Span(p50, typeset.Digits{Round: true}))
		if model, ok := t.Model.P50.Get(); ok {
			text += fmt.Sprintf(", of which %s at the model", typeset.Span(model, typeset.Digits{Round: true}))
		}
		if s := t.Shares; s != nil {
			text += fmt.Sprintf(" (first tokens %s, reasoning %s, decode %s, tools %s of all time)", typeset.Percent(s.TTFT), typeset.Percent(s.Reasoning), typeset.Percent(s.Decode), typeset.Percent(s.Tool))
		}
	}
	if t.Cancelled > 0 {
		text += fmt.Sprintf("; %s cut off by the end", typeset.Exact(t.Cancelled))
	}
	return text
}

func mediaWords(m *metric.Media) string {
	if m == nil {
		return ""
	}
	text := fmt.Sprintf("%s segments of %s", typeset.Exact(m.N), typeset.Span(m.SegmentS*1e3, typeset.Digits{Round: true}))
	if x, ok := m.Factor.P50.Get(); ok {
		text += fmt.Sprintf(", real-time factor p50 %s, p95 %s", typeset.Digits{}.Value(x), typeset.Digits{}.Value(m.Factor.P95.Or(x)))
	}
	if x, ok := m.InTime.Get(); ok {
		text += fmt.Sprintf(", %s answered before the next one ended", typeset.Percent(x))
	}
	return text + fmt.Sprintf(", at most %s behind", typeset.Exact(m.MaxBacklog))
}

// readerWords says how much of their time readers wait.
func readerWords(all []metric.Reader) string {
	var parts []string
	for _, x := range all {
		mean, ok := x.Waiting.Mean.Get()
		if !ok {
			continue
		}
		parts = append(parts, fmt.Sprintf("at %s tok/s %s of the time, %s never", typeset.Digits{}.Value(x.TPS), typeset.Percent(mean), typeset.Percent(x.Smooth.Or(0))))
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
	parts := []string{fmt.Sprintf("%s: %s", c.Name, typeset.Plural(c.Requests, "request"))}
	if c.Failed > 0 {
		parts = append(parts, typeset.Exact(c.Failed)+" failed")
	}
	for _, m := range []struct{ name, label string }{{"ttft_ms", "TTFT"}, {"tpot_ms", "TPOT"}, {"e2e_ms", "E2E"}} {
		d := c.Metrics[m.name]
		if p50, ok := d.P50.Get(); ok {
			parts = append(parts, fmt.Sprintf("%s p50 %s p95 %s", m.label, typeset.Span(p50, typeset.Digits{Round: true}), typeset.Span(d.P95.Or(p50), typeset.Digits{Round: true})))
		}
	}
	if c.Checks != nil {
		parts = append(parts, checkWords(c.Checks))
	}
	return strings.Join(parts, ", ")
}

// templateWords says what the server's chat template adds, where that is known
// and not nothing.
func templateWords(r *run.Run) string {
	w, to := &r.Workload, "request"
	if r.Wordless() {
		to = "text"
	}
	overhead, ok := w.TemplateOverhead.Get()
	if !ok || overhead < 0.5 {
		return ""
	}
	if w.TemplateCompensated {
		return fmt.Sprintf("adds %s tokens to each %s; prompts were made shorter by them", typeset.Digits{}.Value(overhead), to)
	}
	return fmt.Sprintf("adds %s tokens to each %s, beside our own %s", typeset.Digits{}.Value(overhead), to, typeset.Digits{}.Value(w.UserInput.Or(0)))
}
