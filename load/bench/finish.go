package bench

import "tokenmeter/record/timeline"

// finish adds to a record what needs the text of the answer, and drops the text
// where nobody asked to keep it.
func (r *runner) finish(j *job) {
	p, tl := r.plan, j.tl
	if tl.Outcome == timeline.OK && j.step.Check != nil {
		tl.CheckPassed = timeline.Some(j.step.Check.Passes(tl.Text))
	}
	if p.Norm != nil && r.textIsThere(tl) {
		tl.Norm = timeline.Some(int64(p.Norm.Count(tl.Thought) + p.Norm.Count(tl.Text) + p.Norm.Count(tl.Calls)))
		tl.NormBy = p.Norm.Name()
	}
	if p.Tokenizer != nil && r.textIsThere(tl) {
		tl.Tokenized = timeline.Some(int64(p.Tokenizer.Count(tl.Thought) + p.Tokenizer.Count(tl.Text) + p.Tokenizer.Count(tl.Calls)))
	}
	if !r.keepText {
		tl.Text, tl.Thought, tl.Calls = "", "", ""
	}
}

// textIsThere reports whether there is an answer to count.
func (r *runner) textIsThere(tl *timeline.Timeline) bool {
	return tl.Text != "" || tl.Thought != "" || tl.Calls != ""
}

// needsText reports whether answers have to be kept until they have ended.
func (p *Plan) needsText() bool {
	return p.Norm != nil || p.Tokenizer != nil || p.ReadsAnswers
}
