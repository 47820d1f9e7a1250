package method

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// ask is what a method wants of one run; the zero value of a field is no wish.
type ask struct {
	concurrency, requests int
	rate                  float64
	arrival               string
	duration              time.Duration
	ramp, cooldown, grace time.Duration
	warmup                int // requests; below 0 none
	input, output         string
	ignoreEOS             bool
	given                 bool // the rules want the user's own workload
}

// cell makes a point. What the user said goes before what the method asks for.
func (o *Options) cell(value float64, text string, a ask, settings ...result.Setting) sweep.Cell {
	return sweep.Cell{Value: value, Text: text, Settings: settings, Plan: o.plan(a)}
}

func (o *Options) plan(a ask) bench.Plan {
	p := o.Base
	p.Rate, p.Concurrency = a.rate, a.concurrency
	given(o, "arrival", &p.Arrival, a.arrival)
	o.extent(&p, a)
	given(o, "ramp", &p.Ramp, a.ramp)
	given(o, "cooldown", &p.Cooldown, a.cooldown)
	given(o, "grace", &p.Grace, a.grace)
	if a.warmup != 0 {
		given(o, "warm-up", &p.Warmup, bench.Warmup{Requests: max(a.warmup, 0), Off: a.warmup < 0})
	}
	switch {
	case a.given:
	case o.Base.Workload == nil && o.Base.Prompt == "":
		given(o, "input tokens", &p.InputTokens, a.input)
		given(o, "output tokens", &p.OutputTokens, a.output)
	default:
		o.depart("what is sent is the user's own")
	}
	if a.ignoreEOS && !p.IgnoreEOS {
		if p.IgnoreEOS = p.Client.API == nil || p.Client.API.IgnoresEOS(); !p.IgnoreEOS {
			o.depart("answers may end before the asked length: %s has no field against it", p.Client.API.Name)
		}
	}
	if p.UntilPrecision > 0 {
		o.depart("a run ends early once its medians are known to within %g %%", 100*p.UntilPrecision)
	}
	if p.Prefills > 0 {
		o.depart("requests that wait for their first token at once: at most %d", p.Prefills)
	}
	p.KeepGoing = true
	p.AllowLowN = true
	return p
}

// extent says when a run is over: as the user said, or else the method. The two do not
// mix: what the method asks for would cut short what the user did.
func (o *Options) extent(p *bench.Plan, a ask) {
	own, wish := extentWords(p.Requests, p.Duration), extentWords(a.requests, a.duration)
	switch own {
	case "":
		p.Requests, p.Duration = a.requests, a.duration
	case wish:
	default:
		o.depart("%s instead of %s", own, wish)
	}
}

func extentWords(requests int, duration time.Duration) string {
	var words []string
	if requests > 0 {
		words = append(words, metric.Plural(int64(requests), "request"))
	}
	if duration > 0 {
		words = append(words, duration.String())
	}
	return strings.Join(words, " or ")
}

// given keeps what the user said and notes it; without it the method's wish is
// taken. It reports whether the user said anything.
func given[T comparable](o *Options, name string, into *T, wish T) bool {
	var zero T
	switch {
	case *into == zero:
		*into = wish
		return false
	case wish != zero && *into != wish:
		o.depart("%s %s instead of %s", name, inWords(*into), inWords(wish))
	}
	return true
}

func inWords(x any) string {
	w, ok := x.(bench.Warmup)
	switch {
	case !ok:
		return fmt.Sprint(x)
	case w.Off:
		return "none"
	}
	return extentWords(w.Requests, w.Duration)
}

// body makes each request say so of a field; what the user says of it goes before.
func (o *Options) body(cells []sweep.Cell, name string, value any) {
	if _, given := o.Base.Extra[name]; given {
		o.depart("a %s of the user's own", name)
		return
	}
	for i := range cells {
		p := &cells[i].Plan
		if p.Extra = maps.Clone(p.Extra); p.Extra == nil {
			p.Extra = map[string]any{}
		}
		p.Extra[name] = value
	}
}

// depart notes how the rules were not followed, once.
func (o *Options) depart(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(o.departs, text) {
		o.departs = append(o.departs, text)
	}
}

// list is the user's list of a variable, or the method's.
func (o *Options) list(variable string, wish ...float64) []float64 {
	if l := o.Lists[variable]; len(l) > 0 {
		return l
	}
	single := map[string]string{sweep.InputTokens: o.Base.InputTokens, sweep.OutputTokens: o.Base.OutputTokens, sweep.Concurrency: strconv.Itoa(o.Base.Concurrency)}[variable]
	if x, err := strconv.ParseFloat(single, 64); err == nil && x > 0 {
		return []float64{x}
	}
	return wish
}

// fixed leaves lists of the user to the method, which sets each value itself.
func (o *Options) fixed(names ...string) {
	for _, n := range names {
		switch n {
		case sweep.InputTokens:
			o.Base.InputTokens = ""
		case sweep.OutputTokens:
			o.Base.OutputTokens = ""
		case sweep.Concurrency:
			o.Base.Concurrency = 0
		}
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

type opt = timeline.Opt[float64]

func some(x float64) opt { return timeline.Some(x) }

// ratio is a / b; empty where b is 0.
func ratio(a, b float64) opt {
	if b > 0 {
		return some(a / b)
	}
	return opt{}
}

// ratioOf is a / b; empty where one of them is, or b is 0.
func ratioOf(a, b opt) opt {
	x, ok := a.Get()
	y, has := b.Get()
	if !ok || !has {
		return opt{}
	}
	return ratio(x, y)
}

func asFloat(n timeline.Opt[int64]) opt {
	if v, ok := n.Get(); ok {
		return some(float64(v))
	}
	return opt{}
}

func scaled(x opt, by float64) opt {
	if v, ok := x.Get(); ok {
		return some(v * by)
	}
	return opt{}
}

// inverse is k / x.
func inverse(x opt, k float64) opt { return ratioOf(some(k), x) }

// plus is a + b; empty where one of them is.
func plus(a, b opt) opt {
	x, ok := a.Get()
	y, has := b.Get()
	if !ok || !has {
		return opt{}
	}
	return some(x + y)
}

// cellOf is a figure with so many decimals.
func cellOf(x opt, decimals int) result.MethodCell {
	if v, ok := x.Get(); ok {
		return result.MethodCell{Text: strconv.FormatFloat(v, 'f', decimals, 64), Value: x}
	}
	return result.MethodCell{Text: "–"}
}

func word(text string) result.MethodCell { return result.MethodCell{Text: text} }

func field(out *result.Method, name, unit string, value opt, note string) {
	out.Fields = append(out.Fields, result.MethodField{Name: name, Unit: unit, Value: value, Note: note})
}
