package report

import (
	"regexp"
	"strings"
	"testing"

	"tokenmeter/reader/report/chart"
)

// Labels of points that lie close together stand on different sides, and none covers a
// point; where there is no room, none is written.
func TestLabelsOfPointsDoNotCollide(t *testing.T) {
	place := regexp.MustCompile(`dx="([^"]+)" class="(.) lab">([^<]+)<`)
	for _, c := range []struct {
		name string
		dots []dot
		want string
	}{
		{"alone", []dot{{x: 50, y: 50, label: "8"}}, "8 e"},
		{"side by side", []dot{{x: 46, y: 50, label: "40"}, {x: 50, y: 50, label: "16"}}, "40 e, 16 s"},
		{"three in a row", []dot{{x: 44, y: 50, label: "1"}, {x: 50, y: 50, label: "2"}, {x: 56, y: 50, label: "4"}}, "1 e, 2 m, 4 s"},
		{"at the edge", []dot{{x: 1, y: 50, label: "128"}}, "128 s"},
		{"no room", []dot{{x: 50, y: 50, label: "a"}, {x: 50, y: 50.1}, {x: 47, y: 50}, {x: 53, y: 50}, {x: 50, y: 57}, {x: 50, y: 43}}, ""},
	} {
		p := chart.NewPlot(200, chart.LinearAxis(0, 100), chart.LinearAxis(0, 100))
		s := scatter{dots: c.dots}
		s.labels(p)
		var got []string
		for _, m := range place.FindAllStringSubmatch(p.Front.String(), -1) {
			got = append(got, m[3]+" "+m[2])
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}
