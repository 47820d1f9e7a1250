package bench

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"

	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// maxDrift is how far the server's count of input tokens may be from the asked
// length before a run makes no sense.
const maxDrift = 0.05

// tries is how many prompts lengths are judged by at most where the first ones miss.
const tries = 8

// probes is how many short prompts tell what a template adds.
const probes = 2

// paceWords is how many words at least tell how many tokens a word has on average,
// where that differs by word: with a spread of a third, to 2 %. More are sent until
// texts that differ more tell it as well, or as many texts as this were counted.
const paceWords, paceError, mostPaced = 384, 0.02, 16

// leastProbe and mostProbe bound the words of a text that is sent to be counted. Between
// them it is as long as the load's own: how a text begins is counted otherwise than the
// rest of it, and has more of a short one.
const leastProbe, mostProbe = 64, 512

// lengths is what the warm-up taught about lengths.
type lengths struct {
	overhead    timeline.Opt[float64] // tokens that the server's template adds to a request
	compensated float64               // of these, left out of our text
}

// calibrate corrects the number of words a prompt when the server counts them
// otherwise, and makes sure, with one more request, that it helped. What a chat
// template adds is measured and reported, and only made up for when that was
// asked. Lengths that were asked for and can't be had are an error.
func (r *runner) calibrate(ctx context.Context, ph *phase, answers []warmAnswer) error {
	made, isMade := r.work.(workload.Calibrated)
	if !isMade {
		return nil
	}
	switch {
	case !anyOK(answers) || len(made.Corpora()) == 0:
	case wordForToken(answers):
		r.lengths.overhead = timeline.Some(0.)
	default:
		if err := r.template(ctx, ph); err != nil {
			return err
		}
	}
	for _, corpus := range made.Corpora() {
		if anyOK(answers) && !slices.Contains(corporaOf(answers), corpus) || !anyOK(answers) && r.tooLong() {
			more, err := r.unmet(ctx, ph, made, corpus)
			if err != nil {
				return err
			}
			answers = append(answers, more...)
		}
	}
	for _, corpus := range corporaOf(answers) {
		if err := r.fit(ctx, ph, made, corpus, &answers); err != nil {
			return err
		}
	}
	d, err := r.judged(ctx, ph, &answers)
	switch {
	case err != nil:
		return err
	case !d.far:
		return nil
	case r.plan.AllowISLDrift || r.plan.defaultInput:
		r.log.warn("%s", d.says)
		return nil
	}
	return &TargetError{URL: r.plan.Client.BaseURL, What: d.says,
		Hint: "the lengths would mean nothing; name the server's tokenizer with --tokenizer, give real prompts with --prompts, or go on with --allow-isl-drift"}
}

// fitTrace learns how the server counts the texts that are made for a trace. It
// sends none of the trace's own prompts: a prefix cache would know them then.
func (r *runner) fitTrace(ctx context.Context) error {
	made, isMade := r.work.(workload.Calibrated)
	if !isMade || !r.plan.CompensateTemplate && !toFit(r.work) {
		return nil
	}
	ph, end := r.begin(ctx, timeline.Warmup)
	defer end()
	if err := r.template(ctx, ph); err != nil {
		return err
	}
	for _, corpus := range made.Corpora() {
		var c workload.Calibration
		if !made.Exact(corpus) {
			answers, err := r.unmet(ctx, ph, made, corpus)
			if err != nil {
				return err
			}
			if found, ok := r.pace(observed(answers, corpus)); ok {
				c = found
			}
		}
		r.settle(made, corpus, r.compensated(c))
	}
	return nil
}

// wordForToken reports whether a server counted each prompt's words and nothing
// else, so that it adds nothing.
func wordForToken(answers []warmAnswer) bool {
	n := 0
	for _, a := range answers {
		if a.succeeded && a.words > 0 {
			n++
			if a.input != int64(a.words) {
				return false
			}
		}
	}
	return n > 0
}

// template measures what the server adds to every request.
func (r *runner) template(ctx context.Context, ph *phase) error {
	var counts [probes]int64
	for k := range counts {
		answers, err := r.ask(ctx, ph, func(int64) workload.Item { return workload.Letters(-r.warm.Add(1), k+1) }, 1)
		if err != nil {
			return err
		}
		for _, a := range answers {
			counts[k] = a.input
		}
	}
	if overhead, ok := workload.Template(counts[0], counts[1]); ok {
		r.lengths.overhead = timeline.Some(overhead)
	}
	return nil
}

// compensated is a calibration that leaves room for the template, where that was
// asked for.
func (r *runner) compensated(c workload.Calibration) workload.Calibration {
	if r.plan.CompensateTemplate {
		c.Overhead = r.lengths.overhead.Or(0)
	}
	return c
}

