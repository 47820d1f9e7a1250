package report

import (
	"strings"

	"tokenmeter/reader/typeset"
)

// content is the page of a sweep, from its body on.
func (v *sweepView) content(m *markup) {
	charts, matrices, steps := v.figures(), v.matrices(), v.steps()
	m.put("<body>\n" + `<div class="page">
<nav aria-label="sections"><ol><li><a href="#verdict">Answer</a></li>`)
	for _, s := range []struct {
		there      bool
		id, titled string
	}{{v.method != nil, "method", "Method"}, {len(charts) > 0, "charts", "Curves"}, {true, "points", "Points"},
		{len(matrices) > 0, "grids", "Grids"}, {len(steps) > 0, "search", "Search"}} {
		if s.there {
			m.put(`<li><a href="#%s">%s</a></li>`, s.id, s.titled)
		}
	}
	m.put(`</ol></nav>
<main>
<header id="verdict" class="verdict %s">
<h1><span class="sign" aria-hidden="true">%s</span> %s</h1>
<p class="lead">%s</p>
`, v.state, signs[v.state], v.says, strings.Join(v.more, " "))
	if len(v.s.Objectives) > 0 {
		m.put(`<ul class="objectives">`)
		m.each(`<li class="none"><bdi>%s</bdi></li>`, v.s.Objectives)
		m.put(`</ul>`)
	}
	m.put("\n")
	m.facts(v.facts)
	m.put("\n</header>\n")
	if v.method != nil {
		m.method(v.method)
	}
	m.put("\n")
	if len(charts) > 0 {
		m.put(`<section id="charts"><h2>Curves</h2>` + "\n" + `<div class="curves">`)
		m.figures(charts)
		m.put("</div>\n</section>")
	}
	v.points(m)
	if len(matrices) > 0 {
		m.put(`<section id="grids"><h2>Grids</h2>` + "\n")
		for _, x := range matrices {
			m.put(`<figure><figcaption><strong>%s</strong><span class="sub">%s</span></figcaption>`, x.Title, x.Sub)
			m.table(x.Head, x.Rows)
			m.put("</figure>\n")
		}
		m.put(`</section>`)
	}
	m.put("\n")
	if len(steps) > 0 {
		m.put(`<section id="search"><h2>Search</h2>
<div class="scroll"><table><thead><tr><th scope="col">load</th><th scope="col">says</th><th scope="col">good</th><th scope="col">requests</th><th scope="col" class="text">why</th></tr></thead><tbody>`)
		for _, step := range steps {
			why := len(step) - 1
			m.put(`<tr>`)
			m.cells(step[:why])
			m.put(`<td class="text">%s</td></tr>`, step[why])
		}
		m.put("</tbody></table></div>\n</section>")
	}
	m.put("\n")
	m.unlessEmpty(`<section id="reproduce"><h2>Reproduce</h2><pre><code>%s</code></pre></section>`, typeset.CommandLine(v.s.Command))
	m.put("\n</main>\n</div>\n")
}

func (m *markup) method(v *methodView) {
	m.put(`<section id="method"><h2>%s</h2>
<p class="lead">%s</p>
`, v.Title, v.Says)
	if len(v.Why) > 0 {
		m.put(`<ul>`)
		m.each(`<li>%s</li>`, v.Why)
		m.put(`</ul>`)
	}
	m.put("\n")
	if len(v.Fields) > 0 {
		m.table([]string{"figure", "value", "note"}, v.Fields)
	}
	m.put("\n")
	if len(v.Rows) > 0 {
		m.table(v.Heads, v.Rows)
	}
	m.put("\n"+`<details class="data"><summary>rules that were followed (%s)</summary><ul>`, v.AsOf)
	m.each(`<li>%s</li>`, v.Rules)
	m.put("</ul></details>\n</section>")
}

func (v *sweepView) points(m *markup) {
	m.put("\n" + `<section id="points"><h2>Points</h2>` + "\n")
	if len(v.rows) == 0 {
		m.put(`<p class="empty">Nothing was measured.</p>` + "\n</section>\n")
		return
	}
	m.put(`<div class="scroll"><table><thead><tr>`)
	m.each(`<th scope="col">%s</th>`, v.heads)
	m.put(`<th scope="col">trust</th><th scope="col">run</th></tr></thead><tbody>`)
	for i, r := range v.rows {
		m.put(`<tr>`)
		m.cells(r.cells)
		m.put(`<td class="%s"><b class="trustsign">%s</b></td><td><bdi>%s</bdi></td></tr>`, r.class, r.mark(true), v.s.Points[i].Run)
	}
	m.put(`</tbody></table></div>
<p class="sub">● valid, ▲ suspect, ■ invalid (× in the curves), ○ not measured, ✗ an objective was missed, * on the Pareto front. Measured points only; nothing is interpolated.`)
	m.each(` %s`, v.notes)
	m.put("</p>\n</section>\n")
}
