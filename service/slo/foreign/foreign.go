// Package foreign reads objectives that were written for other tools, OpenSLO,
// sloth and pyrra, as objectives of ours: target, window and budget exactly, what
// is measured as far as it can be recognised; and it says what it left out.
package foreign

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/config"
	"tokenmeter/base/pattern"
)

// Objective is one that was read.
type Objective struct {
	From      string // what the file called it
	Name      string // as ours may be called
	Objective string // empty: what it measures is not known here, and it is left out
	About     string
	Target    float64
	Window    string // rolling, like 28d; empty with Calendar
	Calendar  string
	Timezone  string // of the calendar window; empty: UTC
	Slice     string // empty: requests are judged
	NoAlerts  bool
	Alerts    []Alert
	// Lost says what of it has no counterpart, a sentence each.
	Lost []string
}

// Alert is a burn rate over a window.
type Alert struct {
	Factor   float64
	Long     string
	Severity string // page or ticket
}

// lose notes what is not taken over.
func (o *Objective) lose(format string, args ...any) {
	o.Lost = append(o.Lost, fmt.Sprintf(format, args...))
}

// Read reads a file of any of the three. notes are of the file as a whole. An
// error is one of a file that is none of them.
func Read(name string, data []byte) (all []Objective, notes []string, err error) {
	docs, err := config.Documents(name, data)
	if err != nil {
		return nil, nil, err
	}
	var flat []any
	for _, d := range docs {
		if list, ok := d.([]any); ok {
			flat = append(flat, list...)
		} else {
			flat = append(flat, d)
		}
	}
	known := openSLO{indicators: map[string]node{}, policies: map[string]node{}}
	for _, d := range flat {
		known.learn(node{d})
	}
	for i, d := range flat {
		n := node{d}
		version := n.text("apiVersion")
		switch {
		case n.text("version") == "prometheus/v1":
			all = append(all, sloth(n, n.at("service").string(), n.at("slos"))...)
		case version == "sloth.slok.dev/v1":
			all = append(all, sloth(n, n.text("spec", "service"), n.at("spec", "slos"))...)
		case strings.HasPrefix(version, "pyrra.dev/"):
			all = append(all, pyrra(n))
		case version == "openslo/v1" && n.text("kind") == "SLO":
			all = append(all, known.objectives(n)...)
		case version == "openslo/v1":
			if kind := n.text("kind"); kind != "SLI" && kind != "AlertPolicy" && kind != "AlertCondition" {
				notes = append(notes, fmt.Sprintf("%s %s is not taken over", kind, n.text("metadata", "name")))
			}
		case strings.HasPrefix(version, "openslo/"):
			return nil, nil, fmt.Errorf("%s: document %d is %s; openslo/v1 is read", name, i+1, version)
		default:
			return nil, nil, fmt.Errorf("%s: document %d is neither OpenSLO (apiVersion: openslo/v1), sloth (version: prometheus/v1) nor pyrra (apiVersion: pyrra.dev/v1alpha1)", name, i+1)
		}
	}
	taken := map[string]bool{}
	for i := range all {
		o := &all[i]
		base := plain(o.From)
		o.Name = base
		for n := 2; taken[o.Name]; n++ {
			o.Name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[o.Name] = true
		if !(o.Target > 0 && o.Target < 1) {
			o.lose("its target is no share between 0 and 1, so it has no budget")
			o.Objective = ""
		}
	}
	return all, notes, nil
}

var notPlain = pattern.Lazy(`[^a-z0-9._-]+`)

// plain is a name that ours may have.
func plain(name string) string {
	if out := strings.Trim(notPlain().ReplaceAllString(strings.ToLower(name), "-"), "-._"); out != "" {
		return out
	}
	return "objective"
}

// node is a value of a document of unknown form.
type node struct{ v any }

func (n node) at(path ...string) node {
	for _, name := range path {
		m, _ := n.v.(map[string]any)
		n = node{m[name]}
	}
	return n
}

func (n node) list() (out []node) {
	all, _ := n.v.([]any)
	for _, v := range all {
		out = append(out, node{v})
	}
	return out
}

func (n node) string() string {
	switch v := n.v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(n.v)
}

func (n node) text(path ...string) string { return n.at(path...).string() }

func (n node) number(path ...string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(n.text(path...)), "%"), 64)
	return x, err == nil
}

