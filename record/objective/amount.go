package objective

import (
	"math"
	"strings"

	"tokenmeter/base/pattern"
)

// amountForm splits a limit into its number and its unit; a currency may lead.
var amountForm = pattern.Lazy(`^\s*(\$?)\s*([-+]?(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)?(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(.*?)\s*$`)

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
	m := amountForm().FindStringSubmatchIndex(text)
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
