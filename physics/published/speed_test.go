package published

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestImpossibleFiguresAreFound(t *testing.T) {
	// 138 GB of weights: more than one 80 GB card holds, and 35 times a second
	// more than an H200's 4.8 TB/s read.
	want := map[string]string{
		"llama-2-70b a100-80 fp16": "do not fit",
		"llama-2-70b h100 fp16":    "do not fit",
		"llama-3.1-70b h100 fp16":  "do not fit",
		"llama-2-70b h200 fp16":    "at most 34.9 tokens/s",
		"llama-2-70b h100 fp8":     "at most 48.8 tokens/s",
		"llama-2-70b h100 int4":    "at most 94.5 tokens/s",
	}
	for _, s := range Speeds() {
		key := strings.Join([]string{s.Model, s.Accelerator, string(s.Weights)}, " ")
		share, err := s.Check()
		says, impossible := want[key]
		switch {
		case impossible && s.Devices == 1 && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s at %v tokens/s: %v, want %q", key, s.TPS, err, says)
		case !impossible && err != nil:
			t.Errorf("%s at %v tokens/s: %v", key, s.TPS, err)
		case err == nil && (share < 0.01 || share > 1):
			t.Errorf("%s at %v tokens/s: %v of the bound", key, s.TPS, share)
		}
	}
}

func TestBoundOfOneStream(t *testing.T) {
	// 68,976,648,192 weights without the gathered rows of the input embedding
	// (32000 × 8192) in 16 bits at 4.8 TB/s.
	s := Speed{Model: "llama-2-70b", Accelerator: "h200", Devices: 1, Weights: "fp16", Streams: 1, Stream: true}
	want := 4.8e12 / (2 * (68_976_648_192 - 32000*8192))
	got, err := s.Bound()
	if err != nil || got < 0.999*want || got > 1.001*want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	s.TPS = 2 * want
	if _, err := s.Check(); !errors.Is(err, ErrImpossible) {
		t.Errorf("%v", err)
	}
}

func TestEveryFigureHasASource(t *testing.T) {
	var used []string
	for _, table := range Tables() {
		if table.Name == "" || table.Title == "" || len(table.Rows) == 0 {
			t.Errorf("table %q is incomplete", table.Name)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Head) {
				t.Errorf("%s: a row of %d cells under %d", table.Name, len(row), len(table.Head))
			}
		}
		if table.Name == "gpus" || table.Name == "sizes" {
			continue // of the engine's tables, which name their sources in full
		}
		for _, row := range table.Rows {
			id := row[len(row)-1]
			if !slices.ContainsFunc(Sources(), func(s Source) bool { return s.ID == id }) {
				t.Errorf("%s: unknown source %q", table.Name, id)
			}
			used = append(used, id)
		}
	}
	for _, s := range Sources() {
		if !slices.Contains(used, s.ID) && !slices.ContainsFunc(Tables(), func(t Table) bool { return t.names(s.ID) }) {
			t.Errorf("source %s is not used", s.ID)
		}
	}
}

func TestReadingSpeeds(t *testing.T) {
	// 300 words a minute are 5 words a second; at three words to four tokens, 6.7 tokens.
	if got := reading(300); got != "6.7" {
		t.Errorf("300 words/min: %s tokens/s, want 6.7", got)
	}
	if got := wordsPerMinute(10); got != 450 {
		t.Errorf("10 tokens/s: %v words/min, want 450", got)
	}
}

func TestGainsNameClaims(t *testing.T) {
	for _, row := range read("gains", 5) {
		if name := row[3]; name != "" && !slices.ContainsFunc(slices.Concat(Misconceptions, Techniques), func(c Claim) bool { return c.Name == name }) {
			t.Errorf("no claim %q", name)
		}
	}
}
