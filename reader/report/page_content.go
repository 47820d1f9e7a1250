package report

import (
	"fmt"
	"strings"

	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
)

// content is the page of a run, from its body on.
func (p *page) content(m *markup) {
	m.put("<body>\n" + `<a class="skip" href="#how-long">to the charts</a>
<div class="page">
<nav aria-label="sections"><ol>
<li><a href="#verdict">Verdict</a></li>`)
	why := len(p.missed)+len(p.findings) > 0
	if why {
		m.put(`<li><a href="#why">Why</a></li>`)
	}
	m.put(`
<li><a href="#how-long">How long</a></li><li><a href="#when">When</a></li><li><a href="#requests">Requests</a></li>
<li><a href="#errors">Errors</a></li><li><a href="#trust">Trust</a></li><li><a href="#workload">Workload</a></li>
<li><a href="#definitions">Definitions</a></li><li><a href="#reproduce">Reproduce</a></li></ol></nav>
<main>
`)
	p.head(m)
	if why {
		m.put(`<section id="why"><h2>%s</h2>`+"\n", whyHead(p.View))
		if len(p.missed) > 0 {
			m.put(`<ul class="findings">`)
			m.findings(p.missed)
			m.put(`</ul>`)
		}
		m.put("\n")
		if len(p.findings) > 0 {
			m.put(`<p class="sub">Seen together with it: the records show what coincides, not why.</p><ol class="findings">`)
			m.findings(p.findings)
			m.put(`</ol>`)
		}
		m.put(`</section>`)
	}
	p.latencies(m)
	p.requests(m)
	p.failures(m)
	p.trust(m)
	p.end(m)
}

func (p *page) head(m *markup) {
	m.put(`<header id="verdict" class="verdict %s">
<p class="about"><bdi>%s</bdi>`, p.state, typeset.Short(p.run.Target.Model, 160))
	m.unlessEmpty(`<span>%s</span>`, when(p.run))
	m.put(`</p>
<h1><span class="sign" aria-hidden="true">%s</span> %s<span class="judged">%s</span><span class="size">%s</span></h1>
`, p.sign, p.Verdict, p.Judged, p.Size)
	m.unlessEmpty(`<p class="lead">%s</p>`, strings.Join(p.Sentences, " "))
	m.put("\n")
	m.stated(promises(p.View))
	m.stated(doubts(p.View))
	m.unlessEmpty(`<p class="next">%s</p>`, p.Offer)
	m.put("\n</header>\n" + `<div class="tiles">`)
	for _, t := range tiles(p.run, p.View) {
		m.put(`<a class="tile" href="%s"><span class="label">%s</span><span class="value">%s</span> <span class="unit">%s</span>`, t.Link, t.Label, t.Value, t.Unit)
		m.unlessEmpty(`<span class="tail">%s</span>`, t.Sub)
		if t.Sign != "" {
			m.put(`<span class="state %s">%s</span>`, t.State, t.Sign)
		}
		m.put(`</a>`)
	}
	m.put("</div>\n")
}

// promises are the objectives of a run, and what became of them.
func promises(v *view.View) (list []stated) {
	for _, o := range v.Objectives {
		class, sign := stateOf(o.State)
		list = append(list, stated{class, sign, o.Mark(), o.Text, o.Says})
	}
	return list
}

// doubts are the checks that do not hold.
func doubts(v *view.View) (list []stated) {
	for _, c := range v.Checks {
		class, sign := stateOf(c.Verdict)
		list = append(list, stated{class, sign, strings.ToUpper(c.Verdict), c.Name, c.Says})
	}
	return list
}

func (m *markup) findings(list []finding) {
	for _, f := range list {
		m.put(`<li>%s<span class="sub">`, f.Text)
		m.unlessEmpty(`%s `, f.Detail)
		m.unlessEmpty(`<a href="%s">show</a>`, f.Link)
		m.put(`</span></li>`)
	}
}

func (p *page) latencies(m *markup) {
	m.put(`
<section id="how-long"><h2>How long</h2>
<div class="scroll"><table class="main"><thead><tr><th scope="col"><span class="vh">latency</span></th>`)
	for _, i := range view.Shown {
		m.put(`<th scope="col">%s <span class="ci">[95 % CI]</span></th>`, view.Percentiles[i].Name)
	}
	m.put(`<th scope="col">n</th></tr></thead>` + "\n<tbody>")
	for _, r := range p.Rows {
		m.put(`<tr><th scope="row"><a href="#def-%s">%s</a> <span class="unit">%s</span></th>`, r.Key, r.Name, r.Unit)
		for _, c := range r.Cells {
			m.put(`<td><span`)
			m.unlessEmpty(` title="%s ms"`, c.Exact)
			m.put(`>%s</span>`, c.Value)
			m.unlessEmpty(` <span class="ci">%s</span>`, c.Extra())
			m.put(`</td>`)
		}
		m.put(`<td title="%s">%s</td></tr>`, typeset.Exact(r.ExactN), r.N)
	}
	m.put("</tbody></table></div>\n")
	m.each(`<p class="sub">%s</p>`, p.Notes)
	m.put("\n")
	m.facts(p.Facts)
	m.put("\n")
	m.unlessEmpty(`<p class="next"><b>next</b> %s</p>`, p.Next)
	m.put("\n" + `<div class="curves">`)
	m.figures(p.curves)
	m.put("</div>\n</section>\n")
}

