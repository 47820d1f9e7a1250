package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

func markdownText(t *testing.T, r *run.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdownGolden(t *testing.T) {
	for name, r := range allRuns() {
		golden(t, "markdown/"+name+".md", []byte(markdownText(t, r)))
	}
}

// Names and messages stay text in Markdown: no tags, no broken table rows, no
// control bytes.
func TestMarkdownHostile(t *testing.T) {
	text := markdownText(t, hostileRun())
	body, _, _ := strings.Cut(text, "\n```")
	for _, bad := range []string{"<script", "<img", "<!--", "</style", "](java", "\x1b", "\u202e", "\r"} {
		if strings.Contains(body, bad) {
			t.Errorf("%q in the Markdown", bad)
		}
	}
	for _, line := range strings.Split(body, "\n") {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		bars := strings.Count(line, "|") - strings.Count(line, `\|`)
		if bars != 3 && bars != 6 {
			t.Errorf("%d cells in %.200q", bars-1, line)
		}
	}
}

func TestCSV(t *testing.T) {
	for name, r := range allRuns() {
		var b bytes.Buffer
		if err := CSV(&b, r); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Join(rows[0], ","); got != "metric,stat,value,n,ci_lo,ci_hi" {
			t.Fatalf("%s: head %s", name, got)
		}
		for _, row := range rows {
			if strings.ContainsAny(row[0][:1], "=+-@") {
				t.Errorf("%s: %q reads as a formula", name, row[0])
			}
			if strings.Contains(row[2], "NaN") || strings.Contains(row[2], "Inf") {
				t.Errorf("%s: %v", name, row)
			}
		}
	}
}

// JSON is run.json and comes back as it was.
func TestJSONRoundTrip(t *testing.T) {
	for name, r := range allRuns() {
		var b bytes.Buffer
		if err := JSON(&b, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back run.Run
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if back.Requests.Total != r.Requests.Total || back.Metrics["ttft_ms"].P99 != r.Metrics["ttft_ms"].P99 {
			t.Errorf("%s: changed on the way", name)
		}
	}
}

// The same figures stand in every form: each cell of the table is in the
// terminal's text, in Markdown and in HTML, and is run.json's value, rounded.
func TestFormsAgree(t *testing.T) {
	for name, r := range allRuns() {
		v := view.New(r)
		forms := map[string]string{"terminal": terminalText(t, r, Options{Width: 200}), "markdown": markdownText(t, r), "html": htmlText(t, r, nil)}
		for _, line := range v.Rows {
			d := r.Metrics[line.Key]
			for i, c := range line.Cells {
				for form, text := range forms {
					if !strings.Contains(text, c.Value) || c.Lo != "" && (!strings.Contains(text, c.Lo) || !strings.Contains(text, c.Hi)) {
						t.Errorf("%s: %s has no %s %s", name, form, line.Name, c.Text())
					}
				}
				want, ok := view.Percentiles[view.Shown[i]].Of(&d).Get()
				if !ok {
					if c.Value != typeset.Missing {
						t.Errorf("%s: %s shown as %s", name, line.Name, c.Value)
					}
					continue
				}
				if line.Unit == "s" {
					want /= 1e3
				}
				got, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-", "?", "").Replace(c.Value), 64)
				if err != nil {
					t.Fatal(err)
				}
				if diff := got - want; diff > 0.005*want || diff < -0.005*want {
					t.Errorf("%s: %s %v shown as %s", name, line.Name, want, c.Value)
				}
			}
		}
		for _, f := range v.Facts {
			if f.Label == "server" {
				number := strings.Fields(f.Text)[0]
				for form, text := range forms {
					if !strings.Contains(text, number) {
						t.Errorf("%s: %s has no throughput %s", name, form, number)
					}
				}
			}
		}
		if n := strconv.FormatInt(r.Requests.Failed, 10); r.Requests.Failed > 0 && !strings.Contains(forms["html"], n) {
			t.Errorf("%s: the page does not say %s failed", name, n)
		}
	}
}

func htmlText(t *testing.T, r *run.Run, tl timelines) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, tl); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
