package result

import (
	"math"
	"testing"

	"tokenmeter/metric"
	"tokenmeter/timeline"
)

// point is a run at a load that delivered so many tokens/s, known to ±2 %.
func point(load, tps float64, settings ...Setting) Point {
	p := Point{Value: load, OutputCI95: &[2]float64{0.98 * tps, 1.02 * tps}, Settings: settings}
	p.Throughput.SystemOutputTPS = timeline.Some(tps)
	p.Metrics = map[string]metric.Dist{"decode_tps": {P50: timeline.Some(tps / load)}}
	return p
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.03*math.Abs(b) }

// A server that delivers 40 tokens/s a stream up to 32 streams.
func TestKneeAndPlateau(t *testing.T) {
	s := Sweep{Variable: "concurrency", GPUs: timeline.Some[int64](2)}
	for _, c := range []float64{64, 1, 2, 4, 8, 16, 32, 128} {
		s.Insert(point(c, math.Min(40*c, 1280)))
	}
	s.Conclude()
	if s.Knee == nil || !near(s.Knee.Value, 32) || s.Knee.Lo > 32 || s.Knee.Hi < 32 || s.Knee.Hi/s.Knee.Lo > 1.2 {
		t.Fatalf("knee %+v", s.Knee)
	}
	if s.Peak == nil || !near(s.Peak.TPS, 1280) || s.Peak.CI95[0] > 1280 || s.Peak.CI95[1] < 1280 || s.Peak.From != 32 || !near(s.PeakTPS.Or(0), 1280) {
		t.Errorf("plateau %+v", s.Peak)
	}
	if got := s.Points[0].TPSPerGPU.Or(0); got != 20 {
		t.Errorf("%v tokens/s a GPU, want 20", got)
	}
	// Speed for a reader falls from 32 streams on, and nothing is gained: of the
	// points below, which are all as fast, the one with most throughput is on the front.
	if len(s.Pareto) != 1 || s.Pareto[0].Value != 32 {
		t.Errorf("front %+v", s.Pareto)
	}
}

// Some servers do less again when they are pressed further: that is no plateau.
func TestPlateauThatFalls(t *testing.T) {
	s := Sweep{Variable: "concurrency"}
	for c, tps := range map[float64]float64{1: 40, 2: 80, 4: 160, 8: 320, 16: 640, 32: 640, 64: 640, 128: 400} {
		s.Insert(point(c, tps))
	}
	s.Conclude()
	if s.Peak == nil || !near(s.Peak.TPS, 640) {
		t.Errorf("%+v", s.Peak)
	}
}

func TestNoPlateau(t *testing.T) {
	for name, loads := range map[string][]float64{"still rising": {1, 2, 4, 8, 16}, "two points": {1, 2}, "nothing": nil, "one load": {8, 8, 8}} {
		s := Sweep{Variable: "concurrency"}
		for _, c := range loads {
			s.Insert(point(c, 40*c))
		}
		s.Conclude()
		if s.PeakTPS.OK() {
			t.Errorf("%s: plateau %+v at %+v", name, s.Peak, s.Knee)
		}
	}
}

// Each combination of the other axes has a curve of its own.
func TestSeries(t *testing.T) {
	s := Sweep{Variable: "concurrency", Axes: []string{"concurrency", "input_tokens"}}
	for _, input := range []string{"128", "4096"} {
		most := 1280.0
		if input == "4096" {
			most = 320
		}
		for i, c := range []float64{1, 2, 4, 8, 16, 32, 64, 128} {
			p := point(c, math.Min(40*c, most), Setting{"concurrency", "x"}, Setting{"input_tokens", input})
			p.Place = i + 1
			s.Insert(p)
		}
	}
	s.Conclude()
	if s.Knee != nil || s.PeakTPS.OK() || len(s.Series) != 2 {
		t.Fatalf("%+v", s.Series)
	}
	for i, want := range []float64{1280, 320} {
		if got := s.Series[i]; !near(got.PeakTPS.Or(0), want) || len(got.Settings) != 1 || got.Settings[0].Name != "input_tokens" {
			t.Errorf("series %d: %+v", i, got)
		}
	}
}

func TestInsertKeepsTheOrder(t *testing.T) {
	s := Sweep{}
	for _, p := range []Point{{Place: 2, Value: 8, Repeat: 1}, {Place: 1, Value: 16, Repeat: 2}, {Place: 1, Value: 16, Repeat: 1}} {
		s.Insert(p)
	}
	if s.Points[0].Repeat != 1 || s.Points[1].Repeat != 2 || s.Points[2].Place != 2 || s.Order[0] != 2 || s.Order[2] != 0 {
		t.Errorf("%+v %v", s.Points, s.Order)
	}
}
