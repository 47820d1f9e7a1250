package report

// content is the page of a comparison, from its body on.
func (p *comparePage) content(m *markup) {
	m.put("<body>\n" + `<div class="page">
<nav aria-label="sections"><ol><li><a href="#verdict">Verdict</a></li><li><a href="#figures">Figures</a></li>`)
	if len(p.Curves) > 0 {
		m.put(`<li><a href="#charts">Percentiles</a></li>`)
	}
	m.put(`</ol></nav>
<main>
<header id="verdict" class="verdict %s">
<h1><span class="sign" aria-hidden="true">%s</span> %s</h1>
<p class="lead">%s</p>
`, p.State, p.Sign, p.Verdict, p.Says)
	m.objectives(p.Gates)
	m.put(`<dl class="facts">`)
	m.factRows(p.Sides)
	m.put(`<div><dt>comparable</dt><dd>%s</dd></div></dl>`+"\n", p.Comparable)
	if len(p.Reasons) > 0 {
		m.put(`<ul class="reasons">`)
		for _, r := range p.Reasons {
			m.put(`<li class="%s"><b><span aria-hidden="true">%s</span> %s</b> %s</li>`, r.State, r.Sign, r.Level, r.Says)
		}
		m.put(`</ul>`)
	}
	m.put("\n</header>\n" + `<section id="figures"><h2>Figures</h2>` + "\n")
	if p.Pareto != nil {
		m.table(p.Pareto.Head, p.Pareto.Rows)
	}
	m.put("\n")
	for i := range p.Tables {
		m.versus(&p.Tables[i], p.Grey)
	}
	m.each(`<p class="sub">%s</p>`+"\n", p.Notes)
	m.put("</section>\n")
	if len(p.Curves) > 0 {
		m.put(`<section id="charts"><h2>Percentiles</h2>` + "\n" + `<div class="curves">`)
		m.figures(p.Curves)
		m.put("</div>\n</section>")
	}
	m.put("\n</main>\n</div>\n")
}

// versus writes the figures of two sides.
func (m *markup) versus(t *comparePageTable, grey bool) {
	m.unlessEmpty(`<h3>%s</h3>`, t.Title)
	m.put("\n" + `<div class="scroll`)
	if grey {
		m.put(` grey`)
	}
	m.put(`"><table class="versus"><thead><tr><th scope="col"><span class="vh">figure</span></th><th scope="col">%s</th><th scope="col">%s</th><th scope="col">difference <span class="ci">[95 % CI]</span></th><th scope="col" class="bars"><span class="ci">%s</span></th><th scope="col">verdict</th></tr></thead>
<tbody>`, t.A, t.B, t.Ends)
	for _, r := range t.Rows {
		m.put(`<tr class="%s" title="%s"><th scope="row">%s <span class="unit">%s</span></th><td>%s</td><td>%s</td><td>%s</td><td class="bars">`,
			r.State, r.Tip, r.Name, r.Unit, r.A, r.B, r.Diff)
		m.WriteString(string(r.Bar))
		m.put(`</td><td class="word"><b>%s</b>`, r.Verdict)
		m.unlessEmpty(`<small>%s</small>`, r.Why)
		m.put("</td></tr>\n")
	}
	m.put("</tbody></table></div>\n")
}
