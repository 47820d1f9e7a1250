package objective

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"tokenmeter/metric"
)

// Parse reads one objective. The error lists everything that is wrong with it,
// each with its column.
func Parse(text string) (Objective, error) {
	all, err := ParseAll([]string{text})
	if err != nil {
		return Objective{}, err
	}
	if len(all) != 1 {
		return Objective{}, &Error{Text: text, Column: 1,
			What: fmt.Sprintf("these are %d objectives", len(all)), Hint: "give each one by itself"}
	}
	return all[0], nil
}

const maxLength = 1000 // no objective is; a file given by mistake may be

// ParseAll reads every objective of a list; a text may hold several, joined by
// "and" or ";", or be a list of limits (`ttft:500 tpot:50`). The error is an
// Errors with all that is wrong in all of them.
func ParseAll(texts []string) ([]Objective, error) {
	var all []Objective
	var errs Errors
	for _, text := range texts {
		if len(text) > maxLength {
			errs = append(errs, &Error{Text: text, Column: 1, What: fmt.Sprintf("it is longer than %d bytes", maxLength)})
			continue
		}
		for _, part := range split(text) {
			p := parser{text: text, rest: part.text, from: part.at}
			p.run()
			all = append(all, p.found...)
			errs = append(errs, p.errs...)
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	for i := range all {
		// What goodput counts needs no verdict of its own.
		if all[i].Stat == "" && all[i].subject().class != ofRatio && all[i].subject().class != ofRun && hasGoodput(all) {
			all[i].Criterion = true
		}
	}
	return all, nil
}

func hasGoodput(all []Objective) bool {
	for i := range all {
		if all[i].Metric == "goodput" || all[i].Metric == goodputRate {
			return true
		}
	}
	return false
}

// part is a piece of a text and its byte offset in it.
type part struct {
	text string
	at   int
}

var joint = regexp.MustCompile(`(?i)\s*;\s*|\s*&&\s*|\s+and\s+|\s*\n\s*`)

// split cuts a text at its joints; a text without words is one empty part.
func split(text string) []part {
	var parts []part
	from := 0
	cut := func(to int) {
		if strings.TrimSpace(text[from:to]) != "" {
			parts = append(parts, part{text[from:to], from})
		}
	}
	for _, m := range joint.FindAllStringIndex(text, -1) {
		cut(m[0])
		from = m[1]
	}
	cut(len(text))
	if len(parts) == 0 {
		parts = append(parts, part{})
	}
	return parts
}

// parser reads one objective, or one list of limits.
type parser struct {
	text  string // of the user, for messages
	rest  string // the part that is read
	from  int    // its byte offset in text
	found []Objective
	errs  Errors
}

// fail notes an error at a byte offset of the part.
func (p *parser) fail(at int, hint, what string, args ...any) {
	at = min(max(p.from+at, 0), len(p.text))
	p.errs = append(p.errs, &Error{Text: p.text, Column: utf8.RuneCountInString(p.text[:at]) + 1,
		What: fmt.Sprintf(what, args...), Hint: hint})
}

var (
	operator = regexp.MustCompile(`(?i)<=|=<|≤|>=|=>|≥|<|>|\bat most\b|\bat least\b|\bbelow\b|\bunder\b|\babove\b|\bover\b`)
	validEnd = regexp.MustCompile(`(?i)[\s,(]*\bvalid\s*[:=]?\s*(\w*)\s*\)?\s*$`)
	limits   = regexp.MustCompile(`^\s*[^\s:<>=]+\s*:`)
)

var operators = map[string]string{
	"<": "<", "below": "<", "under": "<", "<=": "<=", "=<": "<=", "≤": "<=", "at most": "<=",
	">": ">", "above": ">", "over": ">", ">=": ">=", "=>": ">=", "≥": ">=", "at least": ">=",
}

func (p *parser) run() {
	if strings.TrimSpace(p.rest) == "" {
		p.fail(0, `write for example "p99 tpot < 120ms"`, "it is empty")
		return
	}
	body, valid := p.validClause()
	ops := operator.FindAllStringIndex(body, -1)
	switch {
	case len(ops) == 0 && limits.MatchString(body):
		p.readLimits(body)
		return
	case len(ops) == 0:
		p.fail(len(strings.TrimRight(body, " ")), `write for example "p99 tpot < 120ms"`, "there is no comparison (<, <=, >, >=)")
		return
	}
	o := Objective{Valid: valid, Op: operators[strings.ToLower(body[ops[0][0]:ops[0][1]])]}
	before := len(p.errs)
	p.subject(&o, body[:ops[0][0]])
	known := len(p.errs) == before
	values := body[ops[0][1]:]
	if known && o.Metric == "task_success" {
		p.taskLimits(&o, body, ops)
	} else if len(ops) > 1 {
		p.fail(ops[1][0], `give each objective by itself`, "there is a second comparison")
	} else if known {
		o.Limit = p.limit(values, ops[0][1], o.subject().unit)
	} else {
		p.amount(values, ops[0][1]) // what is wrong with it; its unit can't be judged
	}
	if len(p.errs) == before {
		p.check(&o, ops[0][0])
	}
	if len(p.errs) == before {
		o.Text = o.canonical()
		p.found = append(p.found, o)
	}
}

// validClause cuts "valid: success" off the end.
func (p *parser) validClause() (body, valid string) {
	m := validEnd.FindStringSubmatchIndex(p.rest)
	if m == nil {
		return p.rest, ""
	}
	if word := strings.ToLower(p.rest[m[2]:m[3]]); word != "success" {
		p.fail(m[2], `write "valid: success", or nothing: then failed requests count as missed`, "valid: %q is not known", word)
	}
	return p.rest[:m[0]], "success"
}

// taskLimits reads "< 60s >= 95%", or only ">= 95%".
func (p *parser) taskLimits(o *Objective, body string, ops [][]int) {
	if len(ops) > 2 {
		p.fail(ops[2][0], `write "task success < 60s >= 95%"`, "there is a third comparison")
		return
	}
	if len(ops) == 1 {
		o.Limit = p.limit(body[ops[0][1]:], ops[0][1], ratio)
		return
	}
	o.WithinOp = o.Op
	if !o.below() {
		p.fail(ops[0][0], `write "task success < 60s >= 95%"`, "the time of a task has an upper limit")
	}
	o.Within = p.limit(body[ops[0][1]:ops[1][0]], ops[0][1], duration)
	o.Op = operators[strings.ToLower(body[ops[1][0]:ops[1][1]])]
	o.Limit = p.limit(body[ops[1][1]:], ops[1][1], ratio)
}

// amountForm splits a limit into its number and its unit; a currency may lead.
var amountForm = regexp.MustCompile(`^\s*(\$?)\s*([-+]?(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)?(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(.*?)\s*$`)

// limit reads a number with an optional unit; at is its byte offset.
func (p *parser) limit(text string, at int, d dimension) float64 {
	a, ok := p.amount(text, at)
	if !ok {
		return 0
	}
	f, known := factors[d][a.unit]
	if !known {
		p.fail(at+a.unitAt, "write "+unitNames[d], "%q is no unit here", a.unit)
		return 0
	}
	x, err := decimal(a.digits, f.shift)
	x *= f.times
	switch {
	case err != nil || math.IsInf(x, 0):
		p.fail(at+a.digitsAt, "", "%q is no number that can be used", a.digits)
	case math.Signbit(x):
		p.fail(at+a.digitsAt, "", "a limit can't be negative")
	case d == ratio && x > 1:
		p.fail(at+a.digitsAt, `write a share up to 100%, with the % sign`, "a share of %s is more than all", plainNumber(x))
	}
	return x
}

// quantity is a number and its unit, with their places.
type quantity struct {
	digits, unit     string
	digitsAt, unitAt int
}

func (p *parser) amount(text string, at int) (q quantity, ok bool) {
	m := amountForm.FindStringSubmatchIndex(text)
	if m == nil || m[4] == m[5] || !strings.ContainsAny(text[m[4]:m[5]], "0123456789") {
		p.fail(at+leading(text), `write for example "120ms"`, "there is no number after the comparison")
		return quantity{}, false
	}
	q = quantity{digitsAt: m[4], unitAt: m[6]}
	q.digits = strings.NewReplacer(",", "", "_", "").Replace(text[m[4]:m[5]])
	q.unit = strings.ToLower(strings.Join(strings.Fields(text[m[6]:m[7]]), ""))
	if text[m[2]:m[3]] == "$" && (q.unit == "" || q.unit == "usd") {
		q.unit = "$"
	}
	return q, true
}

func leading(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// check refuses what parses and makes no sense.
func (p *parser) check(o *Objective, at int) {
	s := o.subject()
	switch {
	case s.class == ofRatio && o.Stat != "", s.class == ofRun && o.Stat != "":
		p.fail(0, "leave "+o.Stat+" out", "%s is one figure of the run", o.Metric)
	case s.class == ofRatio && s.higher == o.below():
		p.fail(at, "turn the comparison round", "%q would promise the bad side of %s", o.Op, o.Metric)
	}
}

// readLimits reads `ttft:500 tpot:50`, the form of --goodput.
func (p *parser) readLimits(body string) {
	for _, f := range fields(body) {
		name, value, ok := strings.Cut(f.text, ":")
		if !ok {
			p.fail(f.at, `write name:limit, for example "ttft:500"`, "%q has no limit", f.text)
			continue
		}
		if plainName(name) == "inter_token_latency" {
			name = "tpot" // where this form comes from, that is the mean of a request
		}
		o := Objective{Criterion: true, Op: "<="}
		before := len(p.errs)
		at := f.at + len(f.text) - len(value)
		if s, found := p.lookup(name, f.at); found {
			if s.class != ofRequest && s.class != ofGaps {
				p.fail(f.at, "", "%s is no figure of a request", s.name)
			}
			if s.higher {
				o.Op = ">="
			}
			o.Metric = s.name
			o.Limit = p.limit(value, at, s.unit)
		} else {
			p.amount(value, at)
		}
		if len(p.errs) == before {
			o.Text = o.canonical()
			p.found = append(p.found, o)
		}
	}
}

// fields splits at spaces and commas, keeping offsets; a space after the colon
// does not split.
func fields(text string) []part {
	var out []part
	start := -1
	for i, r := range text {
		apart := unicode.IsSpace(r) || r == ','
		if apart && start >= 0 && !strings.HasSuffix(strings.TrimRight(text[:i], " "), ":") {
			out = append(out, part{text[start:i], start})
			start = -1
		} else if !apart && start < 0 {
			start = i
		}
	}
	if start >= 0 {
		out = append(out, part{text[start:], start})
	}
	return out
}

// lookup finds a metric by any name that people type.
func (p *parser) lookup(name string, at int) (*subject, bool) {
	if s, ok := named(name); ok {
		return s, true
	}
	hint := "`tokenmeter explain` lists the metrics"
	if len(name) < 40 {
		if near := metric.Nearest(name, Names()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	p.fail(at, hint, "no metric is called %q", strings.TrimSpace(name))
	return nil, false
}

// named tries the own table, then the aliases of the catalogue.
func named(name string) (*subject, bool) {
	plain := plainName(name)
	if s, ok := byName(plain); ok {
		return s, true
	}
	if s, ok := byName(strings.TrimSuffix(plain, "_ms")); ok {
		return s, true
	}
	if d, err := metric.Lookup(plain); err == nil {
		return byName(d.Name)
	}
	return nil, false
}

func plainName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '\t':
			return '_'
		}
		return unicode.ToLower(r)
	}, strings.TrimSpace(name)), "_")
}
