// Package lens shows a run under other tools' definitions: the same timelines,
// the names, formulas and aggregates of vLLM's, AIPerf's, GuideLLM's and other
// benchmarks, beside our own figures and the reason why they differ. One file
// a tool and one line in the table below.
package lens

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// lenses are all tools, the most used first.
var lenses = []*lens{&vllm, &vllmRust, &aiperf, &aiperfNative, &guidellm, &sglang, &genaiPerf, &llmperf, &inferencePerf, &genaiBench, &llmeter, &inferenceX,
	&llamaBench, &mlperf, &mlperfEndpoints, &artificialAnalysis, &nim, &otel, &envoy, &glossary}

// lens is one tool's way to look at timelines.
type lens struct {
	name    string
	tool    string
	asOf    string // which version the definitions are from
	differs Differs
	open    func(Facts) reader
	hungUp  bool // it counts requests that were ended on purpose while the run went on
	ends    bool // it needs no arrival between the first token and the last, where usage counts them
	begins  bool // nor the last, where usage counts the prompt's
}

// reader takes the measured timelines of a run, in any order, and then states
// the tool's figures.
type reader interface {
	add(tl *timeline.Timeline)
	report(t *table)
}

// Differs describes a tool's definitions in a few words each.
type Differs struct {
	FirstToken string // what stops the TTFT clock
	Clock      string // what starts it
	TPOT       string
	ITL        string
	Tokens     string // where output tokens come from
	End        string // where E2E ends
	Failures   string
}

// Tool is a lens as documentation shows it.
type Tool struct {
	Name, Title, AsOf string
	Differs           Differs
}

// Tools lists what can be looked through.
func Tools() []Tool {
	var tools []Tool
	for _, l := range lenses {
		tools = append(tools, Tool{l.name, l.tool, l.asOf, l.differs})
	}
	return tools
}

// Names lists the names that Apply knows, "all" not among them.
func Names() []string {
	var names []string
	for _, l := range lenses {
		names = append(names, l.name)
	}
	return names
}

// Facts is what a lens needs beside the timelines.
type Facts struct {
	// Summary is our own, for the column beside theirs; nil leaves it empty.
	Summary *metric.Summary
	// GoodFraction and GoodPerS are our goodput.
	GoodFraction timeline.Opt[float64]
	GoodPerS     timeline.Opt[float64]
	// Limits of goodput; without any, tools print none.
	Limits Limits
	// Imported says that another tool wrote the records: whose count a prompt's is, and when
	// a request was due, it may not tell.
	Imported bool
	// Concurrency is the planned number of streams; empty in an open loop.
	Concurrency timeline.Opt[int64]
}

// Limits are the objectives in the form the tools take them, in ms.
type Limits struct{ TTFTMS, TPOTMS, E2EMS timeline.Opt[float64] }

func (l Limits) any() bool { return l.TTFTMS.OK() || l.TPOTMS.OK() || l.E2EMS.OK() }

// Table is a run through one lens.
type Table struct {
	Lens  string   `json:"lens"`
	Tool  string   `json:"tool"`
	AsOf  string   `json:"as_of"`
	Rows  []Row    `json:"rows"`
	Notes []string `json:"notes"`
}

// Row is one figure of the tool beside ours.
type Row struct {
	Name     string                `json:"name"`  // as the tool prints it
	Unit     string                `json:"unit"`  // of both values
	Value    timeline.Opt[float64] `json:"value"` // null: cannot be told from the record; Why says what is missing
	Ours     string                `json:"ours"`  // our counterpart: ttft_ms.p99; empty: we have none
	OurValue timeline.Opt[float64] `json:"our_value"`
	Why      string                `json:"why"` // why the two differ, or why there is no value
}

// ErrNoWords says that there is nothing to look at through a lens.
var ErrNoWords = errors.New("lenses are of answers with words, and these requests were answered with vectors, scores, sound or pictures: a report without a lens shows them")

