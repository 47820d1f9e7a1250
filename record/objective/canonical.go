package objective

import "strings"

// canonical is the objective in its normal form.
func (o Objective) canonical() string {
	s := o.subject()
	limit := written(o.Limit, s.unit)
	if o.Criterion {
		text := strings.ReplaceAll(limit, " ", "")
		return o.Metric + ":" + strings.TrimSuffix(strings.TrimSuffix(text, "tok/s"), "usd")
	}
	text := strings.ReplaceAll(o.Metric, "_", " ")
	if s.class != ofRatio {
		text = o.Metric
	}
	if o.Stat != "" {
		text = o.Stat + " " + text
	}
	if o.WithinOp != "" {
		text += " " + o.WithinOp + " " + written(o.Within, duration)
	}
	text += " " + o.Op + " " + limit
	if o.Valid != "" {
		text += " valid: " + o.Valid
	}
	return text
}