func (p *page) requests(m *markup) {
	m.put(`<section id="when"><h2>When</h2>` + "\n")
	m.unlessEmpty(`<p class="empty">%s</p>`, p.noTimes)
	m.put("\n")
	m.figures(p.times)
	m.put("\n")
	switch broken := p.seen.Broken; {
	case broken == 1:
		m.put(`<p class="sub">1 record could not be read and is not drawn.</p>`)
	case broken > 1:
		m.put(`<p class="sub">Records that could not be read and are not drawn: %s.</p>`, fmt.Sprint(broken))
	}
	m.put("\n</section>\n" + `<section id="requests"><h2>Requests</h2>` + "\n")
	if p.seen.N > 0 {
		m.figure(chart.WorstFigure(p.seen))
		if len(p.seen.Failed) > 0 {
			m.figure(chart.FailedFigure(p.seen))
		}
	} else {
		m.put(`<p class="empty">%s</p>`, p.noTimes)
	}
	m.put("\n</section>\n")
}

func (p *page) failures(m *markup) {
	m.put(`<section id="errors"><h2>Errors by cause</h2>` + "\n")
	if f := p.Failure; f != nil && len(f.Classes) > 0 {
		m.unlessEmpty(`<p>First: <bdi class="quote">%s</bdi></p>`, f.First)
		m.put(`
<div class="scroll"><table class="words"><thead><tr><th scope="col">class</th><th scope="col">requests</th><th scope="col">share</th><th scope="col">what happened</th><th scope="col">often</th><th scope="col">what to do</th></tr></thead><tbody>
`)
		total := float64(max(p.run.Requests.OK+p.run.Requests.Failed, 1))
		for _, c := range f.Classes {
			a := metric.AdviceOn(c.Class)
			m.put(`<tr><th scope="row">%s</th><td>%s</td><td>%s</td><td class="text">%s</td><td class="text">%s</td><td class="text">%s</td></tr>`,
				string(c.Class), typeset.Exact(c.N), typeset.Percent(float64(c.N)/total), a.Means, a.Cause, a.Next)
		}
		m.put("</tbody></table></div>\n")
	} else if p.Failure != nil || p.run.Requests.Untold.Failed {
		m.put(`<p class="empty">What failed, and why, is not known.</p>`)
	} else {
		m.put(`<p class="empty">No measured request failed.</p>`)
	}
	m.put("\n</section>\n")
}

func (p *page) trust(m *markup) {
	m.put(`<section id="trust"><h2>Trust</h2>
<p>%s.</p>
`, p.Trust)
	if checks := p.run.Validity.Checks; len(checks) > 0 {
		m.put(`<ul class="checks">`)
		for _, c := range checks {
			class, sign := stateOf(c.Verdict)
			m.put(`<li class="%s"><span class="mark"><span aria-hidden="true">%s</span> %s</span> <b>%s</b> <span class="says">%s</span></li>`,
				class, sign, c.Verdict, c.Name, view.Sentence(c.Says))
		}
		m.put(`</ul>`)
	} else {
		m.put(`<p class="empty">No checks were made.</p>`)
	}
	m.put("\n")
	if len(p.Warnings) > 0 {
		m.put(`<ul class="warnings">`)
		m.each(`<li>%s</li>`, p.Warnings)
		m.put(`</ul>`)
	}
	m.put("\n</section>\n")
}

// end is what a reader looks up: the workload, the definitions and the command.
func (p *page) end(m *markup) {
	m.put(`<section id="workload"><h2>Workload and environment</h2>
<div class="two">`)
	for _, facts := range [][]view.Fact{workload(p.run), machine(p.run)} {
		m.put(`<div>`)
		m.facts(facts)
		m.put(`</div>`)
	}
	m.put(`</div>
</section>
<section id="definitions"><h2>Definitions</h2>
<dl class="terms">`)
	for _, d := range terms(p.run, p.Rows) {
		m.put(`<div id="def-%s"><dt>%s <code>%s</code>`, d.Name, d.Title, d.Name)
		m.unlessEmpty(` <span class="unit">%s</span>`, d.Unit)
		m.put(`</dt><dd>%s`, d.Formula)
		m.unlessEmpty(`<span class="sub">null: %s</span>`, d.Null)
		m.unlessEmpty(`<span class="sub">elsewhere: %s</span>`, d.Elsewhere)
		m.put(`</dd></div>`)
	}
	m.put(`</dl>
</section>
<section id="reproduce"><h2>Reproduce</h2>
`)
	if command := typeset.CommandLine(p.run.Command); command != "" {
		m.put(`<pre id="command"><code>%s</code></pre><button type="button" data-copy="command" hidden>copy</button>`, command)
	} else {
		m.put(`<p class="empty">The command is not known.</p>`)
	}
	m.put(`
<p class="sub">tokenmeter %s; every figure above is in run.json of the run's folder.</p>
</section>
</main>
</div>
`, p.run.Version)
}
