package chart

// Figure is a chart with its words and the table of its values.
type Figure struct {
	ID    string
	Title string // what it shows, as a finding
	Sub   string // what is drawn, and of how many
	Empty string // in place of a chart that cannot be drawn
	Chart Markup
	Keys  []Key // what the marks mean, where labels on the lines cannot say it
	Links []Link
	Table *Table
}

// Link leads from a chart to a file.
type Link struct{ Href, Text string }

// Key is a mark and its meaning.
type Key struct{ Class, Text string }

// Table is a chart's values for who reads rather than looks.
type Table struct {
	Head []string
	Rows [][]string
	Note string
}

// rowsMax bounds a chart's table.
const rowsMax = 60

// Markup is markup that was made here, with every foreign text escaped: it goes
// into a page as it is.
type Markup string

// HTML trusts the markup of a plot: it is made here, with every foreign text
// escaped.
func HTML(p *Plot, sentence string) Markup { return Markup(p.render(sentence)) }
