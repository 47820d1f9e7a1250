package objective

import (
	"strings"
	"unicode"
)

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
