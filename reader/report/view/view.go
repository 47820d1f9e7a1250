package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// View is a run in words and figures, before a form is given to it. Every form
// shows this view, so that they agree.
type View struct {
	Verdict    string   // VALID | SUSPECT | INVALID | NOT JUDGED
	Judged     string   // what became of the objectives
	Size       string   // "600 requests, 133 s"
	Sentences  []string // what a stranger needs to know
	Objectives []ObjectiveLine
	Rows       []Row
	Notes      []string // why a row has no values
	Facts      []Fact   // throughput, goodput, failures
	Failure    *Failure // nil without failed requests
	Checks     []Check
	Warnings   []string
	Trust      string
	Next       string
	Offer      string // an objective for who has none
	What       string // the run in one line: model, target, load
}

// Fact is a labelled line of the table, such as "TTFT" and its figures.
type Fact struct{ Label, Text string }

// Facts are such lines.
type Facts []Fact

// Add adds one, where there is something to say.
func (f *Facts) Add(label, text string) {
	if text != "" {
		*f = append(*f, Fact{label, typeset.Clean(text)})
	}
}

// longest is where text from elsewhere is cut in the table; the page of a run
// has it in full.
const longest = 400

// New puts a run into words and figures.
func New(r *run.Run) *View {
	v := &View{Verdict: verdict(r), Size: size(r)}
	v.Objectives, v.Judged = objectiveLines(r)
	v.Rows, v.Notes = rows(r)
	if slices.ContainsFunc(v.Rows, Row.short) {
		v.Notes = append(v.Notes, "needs 2×: for an interval the run would have to be about twice as long")
	}
	doubted := false
	for i := range v.Rows {
		if r.Validity.Of(v.Rows[i].Key) == validity.Invalid {
			doubted = v.Rows[i].doubt() || doubted
		}
	}
	if doubted {
		v.Notes = append(v.Notes, "? the measurement is invalid: do not rely on the figure")
	}
	v.Failure = FailureOf(r)
	v.Sentences = sentences(r, v)
	v.Facts = facts(r)
	v.Checks = CheckLines(r)
	v.Trust = trust(r)
	v.Next = next(r)
	v.Offer = offer(r)
	v.Warnings = warnings(r, v)
	v.What = what(r)
	return v
}

// warnings leaves out what a failing check or the next step says already.
func warnings(r *run.Run, v *View) []string {
	said := map[string]bool{"low_n": strings.HasPrefix(v.Next, "p99 of ")}
	for _, c := range v.Checks {
		said[c.Name] = true
	}
	var list []string
	for _, w := range r.Warnings {
		if !said[w.Name] {
			list = append(list, typeset.Short(w.Says, longest))
		}
	}
	return list
}

// The verdicts on a measurement as the report's first word.
const (
	Valid     = "VALID"
	Suspect   = "SUSPECT"
	Invalid   = "INVALID"
	Unknown   = "UNKNOWN"
	notJudged = "NOT JUDGED"
)

func verdict(r *run.Run) string {
	return cmp.Or(map[string]string{"valid": Valid, "suspect": Suspect, "invalid": Invalid, "unknown": Unknown}[r.Validity.Verdict], notJudged)
}

// size says how much was measured.
func size(r *run.Run) string {
	text := typeset.Plural(r.Requests.Total, "request")
	if ok := r.Requests.OK; r.Requests.Untold.Total {
		text = typeset.Plural(ok, "answered request")
		if r.Requests.Untold.OK {
			text = "number of requests unknown"
		}
	}
	if unsent := r.Requests.Unsent(); unsent > 0 {
		text = fmt.Sprintf("%s of %s sent", typeset.Exact(r.Requests.Total-unsent), typeset.Plural(r.Requests.Total, "request"))
	}
	if s, ok := r.Throughput.WindowS.Get(); ok {
		text += ", " + typeset.Span(s*1e3, typeset.Digits{})
	}
	return text
}

// what is the run in one line.
func what(r *run.Run) string {
	parts := []string{}
	if r.Target.Model != "" {
		parts = append(parts, typeset.Short(r.Target.Model, 120))
	}
	if r.Target.URL != "" {
		parts = append(parts, "at "+typeset.Short(r.Target.URL, 160))
	}
	text := strings.Join(parts, " ")
	if load := r.Load.Line(); load != "" {
		text += ", " + load
	}
	return strings.TrimPrefix(text, ", ")
}

// facts are the lines of the table that are no latencies.
func facts(r *run.Run) []Fact {
	var list Facts
	add := list.Add
	add("server", server(r))
	add("lengths", lengths(r))
	add("words", wordsRead(r))
	add("goodput", goodput(r))
	itemFacts(r, add)
	add("cost", costWords(r))
	add("stalls", Stalls(r))
	add("playback", playback(r))
	add("of E2E", split(r))
	add("of TTFT", ofTTFT(r))
	add("network", networkWords(r))
	add("engine", serverSide(r))
	add("control", controlWords(r))
	add("GPUs", gpuSide(r))
	add("roofline", rooflineWords(r))
	add("failed", failed(r))
	add("left out", leftOut(r))
	return list
}

