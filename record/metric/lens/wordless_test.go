package lens

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Embeddings and rankings have no words: no tool counts them as answered or
// failed, and a run of nothing else is no run without an answer.
func TestAnswersWithoutWords(t *testing.T) {
	vectors := func() reply {
		r := newReply().closed(30)
		r.tl.Streamed, r.tl.Inputs = false, timeline.Some(int64(4))
		return r
	}
	_, err := Apply([]string{"all"}, slices.Values([]*timeline.Timeline{vectors().tl, vectors().tl}), Facts{})
	if !errors.Is(err, ErrNoWords) {
		t.Errorf("it said %v", err)
	}
	tab := through(t, "vllm", Facts{}, newReply().events(timeline.Text, 2, 100, 10).usage(1, 2), vectors())
	tab.want(t, "completed", 1)
	tab.want(t, "failed", 0)
	if notes := strings.Join(tab.Notes, "\n"); !strings.Contains(notes, "1 request left out: vectors, scores, sound and pictures") {
		t.Errorf("notes are %q", notes)
	}
}

// Where no count of tokens came, that is the reason, and not how many of them the
// first chunk held; what needs no count is told all the same.
func TestWithoutACount(t *testing.T) {
	plain := func() reply { return newReply().events(timeline.Text, 3, 100, 10).closed(120) }
	for name, row := range map[string]string{"mlperf-endpoints": "tpot.median", "artificial-analysis": "output speed P50"} {
		tab := through(t, name, Facts{}, plain())
		i := slices.IndexFunc(tab.Rows, func(r Row) bool { return r.Name == row })
		if i < 0 || tab.Rows[i].Value.OK() || tab.Rows[i].Why != noCount {
			t.Errorf("%s: %+v", name, tab.Rows)
		}
	}
	ttft, both := Limits{TTFTMS: timeline.Some(200.0)}, Limits{TTFTMS: timeline.Some(200.0), TPOTMS: timeline.Some(50.0)}
	through(t, "glossary", Facts{Limits: ttft}, plain()).want(t, "goodput", 1/0.12)
	through(t, "glossary", Facts{Limits: both}, plain()).want(t, "goodput", null)
}
