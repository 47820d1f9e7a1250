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

// HTML gives a plot as HTML: one image for who cannot see it, with a sentence.
func HTML(p *Plot, sentence string) Markup {
	var s SVG
	h := Coordinate(p.Height)
	class := "chart"
	if p.wide {
		class += " wide"
	}
	s.Put(`<div class="%s" role="img" aria-label="%s">`, class, Escape(sentence))
	s.Put(`<svg class="ya" height="%s" aria-hidden="true" focusable="false">%s</svg>`, h, p.labels.String())
	s.Put(`<svg class="pa" height="%s" aria-hidden="true" focusable="false">%s`, h, p.Back.String())
	if p.Field.Len() > 0 {
		s.Put(`<svg x="0" y="%s" width="100%%" height="%s" viewBox="0 0 1000 1000" preserveAspectRatio="none">%s</svg>`,
			Coordinate(p.top), Coordinate(p.Height-p.top-p.Bottom), p.Field.String())
	}
	s.Put(`%s</svg></div>`, p.Front.String())
	return Markup(s.String())
}
