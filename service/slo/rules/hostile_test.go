package rules

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"

	"tokenmeter/base/printable"

	"github.com/goccy/go-yaml"
)

// A sentence of the user's that would act on a terminal is escaped in every form
// of rules, which says the same and stays what its reader takes.
func TestAboutThatActsOnTerminals(t *testing.T) {
	const about = "it's \x1b[31mred\x1b[0m, \u009b2J, \u202eback\u2066, \u2028\ufeff{{x}}\nand\ton\x7f"
	config := "objectives:\n  - {name: up, objective: availability >= 99%, sources: [live], about: " + strconv.Quote(about) +
		"}\n  - {name: e, objective: p90 ttft < 1s, sources: [live], where: {model: " + strconv.Quote("m\x1b[2J\u202e") + "}, by: [model], about: " + strconv.Quote(about) + "}\n"
	objectives := load(t, config)
	for form, write := range map[string]func(io.Writer) error{
		"prometheus":       func(w io.Writer) error { return Prometheus(w, objectives) },
		"kubernetes":       func(w io.Writer) error { return Kubernetes(w, objectives) },
		"promtool":         func(w io.Writer) error { return PromtoolTests(w, "rules.yaml", objectives) },
		"openslo":          func(w io.Writer) error { return OpenSLO(w, objectives) },
		"datadog":          func(w io.Writer) error { return Datadog(w, objectives) },
		"datadog-monitors": func(w io.Writer) error { _, err := DatadogMonitors(w, objectives); return err },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(form, err)
		}
		if got := b.String(); printable.Lines(got) != got {
			t.Errorf("%s: acts on a terminal:\n%q", form, got)
		}
		var err error
		var doc any
		said := about
		if strings.HasPrefix(form, "datadog") {
			err = json.Unmarshal(b.Bytes(), &doc)
		} else {
			err = yaml.NewDecoder(&b).Decode(&doc)
			said = strings.ReplaceAll(about, "{{", "{ {")
		}
		if err != nil {
			t.Errorf("%s: %v", form, err)
		}
		if form == "openslo" {
			said = about
		}
		if found := holds(doc, said); found != (form != "datadog-monitors") {
			t.Errorf("%s: the sentence is there: %v", form, found)
		}
	}
}

// holds reports whether a string somewhere in a document holds another.
func holds(doc any, text string) bool {
	switch doc := doc.(type) {
	case string:
		return strings.Contains(doc, text)
	case []any:
		for _, v := range doc {
			if holds(v, text) {
				return true
			}
		}
	case map[string]any:
		for _, v := range doc {
			if holds(v, text) {
				return true
			}
		}
	}
	return false
}
