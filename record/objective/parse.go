package objective

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"tokenmeter/base/pattern"
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
		if all[i].Stat == "" && all[i].subject().class != ofRatio && all[i].subject().class != ofRun && all[i].subject().class != ofSession && hasGoodput(all) {
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

var joint = pattern.Lazy(`(?i)\s*;\s*|\s*&&\s*|\s+and\s+|\s*\n\s*`)

// split cuts a text at its joints; a text without words is one empty part.
func split(text string) []part {
	var parts []part
	from := 0
	cut := func(to int) {
		if strings.TrimSpace(text[from:to]) != "" {
			parts = append(parts, part{text[from:to], from})
		}
	}
	for _, m := range joint().FindAllStringIndex(text, -1) {
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
	operator = pattern.Lazy(`(?i)<=|=<|≤|>=|=>|≥|<|>|\bat most\b|\bat least\b|\bbelow\b|\bunder\b|\babove\b|\bover\b`)
	validEnd = pattern.Lazy(`(?i)[\s,(]*\bvalid\s*[:=]?\s*(\w*)\s*\)?\s*$`)
	limits   = pattern.Lazy(`^\s*[^\s:<>=]+\s*:`)
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
	ops := operator().FindAllStringIndex(body, -1)
	switch {
	case len(ops) == 0 && limits().MatchString(body):
		p.readLimits(body)
		return
	case len(ops) == 0:
		p.fail(len(strings.TrimRight(body, " ")), `write for example "p99 tpot < 120ms"`, "there is no comparison (<, <=, >, >=)")
		return
	}
	o := Objective{Valid: valid, Op: operators[strings.ToLower(body[ops[0][0]:ops[0][1]])]}
	before := len(p.errs)
	complement := plainName(body[:ops[0][0]]) == "availability"
	if complement {
		o.Metric = "error_rate"
	} else {
		p.subject(&o, body[:ops[0][0]])
	}
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
	if len(p.errs) == before && complement {
		p.complement(&o, ops[0][0])
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
	m := validEnd().FindStringSubmatchIndex(p.rest)
	if m == nil {
		return p.rest, ""
	}
	if word := strings.ToLower(p.rest[m[2]:m[3]]); word != "success" {
		p.fail(m[2], `write "valid: success", or nothing: then failed requests count as missed`, "valid: %q is not known", word)
	}
	return p.rest[:m[0]], "success"
}

// complement turns a promise of availability round: what is not available fails.
func (p *parser) complement(o *Objective, at int) {
	turned, ok := map[string]string{">": "<", ">=": "<="}[o.Op]
	if !ok {
		p.fail(at, "turn the comparison round", "%q would promise the bad side of availability", o.Op)
		return
	}
	o.Op, o.Limit = turned, math.Round((1-o.Limit)*1e12)/1e12
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
