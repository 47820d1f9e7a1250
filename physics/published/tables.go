package published

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/physics/engine"
	"tokenmeter/physics/sim"
)

// Tables are all reference data, in the order in which they are read.
func Tables() []Table {
	return []Table{
		speedTable(), plain("frameworks", "engines, each with a published figure", "engine", "figure", "of"),
		accelerators(), precisions(), quantisation(),
		plain("gains", "techniques and the gain that was published", "technique", "gain", "against", "claim to try"),
		plain("milestones", "milestones by year", "when", "what", "tokens/s", "of"),
		readers(), scenarios(), targets(),
	}
}

// plain is a table as it stands in its file, whose last column is the source.
func plain(name, title string, head ...string) Table {
	return Table{Name: name, Title: title, Head: append(head, "source"), Rows: read(name, len(head)+1)}
}

func speedTable() Table {
	t := Table{Name: "speeds", Title: "published tokens per second by model, GPU, quantisation, GPUs, batch and context, checked",
		Head: []string{"model", "GPU", "weights", "streams", "context", "tokens/s", "of", "engine", "of the bound", "source"},
		Notes: []string{
			"Of the bound: share of what the memory's bandwidth allows for that many streams, or, where their number is not told, of what the arithmetic allows for output tokens alone. A figure above it is impossible without speculation; so is one whose weights do not fit.",
		}}
	for _, s := range Speeds() {
		share, err := s.Check()
		verdict := fmt.Sprintf("%.0f %%", 100*share)
		if err != nil {
			verdict = "impossible: " + err.Error()
		}
		gpu, of := s.Accelerator, "all"
		if s.Devices > 1 {
			gpu = fmt.Sprintf("%d × %s", s.Devices, gpu)
		}
		if s.Stream {
			of = "one"
		}
		t.Rows = append(t.Rows, []string{s.Model, gpu, string(s.Weights), known(s.Streams), known(s.Context), figure(s.TPS), of, dash(s.Engine), verdict, s.Source})
	}
	return t
}

