package foreign

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// openSLO is what other documents of a file are referred to for.
type openSLO struct{ indicators, policies map[string]node }

func (k *openSLO) learn(n node) {
	if n.text("apiVersion") != "openslo/v1" {
		return
	}
	name := n.text("metadata", "name")
	switch n.text("kind") {
	case "SLI":
		k.indicators[name] = n.at("spec")
	case "AlertPolicy", "AlertCondition":
		k.policies[n.text("kind")+"/"+name] = n.at("spec")
	}
}

// calendars are OpenSLO's calendar windows that are ours.
var calendars = map[string]string{"1d": "day", "1w": "week", "1M": "month", "1Q": "quarter", "1Y": "year", "7d": "week"}

// objectives reads an SLO, which may have several.
func (k *openSLO) objectives(n node) (all []Objective) {
	spec, name := n.at("spec"), n.text("metadata", "name")
	indicator := spec.at("indicator", "spec")
	if indicator.v == nil {
		if ref := spec.text("indicatorRef"); ref != "" {
			indicator = k.indicators[ref]
		}
	}
	list := spec.at("objectives").list()
	for i, one := range list {
		o := Objective{From: name, About: oneLine(spec.text("description"))}
		if len(list) > 1 {
			label := cmp.Or(one.text("displayName"), strconv.Itoa(i+1))
			o.From += "-" + label
		}
		if x, ok := one.number("target"); ok {
			o.Target = x
		} else if x, ok := one.number("targetPercent"); ok {
			o.Target = share(x)
		}
		k.window(&o, spec)
		whole := o.Target
		if method := spec.text("budgetingMethod"); method == "Timeslices" {
			if w, ok := rolling(one.text("timeSliceWindow")); ok {
				o.Slice = w
			} else {
				o.lose("its time slices have no length")
				o.Target = 0
			}
			if x, ok := one.number("timeSliceTarget"); ok {
				o.Target = x // what must be good of a slice: measured below
			}
		} else if method == "RatioTimeslices" {
			o.lose("budgets of averaged ratios (RatioTimeslices) have no counterpart: here counts are summed, then divided")
			o.Target = 0
		}
		k.measure(&o, indicator, one, spec.text("indicatorRef"))
		if o.Slice != "" {
			if o.Objective != "" && !strings.HasPrefix(o.Objective, "availability") {
				o.Objective = fmt.Sprintf("p%s %s", strconv.FormatFloat(100*o.Target, 'g', 12, 64), o.Objective)
			}
			o.Target = whole
		}
		k.alerts(&o, spec)
		all = append(all, o)
	}
	return all
}

func (k *openSLO) window(o *Objective, spec node) {
	windows := spec.at("timeWindow").list()
	if len(windows) == 0 {
		o.lose("it has no window: 28d is taken")
		o.Window = "28d"
		return
	}
	w := windows[0]
	length := w.text("duration")
	if w.text("isRolling") == "true" || !w.is("calendar") {
		if r, ok := rolling(length); ok {
			o.Window = r
			if strings.HasSuffix(length, "M") || strings.HasSuffix(length, "Q") || strings.HasSuffix(length, "Y") {
				o.lose("its rolling window of %s is taken as %s", length, r)
			}
			return
		}
	} else if c, ok := calendars[length]; ok {
		o.Calendar, o.Timezone = c, w.text("calendar", "timeZone")
		if start := w.text("calendar", "startTime"); start != "" && !strings.Contains(start, "00:00:00") || c == "week" {
			o.lose("its calendar begins at %s; ours begin at midnight, weeks on Monday", w.text("calendar", "startTime"))
		}
		return
	}
	o.lose("its window %q has no counterpart", length)
	o.Window, o.Target = "28d", 0
}

func (k *openSLO) measure(o *Objective, indicator, one node, ref string) {
	query := func(n node, path ...string) string {
		m := n.at(append(path, "metricSource", "spec")...)
		if q := m.text("query"); q != "" {
			return q
		}
		return m.text("promql")
	}
	ratio := indicator.at("ratioMetric")
	switch {
	case indicator.v == nil:
		o.lose("its indicator %s is not in this file", ref)
	case ratio.is("raw"):
		o.lose("its SLI is a ratio of the user's own (raw), which has no counterpart")
	case ratio.is("bad"):
		o.measured(query(ratio, "bad"), "")
	case ratio.is("good"):
		o.measured(query(ratio, "good"), "")
	case indicator.is("thresholdMetric"):
		o.lose("its indicator is a figure against a value (%s %s), of a query that has no counterpart: %s", one.text("op"), one.text("value"), oneLine(query(indicator, "thresholdMetric")))
	default:
		o.lose("its indicator has no counterpart")
	}
}

// alerts takes over conditions on burn rates.
func (k *openSLO) alerts(o *Objective, spec node) {
	policies := spec.at("alertPolicies").list()
	for _, p := range policies {
		policy := p.at("spec")
		if policy.v == nil {
			name := cmp.Or(p.text("alertPolicyRef"), p.string())
			if policy = k.policies["AlertPolicy/"+name]; policy.v == nil {
				o.lose("its alert policy %s is not in this file; ours alert by default", name)
				continue
			}
		}
		for _, c := range policy.at("conditions").list() {
			condition := c.at("spec")
			if condition.v == nil {
				condition = k.policies["AlertCondition/"+c.text("conditionRef")]
			}
			rate := condition.at("condition")
			factor, ok := rate.number("threshold")
			long, timed := rolling(rate.text("lookbackWindow"))
			if !ok || !timed || factor <= 0 || !strings.EqualFold(rate.text("kind"), "burnrate") {
				o.lose("an alert condition is no burn rate over a window, and is not taken over")
				continue
			}
			severity := "ticket"
			if condition.text("severity") == "page" {
				severity = "page"
			}
			o.Alerts = append(o.Alerts, Alert{Factor: factor, Long: long, Severity: severity})
		}
	}
	if len(policies) == 0 {
		o.NoAlerts = true
	}
}

// secondsOf is a duration in seconds.
func secondsOf(text string) (string, bool) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return "", false
	}
	return strconv.FormatFloat(d.Seconds(), 'g', 12, 64), true
}
