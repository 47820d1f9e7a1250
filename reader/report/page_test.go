package report

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// pages are all hand-made runs without records, and made ones with.
func pages(t *testing.T) map[string]string {
	all := map[string]string{}
	for name, r := range allRuns() {
		all[name] = htmlText(t, r, nil)
	}
	for _, n := range []int{0, 1, 2, 10, 594} {
		r, list := generated(n, max(1, min(n, 16)), 40, 50)
		all[fmt.Sprint("made-", n)] = htmlText(t, r, each(list))
	}
	r, list := hostileRequests()
	all["hostile-requests"] = htmlText(t, r, each(list))
	return all
}

// hostileRequests carry the hostile texts themselves.
func hostileRequests() (*run.Run, []*timeline.Timeline) {
	var list []*timeline.Timeline
	for i, text := range hostile {
		tl := timeline.New()
		tl.Request = int64(i)
		tl.Model, tl.ID = text, text
		tl.Fail(timeline.Outcome(text), text)
		tl.CloseUS = timeline.Some(int64(1000 * i))
		list = append(list, tl)
	}
	return hostileRun(), list
}

// bare is a page without its style and script, which have files of their own.
func bareOf(page string) string {
	page = strings.Replace(page, pageCSS, "", 1)
	page = strings.Replace(page, pageJS, "", 1)
	return regexp.MustCompile(`sha256-[^']*`).ReplaceAllString(page, "sha256-")
}

func TestPageGolden(t *testing.T) {
	for name, r := range allRuns() {
		golden(t, "html/"+name+".html", []byte(bareOf(htmlText(t, r, nil))))
	}
	r, list := generated(10, 4, 12, 5)
	golden(t, "html/made-10.html", []byte(bareOf(htmlText(t, r, each(list)))))
}

var (
	tagPattern  = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z][a-zA-Z0-9-]*(?:="[^"<>]*")?)*)\s*(/?)>`)
	attrPattern = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9-]*)(?:="([^"]*)")?`)
	void        = []string{"meta", "br", "hr", "link", "img", "input"}
	elements    = []string{"html", "head", "meta", "title", "style", "body", "a", "div", "nav", "ol", "ul", "li", "main", "header", "p", "bdi",
		"span", "h1", "h2", "b", "i", "section", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "figure", "figcaption", "strong",
		"details", "summary", "code", "pre", "button", "script", "svg", "g", "line", "path", "rect", "circle", "text"}
	attributes = []string{"lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "aria-label", "aria-hidden", "role", "scope",
		"title", "type", "data-copy", "hidden", "height", "width", "focusable", "viewBox", "preserveAspectRatio",
		"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "d", "dx"}
)

// Every page is well formed, holds only known elements and attributes (none
// that runs or loads anything), and whatever names say stays text.
func TestPageIsClosed(t *testing.T) {
	for name, page := range pages(t) {
		var open []string
		rest := bareOf(page)
		rest = strings.TrimPrefix(rest, "<!DOCTYPE html>")
		if n := strings.Count(rest, "<"); n != len(tagPattern.FindAllString(rest, -1)) {
			t.Errorf("%s: %d angle brackets are no tags", name, n-len(tagPattern.FindAllString(rest, -1)))
		}
		for _, m := range tagPattern.FindAllStringSubmatch(rest, -1) {
			closing, tag, attrs, self := m[1] != "", m[2], m[3], m[4] != ""
			if !slices.Contains(elements, tag) {
				t.Errorf("%s: element %s", name, tag)
			}
			for _, a := range attrPattern.FindAllStringSubmatch(attrs, -1) {
				if !slices.Contains(attributes, a[1]) || a[1] == "href" && !strings.HasPrefix(a[2], "#") {
					t.Errorf("%s: <%s %s>", name, tag, a[0])
				}
			}
			switch {
			case closing && (len(open) == 0 || open[len(open)-1] != tag):
				t.Fatalf("%s: </%s> closes %v", name, tag, open)
			case closing:
				open = open[:len(open)-1]
			case !self && !slices.Contains(void, tag):
				open = append(open, tag)
			}
		}
		if len(open) > 0 {
			t.Errorf("%s: %v not closed", name, open)
		}
		if n := strings.Count(page, "<script"); n != 1 {
			t.Errorf("%s: %d scripts", name, n)
		}
		for _, bad := range []string{"\x1b", "\u202e", "\u2066", "NaN", "Inf", "%!", "ZgotmplZ", "http-equiv=\"refresh"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: %q in the page", name, bad)
			}
		}
	}
}

