package report

import (
	"fmt"
	"sort"
	"strings"

	"tokenmeter/reader/report/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// failure is what went wrong with the requests that failed.
type failure struct {
	classes []classCount // most frequent first
	first   string       // the first failure's words
	advice  string       // what to do about the most frequent class
	all     bool         // nothing succeeded
}

type classCount struct {
	class timeline.Outcome
	n     int64
}

func failureOf(r *run.Run) *failure {
	if r.Requests.Failed == 0 {
		return nil
	}
	f := &failure{all: r.Requests.OK == 0}
	for _, class := range sortedKeys(r.Requests.ByClass) {
		if n := r.Requests.ByClass[class]; n > 0 && class.Failed() {
			f.classes = append(f.classes, classCount{class, n})
		}
	}
	sort.SliceStable(f.classes, func(i, j int) bool {
		a, b := &f.classes[i], &f.classes[j]
		return a.n > b.n
	})
	if r.Requests.FirstError != nil {
		f.first = typeset.Short(*r.Requests.FirstError, 300)
	}
	if len(f.classes) > 0 {
		f.advice = metric.AdviceOn(f.classes[0].class).Next
	}
	return f
}

// failed is the line of the table.
func failed(r *run.Run) string {
	counted := r.Requests.OK + r.Requests.Failed
	if counted == 0 {
		return typeset.Missing
	}
	text := fmt.Sprintf("%s of %s", typeset.Exact(r.Requests.Failed), typeset.Exact(counted))
	f := failureOf(r)
	if f == nil {
		return text
	}
	text += " (" + typeset.Percent(float64(r.Requests.Failed)/float64(counted)) + ")"
	if len(f.classes) > 0 {
		text += ": " + f.list()
	}
	return text
}

func (f *failure) list() string {
	parts := make([]string, len(f.classes))
	for i, c := range f.classes {
		parts[i] = typeset.Exact(c.n) + " " + string(c.class)
	}
	return strings.Join(parts, ", ")
}