// settle makes a calibration that of a corpus, and says so.
func (r *runner) settle(made workload.Calibrated, corpus string, c workload.Calibration) {
	made.Calibrate(corpus, c)
	r.lengths.compensated = c.Overhead
	if c.PerWord > 0 {
		r.log.notice("prompts_fitted", timeline.Some(c.PerWord),
			"The server counts %.3g tokens a word: prompts were fitted to the asked lengths.", c.PerWord)
	}
	if !r.plan.CompensateTemplate {
		return
	}
	switch overhead, ok := r.lengths.overhead.Get(); {
	case c.Overhead > 0:
		r.log.notice("template_compensated", timeline.Some(c.Overhead),
			"The server adds %.0f tokens to each request, by its chat template: prompts were made shorter by them, but none shorter than a word.", c.Overhead)
	case ok && overhead == 0:
		r.log.notice("template_compensated", timeline.Some(overhead), "The server adds no tokens to a request: no prompt had to be made shorter.")
	}
}

// pace finds how the server counts words.
func (r *runner) pace(seen []workload.Observed) (workload.Calibration, bool) {
	if overhead, ok := r.lengths.overhead.Get(); ok {
		return workload.Pace(seen, overhead)
	}
	return workload.Fit(seen)
}

// toFit reports whether a workload makes prompts whose lengths only the server's
// own count can tell.
func toFit(work workload.Workload) bool {
	made, ok := work.(workload.Calibrated)
	return ok && slices.ContainsFunc(made.Corpora(), func(corpus string) bool { return !made.Exact(corpus) })
}

// unmet sends prompts of two lengths of a corpus that the warm-up did not send.
func (r *runner) unmet(ctx context.Context, ph *phase, made workload.Calibrated, corpus string) (answers []warmAnswer, err error) {
	for _, units := range []int{leastProbe, 4 * leastProbe} {
		more, err := r.ask(ctx, ph, func(int64) workload.Item { return made.Probe(corpus, -r.warm.Add(1), units) }, 1)
		if err != nil {
			return nil, err
		}
		answers = append(answers, more...)
	}
	return answers, nil
}

// tooLong reports whether the server may have refused the warm-up for its length: a
// prompt of so many words may be several times as many of its tokens.
func (r *runner) tooLong() bool {
	switch r.rec.of(timeline.Warmup).firstStatus {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return true
	}
	return false
}

func anyOK(answers []warmAnswer) bool {
	return slices.ContainsFunc(answers, func(a warmAnswer) bool { return a.succeeded })
}

// fit learns how the server counts one corpus.
func (r *runner) fit(ctx context.Context, ph *phase, made workload.Calibrated, corpus string, answers *[]warmAnswer) error {
	var c workload.Calibration
	if !made.Exact(corpus) {
		var err error
		if c, err = r.paced(ctx, ph, made, corpus, *answers); err != nil {
			return err
		}
	}
	fits := c.PerWord > 0
	if c = r.compensated(c); !fits && c.Overhead == 0 {
		r.settle(made, corpus, c)
		return nil
	}
	was := r.drifted(of(*answers, corpus))
	made.Calibrate(corpus, c)
	r.lengths.compensated = c.Overhead
	again, err := r.ask(ctx, ph, r.warmFirst, 1)
	if err != nil {
		return err
	}
	if _, err := r.judged(ctx, ph, &again); err != nil {
		return err
	}
	// Prompts with parts that the server alone can count (pictures, a system's text) tell
	// nothing: then the pace is believed, as that of a trace is.
	is := r.drifted(of(again, corpus))
	if fits && is.n > 0 && math.Abs(is.off) > max(maxDrift, math.Abs(was.off)/2) {
		c.PerWord = 0 // it did not help
	} else {
		others := slices.DeleteFunc(*answers, func(a warmAnswer) bool { return a.corpus == corpus })
		*answers = append(others, again...)
	}
	r.settle(made, corpus, c)
	return nil
}

// judged tells how lengths miss, and asks for more of them where the first miss and few
// prompts can't tell: one is no measure of all where words differ.
func (r *runner) judged(ctx context.Context, ph *phase, answers *[]warmAnswer) (drifted, error) {
	d := r.drifted(*answers)
	if more := tries - d.n; d.n > 0 && more > 0 && math.Abs(d.off) > maxDrift && !d.far {
		asked, err := r.ask(ctx, ph, r.warmFirst, more)
		if err != nil {
			return d, err
		}
		*answers = append(*answers, asked...)
		d = r.drifted(*answers)
	}
	return d, nil
}

