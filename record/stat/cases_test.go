package stat

import (
	"math"
	"slices"
	"testing"
)

func repeated(pairs ...float64) Sorted {
	var s []float64
	for i := 0; i < len(pairs); i += 2 {
		s = append(s, slices.Repeat([]float64{pairs[i+1]}, int(pairs[i]))...)
	}
	slices.Sort(s)
	return s
}

func TestQuantileCases(t *testing.T) {
	oneTo100 := make(Sorted, 100)
	for i := range oneTo100 {
		oneTo100[i] = float64(i + 1)
	}
	b83 := Sorted{100, 110, 120, 130, 140, 150, 160, 170, 180, 900}
	for _, c := range []struct {
		name    string
		data    Ordered
		p       float64
		type7   float64
		nearest float64
	}{
		{"B8 p50", Sorted{100, 100, 400, 400}, 0.5, 250, 100},
		{"B8 p99", Sorted{100, 100, 400, 400}, 0.99, 400, 400},
		{"B81 p99", repeated(1000, 10, 10, 1000), 0.99, 10, 10},
		{"B81 p99.5", repeated(1000, 10, 10, 1000), 0.995, 1000, 1000},
		{"B82 p95 of all", repeated(6, 900, 294, 100), 0.95, 100, 100},
		{"B82 p95 of a window", repeated(6, 900, 94, 100), 0.95, 900, 900},
		{"B83 p50", b83, 0.5, 145, 140},
		{"B83 p99", b83, 0.99, 835.2, 900},
		{"B86a", repeated(20, 75000), 0.99, 75000, 75000},
		{"B86b", repeated(10, 1050), 0.99, 1050, 1050},
		{"1 to 100, p50", oneTo100, 0.5, 50.5, 50},
		{"1 to 100, p99", oneTo100, 0.99, 99.01, 99},
		{"infinite below the share", Sorted{1, 2, 3, math.Inf(1)}, 0.75, 3, 3},
		{"infinite beyond the share", Sorted{1, 2, 3, math.Inf(1)}, 0.8, math.Inf(1), math.Inf(1)},
		{"one value", Sorted{7}, 0.99, 7, 7},
	} {
		if got, ok := Quantile(c.data, c.p); !ok || (got != c.type7 && math.Abs(got-c.type7) > 1e-9) {
			t.Errorf("%s: type 7 %v, want %v", c.name, got, c.type7)
		}
		if got, ok := NearestRank(c.data, c.p); !ok || got != c.nearest {
			t.Errorf("%s: nearest rank %v, want %v", c.name, got, c.nearest)
		}
	}
	if _, ok := Quantile(Sorted{}, 0.5); ok {
		t.Error("an empty sample has a quantile")
	}
	if _, ok := Quantile(Sorted{1}, math.NaN()); ok {
		t.Error("there is a NaN quantile")
	}
}

func TestMLPerfTables(t *testing.T) {
	type row map[int64]int64 // t → h_min(t)
	for p, hs := range map[float64]row{
		.50:  {0: 7, 1: 10, 2: 12, 3: 14, 5: 17, 10: 25, 100: 137},
		.90:  {0: 44, 1: 63, 2: 79, 3: 94, 4: 109, 5: 122, 10: 187, 20: 305, 50: 631, 100: 1146, 500: 5018, 930: 9067, 2348: 22226, 5000: 46585},
		.95:  {0: 90, 1: 129, 2: 163, 3: 195, 4: 225, 5: 254, 10: 388, 20: 636, 50: 1322, 100: 2404},
		.97:  {0: 152, 1: 218, 2: 275, 3: 329, 4: 379, 5: 428, 10: 657, 20: 1077, 50: 2243, 100: 4082},
		.99:  {0: 459, 1: 661, 2: 836, 3: 998, 4: 1153, 5: 1302, 10: 2000, 20: 3284, 50: 6848, 100: 12471, 209: 24291, 500: 54927, 2348: 243917, 5000: 511615},
		.999: {0: 4603, 1: 6635, 2: 8401, 3: 10039, 4: 11597, 5: 13100, 10: 20130, 20: 33077, 50: 69008, 100: 125726},
	} {
		for over, want := range hs {
			if got := MinUnder(over, p, 0, 0.99); got != want {
				t.Errorf("h_min(%d) at p=%v: %d, want %d", over, p, got, want)
			}
		}
	}
	for c, ns := range map[float64]map[float64]int64{
		.99: {.50: 11, .75: 24, .80: 31, .90: 64, .95: 130, .97: 219, .99: 662, .999: 6636, .9999: 66381},
		.95: {.50: 8, .75: 18, .80: 22, .90: 46, .95: 93, .97: 157, .99: 473, .999: 4742},
		.90: {.50: 7, .75: 15, .80: 18, .90: 38, .95: 77, .97: 129, .99: 388, .999: 3889},
	} {
		for p, n := range ns {
			if over, ok := MaxOver(n, p, 0, c); !ok || over != 1 {
				t.Errorf("c=%v p=%v n=%d: t* = %d %v, want 1", c, p, n, over, ok)
			}
			if _, ok := MaxOver(n-1, p, 0, c); ok {
				t.Errorf("c=%v p=%v: %d queries claim a percentile", c, p, n-1)
			}
		}
	}
	for c, ps := range map[float64]map[float64]row{
		.99: {.90: {64: 1, 100: 3, 200: 10, 500: 34, 1000: 78, 1024: 80, 5000: 450, 10000: 930, 24576: 2348},
			.95: {200: 3, 500: 13, 1000: 34, 5000: 214, 10000: 449, 24576: 1149}, .97: {1000: 17, 10000: 260},
			.99:  {662: 1, 1000: 2, 1024: 3, 5000: 33, 10000: 77, 24576: 209},
			.999: {6636: 1, 10000: 2, 24576: 13}},
		.95: {.90: {200: 12, 1000: 84, 5000: 464}, .95: {1000: 38}, .99: {500: 1, 1000: 4, 5000: 38}},
		.90: {.90: {1000: 87}, .99: {1000: 5, 5000: 40}},
	} {
		for p, ns := range ps {
			for n, want := range ns {
				if got, ok := MaxOver(n, p, 0, c); !ok || got != want {
					t.Errorf("t*(%d) at c=%v p=%v: %d, want %d", n, c, p, got, want)
				}
			}
		}
	}
	if got := MoreForLimit(2, 33, .99, 0, .99); got != 805 {
		t.Errorf("33 queries, 2 over: %d more, want 805", got)
	}
	thousand := make(Sorted, 1000)
	for i := range thousand {
		thousand[i] = float64(i + 1)
	}
	if got, ok := UpperBound(thousand, .99, .99); !ok || got != 999 {
		t.Errorf("bound of p99 from 1,000: rank %v, want 999", got)
	}
}
