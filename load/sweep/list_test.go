package sweep

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseList(t *testing.T) {
	for _, c := range []struct {
		text  string
		whole bool
		want  []float64
	}{
		{"1,2,4,8", true, []float64{1, 2, 4, 8}},
		{"8", true, []float64{8}},
		{"1..8", true, []float64{1, 2, 4, 8}},
		{"1..10", true, []float64{1, 2, 4, 8, 10}},
		{"1..64*4", true, []float64{1, 4, 16, 64}},
		{"10..50+20", true, []float64{10, 30, 50}},
		{"10..45+20", false, []float64{10, 30, 45}},
		{"1..100/3", false, []float64{1, 10, 100}},
		{"1..4/5", true, []float64{1, 2, 3, 4}}, // 1 1.41 2 2.83 4
		{"0.5, 1..2+0.5", false, []float64{0.5, 1, 1.5, 2}},
		{"3..3", true, []float64{3}},
	} {
		got, err := ParseList(c.text, c.whole)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if d := cmp.Diff(c.want, got, cmpopts.EquateApprox(1e-9, 0)); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

func TestParseListRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "missing", "1,,2": "missing", "a": "give a number", "-1": "above 0", "0": "above 0", "1.5": "whole",
		"8..1": "goes up", "1..8*1": "factor", "1..8+0": "step", "1..8/1": "whole one", "1..8/2.5": "whole one",
		"1..8*x": "no number", "1..9+0.001": "more than", "NaN": "give a number", "1..Inf": "give a number", "1e12": "too large",
	} {
		if _, err := ParseList(text, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseList(f *testing.F) {
	for _, s := range []string{"1,2,4", "1..64*4", "10..50+10", "1..100/7", "..", "1..", "*"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, whole bool) {
		values, err := ParseList(text, whole)
		if err != nil {
			return
		}
		if len(values) == 0 || len(values) > 2*maxValues {
			t.Fatalf("%q: %d values", text, len(values))
		}
		for _, v := range values {
			if !(v > 0) {
				t.Fatalf("%q: %v", text, v)
			}
		}
	})
}
