package sweep

import (
	"math"
	"math/rand/v2"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// A search judges gaps between tokens as a run does: all of them together, and a failed
// request as one of average length. Long answers, which are slow here, are most of the gaps.
func TestGapsArePooled(t *testing.T) {
	tests, err := newTests(parsed(t, "p95 itl < 50ms"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	good, all, failed := 0, 0, 0
	test := tests[0]
	for i := range 400 {
		rec := &metric.Record{Outcome: timeline.OK}
		n, gap := 10, 20.0
		switch {
		case i%50 == 49:
			rec.Outcome, n = timeline.HTTP5xx, 0
			failed++
		case i%4 == 0:
			n, gap = 200, 48.5
		}
		for range n {
			g := gap + rng.Float64()*2
			rec.ITLMS = append(rec.ITLMS, g)
			if all++; g < 50 {
				good++
			}
		}
		test.add(i, &entry{rec: rec}, nil)
	}
	want := float64(good) / (float64(all) * 400 / float64(400-failed))
	w := test.weigh(0)
	if math.Abs(w.mean-want) > 1e-9 {
		t.Errorf("share %v, want %v", w.mean, want)
	}
	if most := 0.5 * w.n / w.time; w.effective > most {
		t.Errorf("%.0f independent requests, want fewer than %.0f: a quarter of them decide", w.effective, most)
	}
	if w.fails < 2 {
		t.Errorf("evidence %v that %v of the gaps are too few", w.fails, w.mean)
	}
}

// Requests of one length are worth what they are worth one by one, and good ones alone
// are all of it, to the last digit.
func TestEvenGaps(t *testing.T) {
	even, uneven := []float64{7, 7, 7}, []float64{3, 7, 0}
	if got, spread := pooled([]float64{1, 0, 0.5}, even, 0.9); got[0] != 1 || math.Abs(got[1]) > 1e-12 || math.Abs(got[2]-0.5) > 1e-12 || spread != 1 {
		t.Errorf("%v, %v", got, spread)
	}
	if got, spread := pooled([]float64{1, 1, 1}, uneven, 0.9); got[0] != 1 || got[1] != 1 || got[2] != 1 || !(spread > 1) {
		t.Errorf("%v, %v", got, spread)
	}
	if got, spread := pooled([]float64{1, 0}, []float64{0, 0}, 0.9); got[1] != 0 || spread != 1 {
		t.Errorf("%v, %v", got, spread)
	}
	// Of a mean of gaps: 2 ms above in one gap and 1 ms below in three is a quarter below.
	got, _ := pooled([]float64{2, -1}, []float64{1, 3}, 0)
	if mean := (got[0] + got[1]) / 2; math.Abs(mean+0.25) > 1e-12 {
		t.Errorf("mean %v", mean)
	}
}
