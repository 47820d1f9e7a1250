package report

import (
	"tokenmeter/reader/compare"
	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
)

// content is the page of a comparison, from its body on.
func (c *versus) content(m *markup, r *compare.Result) {
	var curves []chart.Figure
	for i, curve := range r.Curves() {
		curves = append(curves, compareFigures(i, &curve)...)
	}
	m.put("<body>\n" + `<div class="page">
<nav aria-label="sections"><ol><li><a href="#verdict">Verdict</a></li><li><a href="#figures">Figures</a></li>`)
	if len(curves) > 0 {
		m.put(`<li><a href="#charts">Percentiles</a></li>`)
	}
	m.put(`</ol></nav>
<main>
<header id="verdict" class="verdict %s">
<h1><span class="sign" aria-hidden="true">%s</span> %s</h1>
<p class="lead">%s</p>
`, c.state, signs[c.state], c.verdict, c.says)
	var gates []stated
	for _, g := range c.gates {
		class, sign := stateOf(g.state)
		if g.state == view.Open {
			class, sign = "suspect", signs["suspect"]
		}
		gates = append(gates, stated{class, sign, g.mark, g.text, g.says})
	}
	m.stated(gates)
	m.put(`<dl class="facts">`)
	m.factRows(c.sides)
	m.put(`<div><dt>comparable</dt><dd>%s</dd></div></dl>`+"\n", c.comparable)
	if len(c.reasons) > 0 {
		m.put(`<ul class="reasons">`)
		for _, why := range c.reasons {
			class := "none"
			switch why.Level {
			case compare.Refuse:
				class = "bad"
			case compare.Warn:
				class = "suspect"
			}
			m.put(`<li class="%s"><b><span aria-hidden="true">%s</span> %s</b> %s</li>`, class, signs[class], string(why.Level), why.Says)
		}
		m.put(`</ul>`)
	}
	m.put("\n</header>\n" + `<section id="figures"><h2>Figures</h2>` + "\n")
	if c.pareto != nil {
		m.table(c.pareto.heads, c.pareto.rows)
	}
	m.put("\n")
	for i := range c.tables {
		m.versus(&c.tables[i], r.Verdict == compare.NotComparable)
	}
	m.each(`<p class="sub">%s</p>`+"\n", c.notes)
	m.put("</section>\n")
	if len(curves) > 0 {
		m.put(`<section id="charts"><h2>Percentiles</h2>` + "\n" + `<div class="curves">`)
		m.figures(curves)
		m.put("</div>\n</section>")
	}
	m.put("\n</main>\n</div>\n")
}

// versus writes the figures of two sides, in grey where they can't be compared.
func (m *markup) versus(t *compareTable, grey bool) {
	end := typeset.AxisNumber(t.scale) + " %"
	m.unlessEmpty(`<h3>%s</h3>`, t.title)
	m.put("\n" + `<div class="scroll`)
	if grey {
		m.put(` grey`)
	}
	m.put(`"><table class="versus"><thead><tr><th scope="col"><span class="vh">figure</span></th><th scope="col">%s</th><th scope="col">%s</th><th scope="col">difference <span class="ci">[95 % CI]</span></th><th scope="col" class="bars"><span class="ci">%s</span></th><th scope="col">verdict</th></tr></thead>
<tbody>`, t.a, t.b, "−"+end+" … +"+end)
	for _, r := range t.rows {
		m.put(`<tr class="%s" title="%s"><th scope="row">%s <span class="unit">%s</span></th><td>%s</td><td>%s</td><td>%s</td><td class="bars">`,
			r.state, r.tip, r.name, r.unit, r.a, r.b, r.diff)
		m.WriteString(barPicture(r.bar, t.scale, r.diff))
		m.put(`</td><td class="word"><b>%s</b>`, r.verdict)
		m.unlessEmpty(`<small>%s</small>`, r.why)
		m.put("</td></tr>\n")
	}
	m.put("</tbody></table></div>\n")
}
