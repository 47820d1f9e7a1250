//go:build !lean

package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Merged describes the run that several make together: of one workload and one model,
// each from a machine of its own. It is an error, which names the difference, if they
// did not send the same. How their clocks lie to each other is noticed; figures are
// computed from the requests alone.
func Merged(folders []*Folder) (Run, error) {
	if len(folders) < 2 {
		return Run{}, errors.New("name two runs or more")
	}
	first := folders[0].Run()
	m := first
	m.ID, m.MonotonicZeroNS, m.Noticed, m.Parts = "", 0, nil, nil
	m.ServerMetrics, m.Control = nil, nil // each machine's are of a time of its own
	m.Tags = map[string]string{"merged": fmt.Sprint(len(folders))}
	last := m.end()
	var offsets, urls []string
	var loads []*Load
	began := earliest(folders)
	var counted Counted
	for i, f := range folders {
		r := f.Run()
		if twice, _ := counted.Add(&r, f.Dir()); twice != "" {
			return Run{}, fmt.Errorf("%s has requests of %s, which was named before: they would count twice", f.Dir(), twice)
		}
		m.Parts = append(append(m.Parts, r.ID), r.Parts...)
		for _, err := range f.Timelines() { // what is damaged is known before anything is replaced
			if err != nil {
				return Run{}, err
			}
		}
		if r.Told != nil {
			return Run{}, fmt.Errorf("%s has another tool's figures of a whole run and no request to merge", f.Dir())
		}
		if r.Undated {
			return Run{}, fmt.Errorf("%s was imported from a file that doesn't tell when its requests were sent, so that nobody knows how they lie to the others", f.Dir())
		}
		if r.Partial && r.Finished == nil { // its requests alone can't say that they were measured well
			return Run{}, fmt.Errorf("%s goes on, or its process was ended before it wrote how it measured: it would make a run of which nobody knows whether it is valid look like one of which that is known", f.Dir())
		}
		if f.damaged != "" {
			return Run{}, fmt.Errorf("%s would lend its damage to a run that looks whole: %s", f.Dir(), f.damaged)
		}
		if f.Len() == 0 && r.Requests.Total > 0 {
			return Run{}, fmt.Errorf("%s has no record of any request, only %s: copy the whole folder from where it was measured", f.Dir(), manifestFile)
		}
		if i > 0 {
			if d := differences(&m, &r); len(d) > 0 {
				return Run{}, fmt.Errorf("%s did not do what %s did: %s", f.Dir(), folders[0].Dir(), strings.Join(d, "; "))
			}
			m.Partial = m.Partial || r.Partial
		}
		loads = append(loads, &r.Load)
		if from := r.Tags["imported"]; from != "" { // by which it is known that not all is told
			m.Tags["imported"] = from
		}
		if url := r.Target.URL; url != "" && !slices.Contains(urls, url) {
			urls = append(urls, url)
		}
		if r.end().After(last) {
			last = r.end()
		}
		offsets = append(offsets, fmt.Sprintf("%s began after %.3f s", f.Dir(), r.Started.Sub(began).Seconds()))
		if r.Started.After(first.end()) || first.Started.After(r.end()) {
			m.Noticed = append(m.Noticed, metric.Warning{Name: "no_overlap", Says: fmt.Sprintf("by their clocks %s and %s did not run at the same time: rates are over the gap between them too", folders[0].Dir(), f.Dir())})
		}
		if worse(r.Validity.Verdict, m.Validity.Verdict) { // one machine that could not keep up spoils the whole
			m.Validity, m.Client, m.Environment = r.Validity, r.Client, r.Environment
		}
	}
	if len(urls) > 1 { // each machine may know the server by a name of its own
		m.Noticed = append(m.Noticed, metric.Warning{Name: "merged_targets", Says: fmt.Sprintf("the runs loaded %s: rates and latencies are of all these together, unless they are one server", strings.Join(urls, ", "))})
	}
	if v := m.Validity.Verdict; v != "" && v != first.Validity.Verdict {
		m.Noticed = append(m.Noticed, metric.Warning{Name: "merged_validity", Says: fmt.Sprintf("the worst of the runs alone is %s, and its machine is judged here", v)})
	}
	m.Load = together(loads)
	m.Client.OfferedPerS = timeline.Opt[float64]{} // what all offered is told by when their requests were due
	m.Workload.sentTogether(folders)
	m.Started, m.Finished = began, &last
	m.Noticed = append(m.Noticed, metric.Warning{Name: "merged", Says: "put together by the machines' wall clocks: " + strings.Join(offsets, ", ") + ". A clock that is wrong shifts rates and concurrency, not latencies"})
	return m, nil
}

