package report

import (
	"strings"

	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/report/view"
)

// markup is the content of a page as it is written. Literals of the source are
// markup; whatever else goes in is text, and is escaped. It stands in the place of
// html/template, which calls methods by their names: with it in the binary no
// exported method of any package can be left out.
type markup struct{ strings.Builder }

// put writes a form whose every %s takes the next text.
func (m *markup) put(form string, texts ...string) {
	for _, text := range texts {
		before, after, _ := strings.Cut(form, "%s")
		m.WriteString(before)
		m.WriteString(chart.Escape(text))
		form = after
	}
	m.WriteString(form)
}

// unlessEmpty writes a form of one text, and nothing where there is no text.
func (m *markup) unlessEmpty(form, text string) {
	if text != "" {
		m.put(form, text)
	}
}

// each writes a form of one text for every text.
func (m *markup) each(form string, texts []string) {
	for _, text := range texts {
		m.put(form, text)
	}
}

// cells writes the cells of a row, the first one as its head.
func (m *markup) cells(row []string) {
	for i, cell := range row {
		if i == 0 {
			m.put(`<th scope="row">%s</th>`, cell)
		} else {
			m.put(`<td>%s</td>`, cell)
		}
	}
}

// table writes a table that scrolls by itself where it is too wide.
func (m *markup) table(head []string, rows [][]string) {
	m.put(`<div class="scroll"><table><thead><tr>`)
	m.each(`<th scope="col">%s</th>`, head)
	m.put(`</tr></thead><tbody>`)
	for _, row := range rows {
		m.put(`<tr>`)
		m.cells(row)
		m.put(`</tr>`)
	}
	m.put(`</tbody></table></div>`)
}

// figure writes a chart with its words and the table of its values.
func (m *markup) figure(f chart.Figure) {
	m.put(`<figure id="%s"><figcaption><strong>%s</strong>`, f.ID, f.Title)
	m.unlessEmpty(`<span class="sub">%s</span>`, f.Sub)
	m.put(`</figcaption>`)
	if f.Empty != "" {
		m.put(`<p class="empty">%s</p>`, f.Empty)
	} else {
		m.WriteString(string(f.Chart))
		if len(f.Keys) > 0 {
			m.put(`<ul class="keys">`)
			for _, k := range f.Keys {
				m.put(`<li>`)
				m.unlessEmpty(`<i class="%s"></i>`, k.Class)
				m.put(`%s</li>`, k.Text)
			}
			m.put(`</ul>`)
		}
	}
	if len(f.Links) > 0 {
		m.put(`<ul class="keys">`)
		for _, l := range f.Links {
			m.put(`<li><a href="%s">%s</a></li>`, l.Href, l.Text)
		}
		m.put(`</ul>`)
	}
	if t := f.Table; t != nil {
		m.put(`<details class="data"><summary>table</summary>`)
		m.table(t.Head, t.Rows)
		m.unlessEmpty(`<p class="sub">%s</p>`, t.Note)
		m.put(`</details>`)
	}
	m.put("</figure>\n")
}

func (m *markup) figures(list []chart.Figure) {
	for _, f := range list {
		m.figure(f)
	}
}

// facts writes labels and what stands behind them.
func (m *markup) facts(list []view.Fact) {
	m.put(`<dl class="facts">`)
	m.factRows(list)
	m.put(`</dl>`)
}

func (m *markup) factRows(list []view.Fact) {
	for _, f := range list {
		m.put(`<div><dt>%s</dt><dd><bdi>%s</bdi></dd></div>`, f.Label, f.Text)
	}
}

// stated writes what was promised, or checked, and what became of it.
func (m *markup) stated(list []stated) {
	if len(list) > 0 {
		m.put(`<ul class="objectives">`)
		for _, o := range list {
			m.put(`<li class="%s"><b><span aria-hidden="true">%s</span> %s</b> <bdi>%s</bdi>: %s</li>`, o.class, o.sign, o.mark, o.text, o.says)
		}
		m.put(`</ul>`)
	}
	m.put("\n")
}
