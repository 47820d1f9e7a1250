package report

import (
	"slices"
	"tokenmeter/reader/report/chart"
	"tokenmeter/reader/typeset"
)

// box is a part of a plot in pixels.
type box struct{ left, right, top, bottom float64 }

func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// A plot is at least so wide; in a wider one things lie only further apart. A letter is
// about so wide, a mark reaches so far from its point.
const leastWidth, letterWidth, markReach = 300.0, 8.0, 6.0

// labelPlaces are where the label of a point may stand, the best place first: the anchor
// of its text, and how far that is from the point.
var labelPlaces = []struct {
	anchor string
	dx, dy float64
}{{"e", -8, 4}, {"s", 8, 4}, {"m", 0, -9}, {"m", 0, 19}}

// labels writes the label of each point where it meets no point and no other label. One
// that finds no place is left to the tip and the table.
func (s *scatter) labels(p *chart.Plot) {
	at := func(d *dot) (x, y float64) { return p.X.At(d.x) * leastWidth, p.YAt(d.y) }
	var taken []box
	for i := range s.dots {
		x, y := at(&s.dots[i])
		taken = append(taken, box{x - markReach, x + markReach, y - markReach, y + markReach})
	}
	for i := range s.dots {
		d := &s.dots[i]
		if d.label == "" {
			continue
		}
		x, y := at(d)
		wide := letterWidth * float64(typeset.Width(d.label))
		for _, place := range labelPlaces {
			b := box{x + place.dx, x + place.dx + wide, y + place.dy - 11, y + place.dy + 2}
			switch place.anchor {
			case "e":
				b.left, b.right = b.left-wide, b.left
			case "m":
				b.left, b.right = b.left-wide/2, b.right-wide/2
			}
			if b.left < 0 || b.right > leastWidth || slices.ContainsFunc(taken, b.meets) {
				continue
			}
			taken = append(taken, b)
			p.Front.Put(`<text x="%s" y="%s" dx="%s" class="%s lab">%s</text>`, p.XAt(d.x), chart.Coordinate(y+place.dy), chart.Coordinate(place.dx), place.anchor, chart.Escape(d.label))
			break
		}
	}
}