// of returns the answers to prompts of a corpus.
func of(answers []warmAnswer, corpus string) (some []warmAnswer) {
	for _, a := range answers {
		if a.corpus == corpus {
			some = append(some, a)
		}
	}
	return some
}

// paced finds how many tokens a word of a corpus has, on as many words as that takes
// where it is not one.
func (r *runner) paced(ctx context.Context, ph *phase, made workload.Calibrated, corpus string, answers []warmAnswer) (workload.Calibration, error) {
	seen := observed(answers, corpus)
	c, ok := r.pace(seen)
	for ok && !r.paceKnown(seen) {
		words := min(max(total(seen)/len(seen), leastProbe), mostProbe)
		more, err := r.ask(ctx, ph, func(int64) workload.Item { return made.Probe(corpus, -r.warm.Add(1), words) }, 1)
		if err != nil {
			return c, err
		}
		told := observed(more, corpus)
		if len(told) == 0 {
			break // it failed, or was not counted
		}
		seen = append(seen, told...)
		c, ok = r.pace(seen)
	}
	return c, nil
}

// paceKnown reports whether prompts tell the pace well enough, or as well as is worth it.
// The error is that of a ratio of sums, told by how texts differ from each other.
func (r *runner) paceKnown(seen []workload.Observed) bool {
	if total(seen) < paceWords || len(seen) < 3 {
		return false
	}
	if len(seen) >= mostPaced {
		return true
	}
	var parts []stat.Pair
	for _, o := range seen {
		parts = append(parts, stat.Pair{Num: float64(o.Tokens) - r.lengths.overhead.Or(0), Den: float64(o.Words)})
	}
	ratio, ok := stat.RatioOf(parts)
	return !ok || math.Sqrt(ratio.Var) <= paceError*ratio.Value
}

func total(seen []workload.Observed) (words int) {
	for _, o := range seen {
		words += o.Words
	}
	return words
}

// ask sends so many requests, at once as far as the load does, and waits for their answers.
func (r *runner) ask(ctx context.Context, ph *phase, item items, n int) ([]warmAnswer, error) {
	r.closed(ph, schedule.Closed{Concurrency: min(n, max(r.plan.Concurrency, 1)), Requests: int64(n)}, item, 1)
	return r.rec.warmed(), r.ended(ctx, ph)
}

// corporaOf lists what the prompts of the answers were made of.
func corporaOf(answers []warmAnswer) (names []string) {
	for _, a := range answers {
		if a.words > 0 && !slices.Contains(names, a.corpus) {
			names = append(names, a.corpus)
		}
	}
	return names
}

// drifted is by which share counted input lengths miss the asked ones.
type drifted struct {
	n    int     // answers that tell
	off  float64 // of their means
	far  bool    // off is beyond maxDrift with all of its 95 % interval, which one answer has none of
	says string
}

// drifted tells by which share the counted input lengths miss the asked ones.
func (r *runner) drifted(answers []warmAnswer) (d drifted) {
	var asked, counted float64
	var parts []stat.Pair
	for _, a := range answers {
		if a.succeeded && a.asked > 0 && a.input > 0 && a.words > 0 {
			d.n++
			asked += float64(a.asked)
			counted += float64(a.input)
			parts = append(parts, stat.Pair{Num: float64(a.input), Den: float64(a.asked) + r.added().Or(0)})
		}
	}
	if d.n == 0 {
		return d
	}
	asked, counted = asked/float64(d.n), counted/float64(d.n)
	d.off = workload.Off(asked, counted, r.added())
	if ratio, ok := stat.RatioOf(parts); ok && d.n > 1 {
		half := stat.StudentQuantile(0.975, float64(d.n-1)) * math.Sqrt(ratio.Var)
		d.far = math.Abs(d.off)-half > maxDrift
	}
	template := r.added().Or(0)
	d.says = fmt.Sprintf("the server counts %.0f input tokens where %s (%+.1f %%)", counted, metric.AskedWords(asked+template, template), 100*d.off)
	return d
}

// added is what the server adds to the lengths that were asked for, which is
// nothing where it was made up for; null where it was not measured.
func (r *runner) added() timeline.Opt[float64] {
	overhead, ok := r.lengths.overhead.Get()
	if !ok {
		return timeline.Opt[float64]{}
	}
	return timeline.Some(overhead - r.lengths.compensated)
}

func observed(answers []warmAnswer, corpus string) (seen []workload.Observed) {
	for _, a := range answers {
		if a.succeeded && a.corpus == corpus && a.words > 0 {
			seen = append(seen, workload.Observed{Words: a.words, Tokens: a.input})
		}
	}
	return seen
}