func known(n int) string {
	if n == 0 {
		return "–"
	}
	return strconv.Itoa(n)
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func accelerators() Table {
	t := Table{Name: "gpus", Title: "accelerators: memory, bandwidth and dense arithmetic",
		Head: []string{"GPU", "GB", "TB/s", "16 bit TFLOPS", "8 bit float", "4 bit float", "tokens a step until arithmetic is full", "source"},
		Notes: []string{
			"All figures are dense. With 2:4 sparsity vendors print twice as much: an H100's 1,979 TFLOPS in 16 bits are 989 dense, a B200's 4,500 are 2,250. HGX B200 offers 180 GB of the 192 on the package.",
			"The arithmetic is full from peak × bytes / (2 × bandwidth) tokens in a step, with 16-bit weights.",
		}}
	for _, a := range engine.Accelerators() {
		t.Rows = append(t.Rows, []string{a.Name, figure(a.Memory / 1e9), figure(a.Bandwidth / 1e12), figure(a.BF16 / 1e12), unit(a.FP8), unit(a.FP4), figure(a.CriticalBatch(engine.BF16)), a.Source})
	}
	return t
}

func unit(flops float64) string {
	if flops == 0 {
		return "–"
	}
	return figure(flops / 1e12)
}

// sizes are the models whose weights the table of precisions shows.
var sizes = []string{"llama-3.2-1b", "llama-3.1-8b", "qwen3-32b", "llama-3.1-70b", "gpt-oss-120b", "llama-3.1-405b", "deepseek-v3"}

func precisions() Table {
	t := Table{Name: "sizes", Title: "weights of models in GB, their cache, and the bound of one stream on an H100",
		Head: []string{"model", "parameters", "read a token", "16 bits GB", "8 bits", "4 bits (int4)", "cache of 1,000 tokens, 16 bits", "tokens/s at most: 16 bits", "8 bits", "4 bits"},
		Notes: []string{
			"At most: bandwidth of one H100 (3.35 TB/s) over the weights that one token reads, no cache, no overhead; several GPUs multiply it. Whether the weights fit is another question: 80 GB.",
		}}
	for _, name := range sizes {
		m, err := engine.FindModel(name)
		if err != nil {
			panic(err) // the list is part of the program
		}
		row := []string{name, billions(m.Params()), billions(m.StepParams(1))}
		for _, p := range []engine.Precision{engine.BF16, engine.FP8, engine.INT4} {
			row = append(row, figure(m.Params()*p.Bytes()/1e9))
		}
		row = append(row, figure(1000*m.KVPerToken(engine.BF16)/1e9)+" GB")
		h100, err := engine.FindAccelerator("h100")
		if err != nil {
			panic(err)
		}
		for _, p := range []engine.Precision{engine.BF16, engine.FP8, engine.INT4} {
			row = append(row, figure(h100.Bandwidth/(m.StepParams(1)*p.Bytes())))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func billions(n float64) string { return figure(n/1e9) + " B" }

func quantisation() Table {
	t := plain("quantisation", "Llama 3 70B in llama.cpp's forms: size and loss", "form", "GiB", "perplexity", "loss %")
	t.Notes = []string{"Lower perplexity is better. It was taken on wiki.test; what a task loses differs."}
	return t
}

func readers() Table {
	t := Table{Name: "readers", Title: "how a speed feels to who reads along",
		Head: []string{"tokens/s", "words/s", "words/min", "how it feels", "source"},
		Notes: []string{
			fmt.Sprintf("Words at %v a token (English, source openai). Adults read 238 words/min of non-fiction and 260 of fiction, most of them 175 to 300 (brysbaert): %s and %s tokens/s, %s to %s.",
				sim.WordsPerToken, reading(238), reading(260), reading(175), reading(300)),
			fmt.Sprintf("Often printed and not so: \"200 to 300 words/min are 7 to 10 tokens/s\" (mylocalai, spanvero). They are %s to %s; 7 to 10 tokens/s are %.0f to %.0f words/min, faster than nearly all read.",
				reading(200), reading(300), wordsPerMinute(7), wordsPerMinute(10)),
		}}
	for _, r := range read("readers", 4) {
		span := func(f func(float64) string) string {
			switch {
			case r[0] == "":
				return "below " + f(number(r[1]))
			case r[1] == "":
				return "above " + f(number(r[0]))
			}
			return f(number(r[0])) + " to " + f(number(r[1]))
		}
		t.Rows = append(t.Rows, []string{
			span(trim), span(func(v float64) string { return trim(v * sim.WordsPerToken) }), span(func(v float64) string { return trim(wordsPerMinute(v)) }), r[2], r[3],
		})
	}
	return t
}

func trim(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func wordsPerMinute(tps float64) float64 { return 60 * sim.WordsPerToken * tps }

// reading is the tokens/s of a reading speed in words a minute.
func reading(wpm float64) string {
	return strconv.FormatFloat(wpm/wordsPerMinute(1), 'f', 1, 64)
}

func scenarios() Table {
	t := plain("scenarios", "what different uses need", "use", "tokens/s of a stream", "TTFT", "what decides")
	t.Notes = []string{fmt.Sprintf("Speech at 183 words/min (brysbaert, reading aloud) is %s tokens/s.", reading(183))}
	return t
}

func targets() Table {
	t := Table{Name: "targets", Title: "limits of TTFT and TPOT that are asked for",
		Head: []string{"use", "TTFT ms", "TPOT ms", "that is tokens/s", "at", "source"}}
	for _, r := range read("targets", 5) {
		t.Rows = append(t.Rows, []string{r[0], r[1], r[2], figure(1e3 / number(r[2])), dash(r[3]), r[4]})
	}
	return t
}

// SourceTable lists the sources that a table names, or all.
func SourceTable(of ...Table) Table {
	t := Table{Name: "sources", Title: "where the figures are from", Head: []string{"source", "title", "address"}}
	for _, s := range Sources() {
		if len(of) == 0 || slices.ContainsFunc(of, func(t Table) bool { return t.names(s.ID) }) {
			t.Rows = append(t.Rows, []string{s.ID, s.Title, dash(s.Address)})
		}
	}
	return t
}

// names reports whether the table or a note below it names a source.
func (t Table) names(id string) bool {
	for _, row := range t.Rows {
		if row[len(row)-1] == id {
			return true
		}
	}
	return slices.ContainsFunc(t.Notes, func(note string) bool { return strings.Contains(note, id) })
}

// Text is the claim for a terminal: what is said, what is so, what must hold and
// the commands that show it.
func (c Claim) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n", c.Said, printable.Wrap(c.True, 100, "\n"))
	for _, s := range c.Shows {
		b.WriteString("    " + s.Command() + "\n")
	}
	b.WriteByte('\n')
	for _, r := range c.Holds {
		b.WriteString(r.text() + "\n")
	}
	return b.String()
}

// Markdown is the same with what the commands print. A claim that they do not
// show is an error.
func (c Claim) Markdown() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", printable.Wrap(fmt.Sprintf("**%s** (`%s`) %s", c.Said, c.Name, c.True), 140, "\n"))
	var rows []sim.Trial
	for _, s := range c.Shows {
		trials, err := s.Run()
		if err != nil {
			return "", err
		}
		rows = append(rows, trials...)
		b.WriteString("    " + s.Command() + "\n")
	}
	b.WriteString("\n" + TrialTable(rows).Markdown() + "\n")
	if wrong := c.Check(rows); len(wrong) > 0 {
		return "", fmt.Errorf("the claim %s does not hold: %s", c.Name, strings.Join(wrong, "; "))
	}
	for _, r := range c.Holds {
		got, _ := r.of(rows)
		fmt.Fprintf(&b, "- %s (here %s)\n", r.text(), figure(got))
	}
	return b.String(), nil
}
