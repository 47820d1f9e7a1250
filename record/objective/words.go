package objective

import (
	"regexp"
	"strings"

	"tokenmeter/base/pattern"
)

var (
	word = pattern.Lazy(`[^\s():,]+`)
	// percentile is p99, p99.9, or p999 for 99.9.
	percentile = pattern.Lazy(`^p(\d{1,2}(?:\.\d+)?|9\d{2,5}|100(?:\.0+)?)$`)
	ordinal    = pattern.Lazy(`^(\d{1,2}(?:\.\d+)?)(?:st|nd|rd|th)$`)
	ahead      = pattern.Lazy(`^(p\d+(?:\.\d+)?|mean|avg|max|min|median)[_.](.+)$`)
	behind     = pattern.Lazy(`^(.+)[_.](p\d+(?:\.\d+)?|mean|avg|max|min|median)$`)
)

var statistics = map[string]string{
	"mean": "mean", "avg": "mean", "average": "mean",
	"max": "max", "maximum": "max", "worst": "max", "min": "min", "minimum": "min",
	"median": "p50",
}

// statistic reads "p99", "mean", "median", …; ok is false for other words.
func statistic(text string) (name string, p float64, ok bool) {
	text = strings.ToLower(text)
	if name, ok := statistics[text]; ok {
		text = name
		if name != "p50" {
			return name, 0, true
		}
	}
	m := percentile().FindStringSubmatch(text)
	if m == nil {
		return "", 0, false
	}
	digits := m[1]
	if len(digits) > 2 && !strings.Contains(digits, ".") && digits != "100" {
		digits = digits[:2] + "." + digits[2:] // p999 is p99.9
	}
	x, err := decimal(digits, -2)
	switch {
	case err != nil || x > 1:
		return "", 0, false
	case x == 1:
		return "max", 0, true
	case x == 0:
		return "min", 0, true
	}
	return percentileName(x), x, true
}

// subject reads statistic and metric, in either order, glued or apart:
// "p99 tpot", "tpot p99", "p99(tpot)", "tpot_p99", "99th percentile of tpot".
func (p *parser) subject(o *Objective, text string) {
	var words []part
	for _, m := range word().FindAllStringIndex(text, -1) {
		w := part{text[m[0]:m[1]], m[0]}
		if lower := strings.ToLower(w.text); lower != "of" && lower != "the" {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		p.fail(leading(text), `write for example "p99 tpot < 120ms"`, "there is no metric before the comparison")
		return
	}
	if s, ok := byName(plainName(join(words))); ok {
		o.Metric = s.name
		return
	}
	rest := p.takeStatistic(o, words)
	if len(rest) == 0 {
		p.fail(words[0].at+len(words[0].text), `write for example "p99 tpot < 120ms"`, "there is no metric after %s", o.Stat)
		return
	}
	if s, ok := p.lookup(join(rest), rest[0].at); ok {
		o.Metric = s.name
	}
}

func join(words []part) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, "_")
}

// takeStatistic takes the statistic off the words and returns the others.
func (p *parser) takeStatistic(o *Objective, words []part) []part {
	last := len(words) - 1
	if name, x, ok := statistic(words[0].text); ok {
		o.Stat, o.Percentile = name, x
		return words[1:]
	}
	if m := ordinal().FindStringSubmatch(strings.ToLower(words[0].text)); m != nil && len(words) > 1 &&
		strings.EqualFold(words[1].text, "percentile") {
		if name, x, ok := statistic("p" + m[1]); ok {
			o.Stat, o.Percentile = name, x
			return words[2:]
		}
	}
	if name, x, ok := statistic(words[last].text); ok {
		o.Stat, o.Percentile = name, x
		return words[:last]
	}
	whole := strings.ToLower(join(words))
	for i, form := range []*regexp.Regexp{ahead(), behind()} {
		m := form.FindStringSubmatch(whole)
		if m == nil {
			continue
		}
		stat, rest := m[1+i], m[2-i]
		if name, x, ok := statistic(stat); ok {
			o.Stat, o.Percentile = name, x
			return []part{{rest, words[0].at}}
		}
	}
	return words
}