// The policy allows the page's own style and script, and nothing else.
func TestPagePolicy(t *testing.T) {
	page := htmlText(t, validRun(), nil)
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1]
	for element, directive := range map[string]string{"style": "style-src", "script": "script-src"} {
		_, after, _ := strings.Cut(page, "<"+element+">")
		text, _, _ := strings.Cut(after, "</"+element+">")
		sum := sha256.Sum256([]byte(text))
		if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("no %s in %s", want, policy)
		}
	}
	for _, want := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("no %s in %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
}

// Every link leads somewhere on the page, and no name is given twice.
func TestPageLinks(t *testing.T) {
	for name, page := range pages(t) {
		ids := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if ids[m[1]] {
				t.Errorf("%s: two elements are called %s", name, m[1])
			}
			ids[m[1]] = true
		}
		for _, m := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if !ids[m[1]] {
				t.Errorf("%s: a link to #%s leads nowhere", name, m[1])
			}
		}
	}
}

// No chart is empty without a sentence, and each says itself in words.
func TestFiguresSpeak(t *testing.T) {
	for name, page := range pages(t) {
		for _, figure := range strings.Split(page, "<figure ")[1:] {
			figure, _, _ = strings.Cut(figure, "</figure>")
			drawn := strings.Contains(figure, `role="img" aria-label="`) && !strings.Contains(figure, `aria-label=""`)
			if !drawn && !strings.Contains(figure, `<p class="empty">`) {
				t.Errorf("%s: a figure without chart and words: %.200s", name, figure)
			}
			if drawn && !strings.Contains(figure, "<details") {
				t.Errorf("%s: a chart without a table: %.200s", name, figure)
			}
		}
	}
}

// Findings say what was seen together, never what caused what.
func TestFindingsClaimNoCause(t *testing.T) {
	r, list := generated(594, 16, 40, 50)
	page := htmlText(t, r, each(list))
	if !strings.Contains(page, `id="why"`) || !strings.Contains(page, "stalled for over 200 ms at") {
		t.Error("the stall of all streams was not found")
	}
	_, after, _ := strings.Cut(page, `id="why"`)
	section, _, _ := strings.Cut(after, "</section>")
	if n := strings.Count(section, "<li>"); n < 1 || n > findingsMax {
		t.Errorf("%d findings", n)
	}
	if strings.Contains(section, "caused") || strings.Contains(section, "because") {
		t.Error(section)
	}
	if good := htmlText(t, tinyRun(10), nil); strings.Contains(good, `id="why"`) {
		t.Error("findings where nothing is wrong")
	}
}

// A long run's page stays small: its size hangs on the picture, not on the run.
func TestPageIsSmall(t *testing.T) {
	r, list := generated(4000, 64, 30, 100)
	if n := len(htmlText(t, r, each(list))); n > 400_000 {
		t.Errorf("%d bytes", n)
	}
}

// Records that cannot be read are counted and left out.
func TestBrokenRecords(t *testing.T) {
	r, list := generated(10, 4, 12, 0)
	broken := func(yield func(*timeline.Timeline, error) bool) {
		for i, tl := range list {
			if i == 3 {
				if !yield(nil, fmt.Errorf("damaged")) {
					return
				}
				continue
			}
			if !yield(tl, nil) {
				return
			}
		}
	}
	if page := htmlText(t, r, broken); !strings.Contains(page, "1 record could not be read") {
		t.Error("the broken record is not mentioned")
	}
}

// The pages are written to the folder that REPORT_PAGES names, to be looked at.
func TestWritePages(t *testing.T) {
	dir := os.Getenv("REPORT_PAGES")
	if dir == "" {
		t.Skip("REPORT_PAGES names no folder")
	}
	for name, r := range allRuns() {
		write(t, filepath.Join(dir, name+".html"), htmlText(t, r, nil))
	}
	for _, n := range []int{1, 2, 10, 594, 5000} {
		r, list := generated(n, min(n, 32), 150, 100)
		write(t, filepath.Join(dir, "generated-"+typeset.Exact(int64(n))+".html"), htmlText(t, r, each(list)))
	}
	r, list := hostileRequests()
	write(t, filepath.Join(dir, "hostile.html"), htmlText(t, r, each(list)))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