// Apply looks at the measured timelines through the named lenses; "all" names
// every one. Requests cancelled at the end of the run are left out, as the
// tools would not have sent them, and so are those whose answers have
// no words, and for most tools those that a user ended. Of a run of nothing else it is ErrNoWords.
func Apply(names []string, timelines iter.Seq[*timeline.Timeline], facts Facts) ([]Table, error) {
	chosen, err := choose(names)
	if err != nil {
		return nil, err
	}
	tables, mixed, err := apply(chosen, timelines, facts, make([]bool, len(chosen)))
	if slices.Contains(mixed, true) { // failures alone would stand there as the whole run
		tables, _, err = apply(chosen, timelines, facts, mixed)
	}
	return tables, err
}

// apply is Apply; lenses that are strict take no request without arrivals. mixed are those
// that took some and left others out.
func apply(chosen []*lens, timelines iter.Seq[*timeline.Timeline], facts Facts, strict []bool) (tables []Table, mixed []bool, err error) {
	readers, bare, none, taken := make([]reader, len(chosen)), make([]int64, len(chosen)), make([]int64, len(chosen)), make([]int64, len(chosen))
	for i, l := range chosen {
		readers[i] = l.open(facts)
	}
	var unstreamed, wordless int64
	for tl := range timelines {
		if !tl.Phase.Counts() || tl.Outcome == timeline.CancelledRunEnd {
			continue
		}
		if tl.Wordless() && tl.Outcome != timeline.CancelledUser && chosen[0].knows(tl, false) {
			wordless++
			continue
		}
		if !tl.Streamed && tl.Outcome == timeline.OK {
			unstreamed++
		}
		for i, l := range chosen {
			switch known := l.knows(tl, strict[i]); {
			case tl.Outcome == timeline.CancelledUser:
				if l.hungUp && known && !tl.Wordless() {
					readers[i].add(tl)
				}
			case !known:
				bare[i]++
			default:
				if taken[i]++; tl.Evidence != timeline.Arrivals && !arrived(tl) && tl.Outcome != timeline.OK {
					none[i]++
				}
				readers[i].add(tl)
			}
		}
	}
	if slices.Max(taken) == 0 && wordless > 0 {
		return nil, nil, ErrNoWords
	}
	tables, mixed = make([]Table, len(chosen)), make([]bool, len(chosen))
	for i, l := range chosen {
		t := table{facts: facts}
		readers[i].report(&t)
		if bare[i] > 0 && taken[i] == 0 { // then even how many there were is not known
			for k := range t.rows {
				t.rows[k].Value = opt{}
			}
		}
		t.noteIf(bare[i] > 0, "%s left out: arrivals are not known", metric.Plural(bare[i], "request"))
		t.noteIf(wordless > 0, "%s left out: vectors, scores, sound and pictures have no words", metric.Plural(wordless, "request"))
		t.noteIf(unstreamed > 0, "%s without a stream: no first token and no pace there", metric.Plural(unstreamed, "answer"))
		tables[i] = Table{Lens: l.name, Tool: l.tool, AsOf: l.asOf, Rows: t.rows, Notes: t.notes}
		mixed[i] = bare[i] > 0 && none[i] > 0
	}
	return tables, mixed, nil
}

// knows reports whether enough is known of a request for the lens: its arrivals, also where
// it failed, or was left, before there was one (but for strict), and of an answer that is no
// stream, which arrives at its end; or its first and last token and their number.
func (l *lens) knows(tl *timeline.Timeline, strict bool) bool {
	return arrived(tl) || !strict && tl.Outcome != timeline.OK && tl.Events.Len() == 0 ||
		tl.Outcome == timeline.OK && tl.Evidence == timeline.RequestOnly && (l.ends && tl.Usage.Output.OK() || l.begins && tl.Usage.Input.OK())
}

// arrived is known of what had arrivals.
func arrived(tl *timeline.Timeline) bool {
	return tl.Evidence == timeline.Arrivals || tl.Outcome == timeline.OK && !tl.Streamed
}

func choose(names []string) ([]*lens, error) {
	if slices.Contains(names, "all") {
		return lenses, nil
	}
	var chosen []*lens
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "seed" { // as some call the texts that everybody's definitions grew from
			name = glossary.name
		}
		i := slices.IndexFunc(lenses, func(l *lens) bool { return l.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no lens is called %q; there are %s and all", name, strings.Join(Names(), ", "))
		}
		chosen = append(chosen, lenses[i])
	}
	return chosen, nil
}
