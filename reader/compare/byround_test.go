package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// turns makes rounds of both sides: the noise of a round is in both.
func turns(rng *rand.Rand, rounds, n int, noise, slower float64) (a, b Group) {
	a.Name, b.Name = "a", "b"
	for i := range rounds {
		level := math.Exp(noise * rng.NormFloat64())
		for side, g := range []*Group{&a, &b} {
			s := server{tpot: 20 * level * math.Pow(slower, float64(side)), cv: 0.1}
			m := manifest(g.Name, 2*i+side)
			m.Tags = map[string]string{"side": g.Name, "round": fmt.Sprint(i + 1)}
			g.Runs = append(g.Runs, fromRecords(m, s.records(rng, n)))
		}
	}
	return a, b
}

// Rounds that differ by 20 % among themselves hide no 10 % that is in each of
// them, and make none where there is none.
func TestRoundsArePaired(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 4))
	found, alarms := 0, 0
	const searches, equal = 15, 200
	for range searches {
		a, b := turns(rng, 6, 100, 0.2, 1.1)
		r := mustCompare(t, a, b, Options{Metrics: []string{"tpot"}})
		if row := findRow(t, r, "tpot_ms", "p50"); row.UnitOfAnalysis == ByRound && row.Verdict == Worse {
			found++
		}
	}
	for range equal {
		a, b := turns(rng, 6, 50, 0.2, 1)
		r := mustCompare(t, a, b, Options{Metrics: []string{"tpot"}})
		for i := range r.Rows {
			if r.Rows[i].Real() {
				alarms++
				break
			}
		}
	}
	if found < searches {
		t.Errorf("10 %% slower in every round was found in %d of %d", found, searches)
	}
	// 5 % of 200 are 10; 18 and more come by chance once in 100.
	if alarms > 17 {
		t.Errorf("%d of %d comparisons of a server with itself raise an alarm", alarms, equal)
	}
}

// Runs pair only where each says its round and no round is missing.
func TestRoundsThatDoNotPair(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, spoil := range map[string]func(a, b *Group){
		"no tag":       func(a, b *Group) { b.Runs[2].Facts.Tags = nil },
		"one missing":  func(a, b *Group) { b.Runs = b.Runs[1:] },
		"another":      func(a, b *Group) { b.Runs[1].Facts.Tags["round"] = "7" },
		"one twice":    func(a, b *Group) { a.Runs[1].Facts.Tags["round"], b.Runs[1].Facts.Tags["round"] = "1", "1" },
		"not in turns": func(a, b *Group) { delete(b.Runs[0].Facts.Tags, "side") },
	} {
		a, b := turns(rng, 6, 30, 0.1, 1)
		spoil(&a, &b)
		if row := findRow(t, mustCompare(t, a, b, Options{}), "tpot_ms", "p50"); row.UnitOfAnalysis != ByRun {
			t.Errorf("%s: the unit is the %s", name, row.UnitOfAnalysis)
		}
	}
}

// Fisher's randomisation test of the differences 1, 2, 3: all six are as far
// from zero in 2 of 8 deals of signs; of 1, 2, −3 all eight are; of 5, 1, −1 all but
// those that leave 3.
func TestSignFlip(t *testing.T) {
	for _, c := range []struct {
		d    []float64
		want float64
	}{{[]float64{1, 2, 3}, 0.25}, {[]float64{1, 2, -3}, 1}, {[]float64{1, 1, 1, 1, 1, 1}, 2.0 / 64}, {[]float64{5, 1, -1}, 0.75}} {
		if got := signFlip(c.d); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.d, got, c.want)
		}
	}
}