// sentTogether is what the workloads of merged runs sent: prompts that are all different add
// up, lengths are means of all requests. What one doesn't tell is not known of all.
func (w *Workload) sentTogether(folders []*Folder) {
	salts := map[string]bool{}
	var unique timeline.Opt[int64]
	var asked, own timeline.Opt[float64]
	var requests int64
	for i, f := range folders {
		r := f.Run()
		salts[r.Workload.Salt] = true
		n := r.Requests.OK
		of := func(mean timeline.Opt[float64]) timeline.Opt[float64] {
			x, ok := mean.Get()
			return timeline.Maybe(x*float64(n), ok || n == 0)
		}
		if requests += n; i == 0 {
			unique, asked, own = r.Workload.UniquePrompts, of(r.Workload.AskedInput), of(r.Workload.UserInput)
			continue
		}
		unique, asked, own = plus(unique, r.Workload.UniquePrompts), plus(asked, of(r.Workload.AskedInput)), plus(own, of(r.Workload.UserInput))
	}
	if !w.PromptsMade || len(salts) < len(folders) { // those of one file, or of one salt, may be the same
		unique = timeline.Opt[int64]{}
	}
	mean := func(sum timeline.Opt[float64]) timeline.Opt[float64] {
		x, ok := sum.Get()
		return timeline.Maybe(x/float64(max(requests, 1)), ok && requests > 0)
	}
	w.UniquePrompts, w.AskedInput, w.UserInput = unique, mean(asked), mean(own)
}

// Counted knows runs whose requests were counted. The zero value knows none.
type Counted struct {
	by map[string]string // from where, by ID
}

// Add notes a run from a folder. twice is the folder of one that was added before and has
// requests of it: the same run, one that it was merged of or into, or one with the same
// part. whole: that one has all of them. "" where there is none, and the run is noted.
func (c *Counted) Add(r *Run, dir string) (twice string, whole bool) {
	ids := append([]string{r.ID}, r.Parts...)
	for i, id := range ids {
		if first, known := c.by[id]; known && id != "" {
			return first, i == 0
		}
	}
	if c.by == nil {
		c.by = map[string]string{}
	}
	for _, id := range ids {
		c.by[id] = dir
	}
	return "", false
}

// worse reports whether a verdict is a worse one than another.
func worse(a, b string) bool {
	order := []string{validity.Valid, validity.Suspect, validity.Unknown, validity.Invalid}
	return slices.Index(order, a) > slices.Index(order, b)
}

// AppendMerged writes the requests of all runs on the clock of the run that Merged
// describes. Sessions and tasks of different runs stay apart.
func AppendMerged(w *Writer, folders []*Folder) error {
	began := earliest(folders)
	request, worker := int64(0), 0
	for i, f := range folders {
		offset := f.Run().Started.Sub(began).Microseconds()
		own := func(name string) string {
			if name == "" {
				return ""
			}
			return fmt.Sprintf("%d/%s", i+1, name)
		}
		most := 0
		for tl, err := range f.Timelines() {
			if err != nil {
				return err
			}
			t := *tl
			t.Request, t.Worker = request, worker+tl.Worker
			t.DueUS, t.StartUS = tl.DueUS+offset, tl.StartUS+offset
			t.Session, t.Task, t.Parent = own(tl.Session), own(tl.Task), own(tl.Parent)
			request, most = request+1, max(most, tl.Worker)
			if err := w.Append(&t); err != nil {
				return err
			}
		}
		worker += most + 1
	}
	return nil
}

func earliest(folders []*Folder) time.Time {
	began := folders[0].Run().Started
	for _, f := range folders {
		if s := f.Run().Started; s.Before(began) {
			began = s
		}
	}
	return began
}

// end is when the run ended; where it has no end, when it began.
func (r *Run) end() time.Time {
	if r.Finished != nil {
		return *r.Finished
	}
	return r.Started
}

// differences are what keeps two runs from being one.
func differences(a, b *Run) (out []string) {
	bodies := func(r *Run) string {
		if !a.Workload.NoStream.OK() || !b.Workload.NoStream.OK() { // older folders don't tell them
			return ""
		}
		if r.Workload.NoStream.Or(false) {
			return r.Workload.Parameters + " answered whole"
		}
		return r.Workload.Parameters
	}
	for _, d := range []struct{ name, a, b string }{
		{"API", a.Target.API, b.Target.API},
		{"model", a.Target.Model, b.Target.Model},
		{"load", a.Load.Kind, b.Load.Kind},
		{"workload", a.Workload.Kind + " " + a.Workload.Name + " " + a.Workload.Source, b.Workload.Kind + " " + b.Workload.Name + " " + b.Workload.Source},
		{"input lengths", a.Workload.InputTokens, b.Workload.InputTokens},
		{"output lengths", a.Workload.OutputTokens, b.Workload.OutputTokens},
		{"users", cmp.Or(a.Workload.Users, b.Workload.Users), cmp.Or(b.Workload.Users, a.Workload.Users)}, // older folders don't tell them
		{"further fields of requests", bodies(a), bodies(b)},
		{"objectives", strings.Join(a.Objectives, ", "), strings.Join(b.Objectives, ", ")},
	} {
		if d.a != d.b {
			out = append(out, fmt.Sprintf("%s %q, not %q", d.name, strings.TrimSpace(d.b), strings.TrimSpace(d.a)))
		}
	}
	return out
}

// plus is unknown where a part is.
func plus[T int64 | float64](a, b timeline.Opt[T]) timeline.Opt[T] {
	x, ok := a.Get()
	y, too := b.Get()
	return timeline.Maybe(x+y, ok && too)
}
