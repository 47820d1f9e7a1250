// Command picture makes the picture of the README: the verdict and a chart of
// a page that tokenmeter wrote, as one SVG that follows the reader's colours.
//
//	tokenmeter bench --demo --out runs/picture --html
//	go run ./tools/picture runs/picture/report.html >docs/report.svg
package main

import (
	"fmt"
	"html"
	"os"
	"regexp"
	"strconv"
	"strings"
)

const width, margin, axis = 960, 20, 58

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: picture REPORT.html")
		os.Exit(2)
	}
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	page := string(data)
	var b strings.Builder
	y := 34
	fmt.Fprintf(&b, `<text x="%d" y="%d" class="verdict">%s</text>`, margin, y, words(find(page, `<h1[^>]*>(.*?)</h1>`)))
	y += 18
	column := (width - 2*margin) / 4
	for i, tile := range regexp.MustCompile(`(?s)<a class="tile.*?</a>`).FindAllString(page, 4) {
		x := margin + i*column
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="82" rx="8" class="card"/>`, x, y, column-10)
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="small">%s</text>`, x+14, y+24, words(find(tile, `class="label">(.*?)</span>`)))
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="big">%s <tspan class="small">%s</tspan></text>`, x+14, y+50,
			words(find(tile, `class="value">(.*?)<`)), words(find(tile, `class="unit">(.*?)</span>`)))
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="small">%s</text>`, x+14, y+70, words(find(tile, `class="tail">(.*?)</span>`)))
	}
	y += 82
	for _, id := range []string{"gaps"} {
		figure := find(page, `(?s)(<figure id="`+id+`".*?</figure>)`)
		y += 40
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="title">%s</text>`, margin, y, words(find(figure, `<strong>(.*?)</strong>`)))
		y += 20
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="small">%s</text>`, margin, y, words(find(figure, `class="sub">(.*?)</span>`)))
		y += 10
		height, err := strconv.Atoi(find(figure, `class="pa" height="(\d+)"`))
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: no chart %q\n", os.Args[1], id)
			os.Exit(1)
		}
		left := find(figure, `(?s)(<svg class="ya".*?)<svg class="pa"`)
		right := find(figure, `(?s)(<svg class="pa".*)</div><ul class="keys"`)
		fmt.Fprintf(&b, `<svg x="%d" y="%d" width="%d" height="%d" class="chart">%s</svg>`, margin, y, axis-6, height, left)
		fmt.Fprintf(&b, `<svg x="%d" y="%d" width="%d" height="%d" class="chart">%s</svg>`, margin+axis, y, width-2*margin-axis, height, right)
		y += height
	}
	y += margin
	fmt.Printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui,sans-serif">`+"\n", width, y, width, y)
	fmt.Printf("<style>%s\n%s</style>\n", style(find(page, `(?s)<style>(.*?)</style>`)),
		`text{fill:var(--text)}.small{font-size:13px;fill:var(--second)}.title{font-size:15px;font-weight:600}.verdict{font-size:22px;font-weight:600}.big{font-size:26px;font-weight:600}tspan.small{font-weight:400}.card{fill:var(--card)}`)
	fmt.Printf(`<rect width="100%%" height="100%%" fill="var(--page)"/>%s</svg>`+"\n", b.String())
}

// style keeps of the page's rules the colours and those of charts.
func style(css string) string {
	var kept []string
	for _, line := range strings.Split(css, "\n") {
		for _, start := range []string{":root", "--", "@media (prefers-color", ".chart", ".ln", ".warm", ".h1", ".max", ".med", ".p-late", ".tick"} {
			if strings.HasPrefix(line, start) {
				kept = append(kept, line)
				break
			}
		}
	}
	return strings.Join(kept, "\n")
}

func find(text, expression string) string {
	m := regexp.MustCompile(expression).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

// words is text without tags, as text of an SVG.
func words(text string) string {
	text = regexp.MustCompile(`<span class="size">.*?</span>`).ReplaceAllString(text, "")
	return html.EscapeString(strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " "))), " "))
}
