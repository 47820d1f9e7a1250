package bench

import (
	"tokenmeter/load/workload"
	"tokenmeter/record/timeline"
)

// finish adds to a record what needs the text of the answer, and drops the text
// where nobody asked to keep it.
func (r *runner) finish(j *job) {
	p, tl := r.plan, j.tl
	if tl.Outcome == timeline.OK && j.step.Check != nil && r.reads {
		tl.CheckPassed = timeline.Some(j.step.Check.Passes(tl.Text))
	}
	if p.Norm != nil && r.textIsThere(tl) {
		tl.Norm = r.count(p.Norm, tl)
		tl.NormBy = p.Norm.Name()
	}
	if p.Tokenizer != nil && r.textIsThere(tl) {
		tl.Tokenized = r.count(p.Tokenizer, tl)
	}
	if !r.keepText {
		tl.Text, tl.Thought, tl.Calls = "", "", ""
	}
}

// count is how many tokens a tokenizer sees in an answer. Where it gives up, it
// is absent and the run says so.
func (r *runner) count(by workload.Tokenizer, tl *timeline.Timeline) (n timeline.Opt[int64]) {
	counted, err := workload.CountAnswer(by, tl)
	if err != nil {
		r.log.notice("not_tokenized", timeline.Opt[float64]{}, "%v", err)
		return n
	}
	return timeline.Some(counted)
}

// textIsThere reports whether there is an answer to count.
func (r *runner) textIsThere(tl *timeline.Timeline) bool {
	return tl.Text != "" || tl.Thought != "" || tl.Calls != ""
}
