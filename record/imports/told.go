package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// told gathers the figures of a file that holds no request, only what its tool says
// of a whole run.
type told struct {
	in *Input
	at int64 // where the run begins in the file
	run.Told
	err error // the first figure that is none
}

func newTold(in *Input, at int64) *told {
	return &told{in: in, at: at, Told: run.Told{Metrics: map[string]metric.Dist{}}}
}

// object is a JSON object of a file, whatever is in it.
type object = map[string]any

// number is a figure of the object by its keys; absent where it has none or null. What
// is no number, or less than nothing, is the file's fault.
func (t *told) number(o object, path ...string) (v timeline.Opt[float64]) {
	var at any = o
	for _, key := range path {
		inner, _ := at.(object)
		at = inner[key]
	}
	switch x := at.(type) {
	case nil:
	case float64:
		v = t.sensible(x, path[len(path)-1])
	case int64:
		v = t.sensible(float64(x), path[len(path)-1])
	case uint64:
		v = t.sensible(float64(x), path[len(path)-1])
	case int:
		v = t.sensible(float64(x), path[len(path)-1])
	default:
		t.fail(path[len(path)-1], fmt.Sprintf("is %s, no number", kindOf(at)))
	}
	return v
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "an object"
}

func (t *told) sensible(v float64, name string) timeline.Opt[float64] {
	if !(v >= 0) || math.IsInf(v, 0) {
		t.fail(name, fmt.Sprintf("is %v, which nothing measured can be", v))
		return timeline.Opt[float64]{}
	}
	return timeline.Some(v)
}

// fail keeps the first fault, at the place where the name stands.
func (t *told) fail(name, says string) {
	if t.err != nil {
		return
	}
	at := t.at
	if i := bytes.Index(t.in.data[at:], []byte(name)); i >= 0 {
		at += int64(i)
	}
	t.err = t.in.at(at, fmt.Errorf("%s %s", name, says))
}

// stat notes a statistic of one of our metrics; scale turns it into our unit.
func (t *told) stat(metric, stat string, v timeline.Opt[float64], scale float64) {
	if !v.OK() {
		return
	}
	d := t.Metrics[metric]
	for _, f := range d.Figures() {
		if f.Name == stat {
			*f.Value = timeline.Some(v.Or(0) * scale)
		}
	}
	t.Metrics[metric] = d
}

// counted turns deviations that divide by n into ours, which divide by n − 1, and
// says how many values each distribution has. Where n is not told there is none.
func (t *told) counted(n timeline.Opt[int64]) {
	for name, d := range t.Metrics {
		if d.N == 0 {
			d.N = n.Or(0)
		}
		if sd, ok := d.SD.Get(); ok {
			d.SD = timeline.Opt[float64]{}
			if d.N > 1 {
				d.SD = timeline.Some(sd * math.Sqrt(float64(d.N)/float64(d.N-1)))
			}
		}
		t.Metrics[name] = d
	}
}

// whole is a figure that counts.
func (t *told) whole(v timeline.Opt[float64]) timeline.Opt[int64] {
	if x, ok := v.Get(); ok {
		return count(&x)
	}
	return timeline.Opt[int64]{}
}

// summed makes of two of the counts the third. listed is how many requests the file
// lists; 0 where it lists none.
func (t *told) summed(listed int64) {
	ok, has := t.OK.Get()
	if !t.Failed.OK() && has && listed >= ok && listed > 0 {
		t.Failed = timeline.Some(listed - ok)
	}
	if failed, known := t.Failed.Get(); has && known {
		t.Total = timeline.Some(ok + failed)
	}
}

// into ends the reading: the run with what was told of it.
func (t *told) into(m *run.Run) error {
	if t.err != nil {
		return t.err
	}
	if t.empty() {
		return t.in.at(t.at, errors.New("the file has none of the figures that its format has"))
	}
	for name, d := range t.Metrics {
		if err := ordered(name, &d); err != nil {
			return t.in.at(t.at, err)
		}
	}
	m.Told = &t.Told
	if rate := t.Throughput.RequestsPerS.Or(0); rate > 0 {
		n := float64(t.OK.Or(t.Total.Or(0)))
		exceeded(t.in, &m.Load, n, n/rate)
	}
	t.in.note("what is taken are the figures of a whole run: they are shown as they stand, by the other tool's definitions")
	return nil
}

// empty reports whether the file told nothing that was measured: what the load was and how
// long it lasted are no figures.
func (t *told) empty() bool {
	rates := t.Throughput.Rates()
	return len(t.Metrics) == 0 && !t.OK.OK() && !t.Total.OK() && !slices.ContainsFunc(rates[:], func(f metric.Figure) bool { return f.Name != "window_s" && f.Value.OK() })
}

// ordered is an error where percentiles fall, which no sample's do.
func ordered(name string, d *metric.Dist) error {
	last, of := -1.0, ""
	for _, stat := range []string{"min", "p50", "p90", "p95", "p99", "p999", "max"} {
		v, _ := d.Stat(stat)
		x, ok := v.Get()
		if !ok {
			continue
		}
		if x < last*(1-1e-6) {
			return fmt.Errorf("the %s of %s is below its %s", stat, name, of)
		}
		last, of = x, stat
	}
	return nil
}

// objects is runs of files in which anything may stand.
func objects(in *Input, read func(at int64, o *object) error) error {
	return runs(in, func(at int64, o *object) error {
		if at > mostFigures {
			return in.at(at, errFigures)
		}
		return read(at, o)
	})
}

// text is a text of the object; empty where it has none.
func text(o object, key string) string {
	s, _ := o[key].(string)
	return s
}

// naming joins what is there of a name.
func naming(parts ...string) string {
	var has []string
	for _, p := range parts {
		if p != "" && p != "<nil>" {
			has = append(has, p)
		}
	}
	return strings.Join(has, " ")
}

// jsonNumber reads a number out of a text of a table or log.
func jsonNumber(text string) (float64, bool) {
	var v float64
	err := json.Unmarshal([]byte(strings.TrimSpace(text)), &v)
	return v, err == nil
}
