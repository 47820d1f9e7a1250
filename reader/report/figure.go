package report

import "html/template"

// figure is a chart with its words and the table of its values.
type figure struct {
	ID    string
	Title string // what it shows, as a finding
	Sub   string // what is drawn, and of how many
	Empty string // in place of a chart that cannot be drawn
	Chart template.HTML
	Keys  []key // what the marks mean, where labels on the lines cannot say it
	Table *dataTable
}

// key is a mark and its meaning.
type key struct{ Class, Text string }

// dataTable is a chart's values for who reads rather than looks.
type dataTable struct {
	Head []string
	Rows [][]string
	Note string
}

// rowsMax bounds a chart's table.
const rowsMax = 60

// chart trusts the markup of a plot: it is made here, with every foreign text
// escaped.
func chart(p *plot, sentence string) template.HTML { return template.HTML(p.render(sentence)) }