// Stalls says how often readers saw an answer stand still, which no percentile
// of the pace shows; empty where none did.
func Stalls(r *run.Run) string {
	n, longest := r.Metrics["stalls"], r.Metrics["max_gap_ms"]
	pauses := int64(math.Round(n.Mean.Or(0) * float64(n.N)))
	ms, known := longest.Max.Get()
	if pauses == 0 || !known {
		return ""
	}
	return fmt.Sprintf("%s in %s, the longest of %s", typeset.Plural(pauses, "pause"), typeset.Plural(n.N, "request"), typeset.Span(ms, typeset.Digits{}))
}

// playback says how often a player that begins with the first sound waits for more.
func playback(r *run.Run) string {
	d, waited := r.Metrics["starvations"], r.Metrics["starved_ms"]
	longest, ok := waited.Max.Get()
	if !ok {
		return ""
	}
	if longest == 0 {
		return "never starves, even if it begins with the first sound"
	}
	return fmt.Sprintf("%s in %s; never, if it begins %s after the first sound", typeset.Plural(int64(math.Round(d.Mean.Or(0)*float64(d.N))), "starvation"),
		typeset.Plural(d.N, "request"), typeset.Span(longest, typeset.Digits{}))
}

// OutputRate is the rate at which tokens came, its name and its unit in words: of all that the
// server spent, else of the successful requests' alone, as most tools' summaries have it.
func OutputRate(r *run.Run) (rate timeline.Opt[float64], name, unit string) {
	if t := r.Throughput; !t.SystemOutputTPS.OK() && t.SuccessOutputTPS.OK() {
		return t.SuccessOutputTPS, "success_output_tps", "successful output tok/s"
	}
	return r.Throughput.SystemOutputTPS, "system_output_tps", "output tok/s"
}

// server is what the server delivered, to all readers together.
func server(r *run.Run) string {
	t := r.Throughput
	tokens, _, unit := OutputRate(r)
	if r.Speaks() || r.Draws() {
		tokens = timeline.Opt[float64]{}
	}
	if !t.InputsPerS.OK() {
		t.SystemInputTPS = timeline.Opt[float64]{}
	}
	var l list
	for _, x := range []struct {
		rate timeline.Opt[float64]
		of   string
	}{{t.AudioPerS, "s of sound a second"}, {t.CharsPerS, "characters/s"}, {t.ImagesPerS, "pictures/s"}, {tokens, unit},
		{t.SustainedTPS, "sustained"}, {t.RequestsPerS, "requests/s"}, {t.InputsPerS, "texts/s"}, {t.SystemInputTPS, "input tok/s"}} {
		l.add("%s "+x.of, x.rate, typeset.Rate)
	}
	return cmp.Or(l.String(), typeset.Missing)
}

