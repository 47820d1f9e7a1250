package imports

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// A table with due_s and start_s has its times since due, as our own has; with one of the two
// they count from it.
func TestTableOfBothMoments(t *testing.T) {
	for text, want := range map[string][4]int64{ // µs: start − due, first and last token since due, written since due
		"due_s,start_s,sent_ms,ttft_ms,e2e_ms,output_tokens\n1,1.5,501,600,900,10\n": {500_000, 600_000, 900_000, 501_000},
		"start_s,due_s,ttft_ms,e2e_ms,output_tokens\n1.5,1.5,100,400,10\n":           {0, 100_000, 400_000, -1},
		"start_s,ttft_ms,e2e_ms,output_tokens\n1.5,100,400,10\n":                     {0, 100_000, 400_000, -1},
		"due_s,sent_ms,ttft_ms,e2e_ms,output_tokens\n1.5,2,100,400,10\n":             {0, 100_000, 400_000, 2000},
	} {
		from, all := read(t, "a.csv", []byte(text))
		tl := all[0]
		var first int64
		for ev := range tl.Events.All() {
			first = ev.AtUS
			break
		}
		got := [4]int64{tl.StartUS - tl.DueUS, first, tl.Events.LastUS(), tl.SentUS.Or(-1)}
		if from != "csv" || got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	in, err := NewInput("a.csv", strings.NewReader("due_s,start_s,e2e_ms,ttft_ms,output_tokens\n0,0.5,100,20,10\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = readCSV(in, func(*timeline.Timeline) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "a.csv:2:1") || !strings.Contains(err.Error(), "since due") {
		t.Errorf("a token before it was sent: %v", err)
	}
}

// AIPerf's own count of a prompt stands beside the server's.
func TestAIPerfsOwnInput(t *testing.T) {
	_, all := imported(t, "aiperf.jsonl")
	if tl := all[0]; tl.TokenizedInput != timeline.Some(int64(60)) || tl.Usage.Input != timeline.Some(int64(12)) {
		t.Errorf("%v by AIPerf, %v by the server", tl.TokenizedInput, tl.Usage.Input)
	}
}

// A first token of an answer whose tokens were counted, and were none, is that of a chunk
// without one.
func TestNoTokensHaveNoFirst(t *testing.T) {
	for file, want := range map[string]timeline.Outcome{
		"start_s,e2e_ms,ttft_ms,output_tokens\n0,100,20,0\n":            timeline.EmptyOutput,
		"start_s,e2e_ms,ttft_ms,output_tokens\n0,100,20,1\n":            timeline.OK,
		"start_s,e2e_ms,ttft_ms,output_tokens\n0,100,20,\n":             timeline.OK,
		"start_s,outcome,e2e_ms,ttft_ms,output_tokens\n0,ok,100,20,0\n": timeline.OK, // in our own words
		`{"duration": 2, "completed": 1, "failed": 0, "input_lens": [5], "output_lens": [0], "ttfts": [0.3], "itls": [[]], "errors": [""], "start_times": [1], "generated_texts": [""]}`:          timeline.EmptyOutput,
		`{"duration": 2, "completed": 1, "failed": 0, "input_lens": [5], "output_lens": [0], "ttfts": [0.3], "itls": [[0.1, 0.1]], "errors": [""], "start_times": [1], "generated_texts": ["a"]}`: timeline.OK, // something came
	} {
		from, all := read(t, "a", []byte(file))
		if tl := all[0]; tl.Outcome != want || (want == timeline.EmptyOutput) != (tl.Events.Len() == 0) {
			t.Errorf("%s %q: %v with %d events, want %v", from, file, tl.Outcome, tl.Events.Len(), want)
		}
	}
}
