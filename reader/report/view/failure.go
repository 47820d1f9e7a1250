package view

import (
	"fmt"
	"sort"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Failure is what went wrong with the requests that failed.
type Failure struct {
	Classes []ClassCount // most frequent first
	First   string       // the first failure's words
	Advice  string       // what to do about the most frequent class
}

// ClassCount is how many requests, N, ended in an outcome.
type ClassCount struct {
	Class timeline.Outcome
	N     int64
}

// FailureOf gathers the failed requests of a run; nil where there are none.
func FailureOf(r *run.Run) *Failure {
	if r.Requests.Failed == 0 {
		return nil
	}
	f := &Failure{}
	for _, class := range SortedKeys(r.Requests.ByClass) {
		if n := r.Requests.ByClass[class]; n > 0 && class.Failed() {
			f.Classes = append(f.Classes, ClassCount{class, n})
		}
	}
	sort.SliceStable(f.Classes, func(i, j int) bool { return f.Classes[i].N > f.Classes[j].N })
	if r.Requests.FirstError != nil {
		f.First = typeset.Short(*r.Requests.FirstError, 300)
	}
	if len(f.Classes) > 0 {
		f.Advice = metric.AdviceOn(f.Classes[0].Class).Next
	}
	return f
}

// failed is the line of the table.
func failed(r *run.Run) string {
	counted := r.Requests.Ended().Or(0)
	if counted == 0 {
		return typeset.Missing
	}
	text := fmt.Sprintf("%s of %s", typeset.Exact(r.Requests.Failed), typeset.Exact(counted))
	f := FailureOf(r)
	if f == nil {
		return text
	}
	text += " (" + typeset.Percent(float64(r.Requests.Failed)/float64(counted)) + ")"
	if len(f.Classes) > 0 {
		text += ": " + f.List()
	}
	return text
}

// List is how many requests failed in which way, most frequent first.
func (f *Failure) List() string {
	parts := make([]string, len(f.Classes))
	for i, c := range f.Classes {
		parts[i] = typeset.Exact(c.N) + " " + string(c.Class)
	}
	return strings.Join(parts, ", ")
}