// lengths are the mean prompt and answer, beside what was asked for.
func lengths(r *run.Run) string {
	var parts []string
	each := "" // text of a batch
	if d := r.Metrics["inputs"]; d.N > 0 {
		n := typeset.Rate(d.Mean.Or(0))
		if d.Min == d.Max {
			n = typeset.Count(int64(d.Mean.Or(0)))
		}
		each = " each"
		noun := " texts"
		if n == "1" {
			noun = " text"
		}
		parts = append(parts, n+noun)
	}
	if mean, ok := r.Metrics["input_chars"].Mean.Get(); ok {
		parts = append(parts, typeset.Rate(mean)+" characters in")
	}
	seenFrom := len(parts)
	for _, seen := range [][2]string{{"images", " picture"}, {"input_images", " picture"}, {"input_videos", " video"}} {
		if mean, ok := r.Metrics[seen[0]].Mean.Get(); ok {
			text := typeset.Rate(mean) + seen[1]
			if mean != 1 {
				text += "s"
			}
			parts = append(parts, text)
		}
	}
	if mean, ok := r.Metrics["input_media_bytes"].Mean.Get(); ok {
		text := typeset.Rate(mean/1e6) + " MB"
		if mean, ok := r.Metrics["media_tokens"].Mean.Get(); ok {
			text += " and " + typeset.Rate(mean) + " tokens"
		}
		if len(parts) > seenFrom {
			parts[len(parts)-1] += " (" + text + ")"
		} else {
			parts = append(parts, text+" of media")
		}
	}
	if mean, ok := r.Metrics["audio_s"].Mean.Get(); ok {
		parts = append(parts, typeset.Rate(mean)+" s of sound")
	}
	for _, side := range []struct{ metric, way, asked string }{
		{"input_tokens", "in", cmp.Or(r.Workload.InputTokens, meanAsked(r.Workload.AskedInput))},
		{"output_tokens", "out", cmp.Or(r.Workload.OutputTokens, meanAsked(requested(r)))},
	} {
		mean, ok := r.Metrics[side.metric].Mean.Get()
		if !ok {
			continue
		}
		text := typeset.Rate(mean) + " tokens " + side.way
		if side.asked != "" {
			if side.way == "out" && r.Requests.ITLLeftOut["several_choices"] > 0 {
				each = " a choice"
			}
			text += fmt.Sprintf(" (asked: %s%s)", typeset.Short(side.asked, 60), each)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ", on average"
}

// requested is the mean output length that was asked for, where it was of every answer.
func requested(r *run.Run) timeline.Opt[float64] {
	if d := r.Metrics["requested_tokens"]; d.N == r.Metrics["output_tokens"].N {
		return d.Mean
	}
	return timeline.Opt[float64]{}
}

// meanAsked is a length that was asked for on average: of several distributions, as
// the steps of tasks and the classes of mixes have them.
func meanAsked(mean timeline.Opt[float64]) string {
	if v, ok := mean.Get(); ok {
		return typeset.Rate(v)
	}
	return ""
}

// wordsRead is the speed of one stream in words, where texts were kept.
func wordsRead(r *run.Run) string {
	d := r.Metrics["words_per_s"]
	v, ok := d.P50.Get()
	if !ok {
		return ""
	}
	text := fmt.Sprintf("%s words/s for one reader (p50 of %s)", typeset.Rate(v), typeset.Plural(d.N, "answer"))
	if words, tokens := r.Metrics["output_words"], r.Metrics["output_tokens"]; words.N == tokens.N && tokens.Mean.Or(0) > 0 {
		text += fmt.Sprintf(", %s words a token", typeset.Digits{}.Value(words.Mean.Or(0)/tokens.Mean.Or(0)))
	}
	return text
}

// goodput is the share and the rate of requests that met every objective.
func goodput(r *run.Run) string {
	g := r.Goodput
	if g == nil {
		return ""
	}
	share, ok := g.Fraction.Get()
	if !ok {
		return typeset.Missing + " (no request could be judged)"
	}
	text := fmt.Sprintf("%s good", typeset.Percent(share))
	text += shareInterval(g.FractionCI95, g.Good, g.Good+g.Bad)
	text += fmt.Sprintf(", %s of %s", typeset.Exact(g.Good), typeset.Exact(g.Good+g.Bad))
	if v, ok := g.RequestsPerS.Get(); ok {
		text += fmt.Sprintf(", %s good requests/s", typeset.Rate(v))
	}
	if g.Excluded > 0 {
		text += fmt.Sprintf(", %s not evaluable", typeset.Exact(g.Excluded))
	}
	return text
}

// split says where the time of a request went.
func split(r *run.Run) string {
	d := r.Decomposition
	if d == nil {
		return ""
	}
	ttft, ok1 := d.TTFTShare.Get()
	decode, ok2 := d.DecodeShare.Get()
	if !ok1 || !ok2 {
		return ""
	}
	return fmt.Sprintf("TTFT %s %%, decode %s %%", typeset.Number(ttft*100, 0), typeset.Number(100-typeset.Round(ttft*100, 0), 0)) +
		rest(1-ttft-decode)
}

// rest is only there when the two parts do not make the whole.
func rest(share float64) string {
	if share < 0.005 {
		return ""
	}
	return fmt.Sprintf(" (of which %s not split)", typeset.Percent(share))
}

// leftOut counts what was measured and does not enter the figures.
func leftOut(r *run.Run) string {
	var parts []string
	for _, name := range SortedKeys(r.Requests.Excluded) {
		switch n := r.Requests.Excluded[name]; {
		case n == 0:
		case r.Partial && timeline.Outcome(name) == timeline.CancelledUser:
			parts = append(parts, typeset.Exact(n)+" cut off by Ctrl-C") // the user is the one who measures
		default:
			parts = append(parts, typeset.Exact(n)+" "+name+leftOutWhy(timeline.Outcome(name), n, r.Requests.Total))
		}
	}
	if r.Requests.Warmup > 0 {
		parts = append(parts, typeset.Exact(r.Requests.Warmup)+" warm-up")
	}
	if r.Requests.Cooldown > 0 {
		parts = append(parts, typeset.Exact(r.Requests.Cooldown)+" cool-down")
	}
	return strings.Join(parts, ", ")
}

// leftOutWhy says what a class that is left out means, and what to do when it is more
// than a few.
func leftOutWhy(class timeline.Outcome, n, total int64) string {
	if class == metric.NeverSent {
		return " (the end came before their time, or before the cap left them a place; what was due is bad in every objective)"
	}
	if !class.Cancelled() {
		return ""
	}
	a := metric.AdviceOn(class)
	text := " (" + a.Means
	if 10*n > total && class == timeline.CancelledRunEnd {
		text += "; " + a.Next
	}
	return text + ")"
}