func (n node) is(path ...string) bool { return n.at(path...).v != nil }

// share turns a percentage into a share, as it is written: 99.9 → 0.999.
func share(percent float64) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(percent/100, 'g', 12, 64), 64)
	return x
}

// What PromQL says of what is measured.
var (
	bucket  = pattern.Lazy(`([a-zA-Z_:][a-zA-Z0-9_:]*)_bucket\s*\{([^}]*)\}`)
	edge    = pattern.Lazy(`\ble\s*=~?\s*"([^"]*)"`)
	status  = pattern.Lazy(`\b(code|status|status_code|http_status|http_status_code|response_code|grpc_code)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	aWindow = pattern.Lazy(`^(\d+)([smhdwMQy]|mo)$`)
)

// figures are the histograms whose meaning is known, by a part of their name: those
// of engines first.
var figures = []struct{ part, ours string }{
	{"time_to_first_token", "ttft"}, {"ttft", "ttft"},
	{"inter_token", "itl"}, {"time_per_output_token", "tpot"}, {"tpot", "tpot"},
	{"e2e_request_latency", "e2e"}, {"request_duration", "e2e"}, {"response_duration", "e2e"}, {"request_latency", "e2e"},
	{"response_latency", "e2e"}, {"response_time", "e2e"},
}

// latency recognises a bucket of a histogram as a limit on one of our figures.
func latency(query, limitS string) (objective, lost string) {
	m := bucket().FindStringSubmatch(query)
	if m == nil {
		return "", "its query names no bucket of a histogram"
	}
	le := limitS
	if e := edge().FindStringSubmatch(m[2]); e != nil {
		le = e[1]
	}
	x, err := strconv.ParseFloat(le, 64)
	if err != nil || !(x > 0) {
		return "", "its query names no limit (le)"
	}
	if !strings.Contains(m[1], "second") && !strings.HasSuffix(m[1], "_ms") {
		return "", fmt.Sprintf("the unit of %s is not in its name", m[1])
	}
	if strings.Contains(m[1], "millisecond") || strings.HasSuffix(m[1], "_ms") {
		x /= 1000
	}
	for _, f := range figures {
		if strings.Contains(strings.ToLower(m[1]), f.part) {
			return fmt.Sprintf("%s < %ss", f.ours, strconv.FormatFloat(x, 'g', 12, 64)), ""
		}
	}
	return "", fmt.Sprintf("it is not known what %s measures", m[1])
}

// measured recognises what a query of bad or good events counts.
func (o *Objective) measured(query, limitS string) {
	if objective, lost := latency(query, limitS); objective != "" {
		o.Objective = objective
		o.lose("failed requests are bad here; a histogram of all responses has fast failures among the good ones")
		return
	} else if strings.Contains(query, "_bucket") {
		o.lose("%s", lost)
		return
	}
	m := status().FindStringSubmatch(query)
	if m == nil {
		o.lose("what it counts is not known here: %s", oneLine(query))
		return
	}
	o.Objective = "availability >= " + strconv.FormatFloat(100*o.Target, 'g', 12, 64) + "%"
	o.lose("bad were requests told by %s%s%q; here every request that failed is, by timeouts and broken streams too (error rate in docs/metrics.md)", m[1], m[2], m[3])
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:117], "") + "..."
	}
	return s
}

// rolling is a duration as ours are written; false where it is none.
func rolling(text string) (string, bool) {
	m := aWindow().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		if d, err := time.ParseDuration(text); err == nil && d > 0 {
			return text, true
		}
		return "", false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n == 0 {
		return "", false
	}
	switch m[2] {
	case "M", "mo":
		return fmt.Sprintf("%dd", 30*n), true
	case "Q":
		return fmt.Sprintf("%dd", 90*n), true
	case "y":
		return fmt.Sprintf("%dd", 365*n), true
	}
	return text, true
}
