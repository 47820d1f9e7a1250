package result

import (
	"math"
	"strconv"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
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

// A last load that is far above the one before may be on the way to more, however often
// it was measured.
func TestNoKneeBeforeTheLastLoad(t *testing.T) {
	for name, points := range map[string][]Point{
		"repeats of the last": {point(1, 40), point(1, 40), point(2, 80), point(2, 80), point(4, 100), point(4, 101)},
		"three of the last":   {point(1, 40), point(2, 80), point(4, 100), point(4, 101), point(4, 99)},
		"it rises on":         {point(1, 40), point(2, 80), point(4, 140), point(8, 200)},
		"and on":              {point(1, 40), point(2, 80), point(4, 150), point(8, 220), point(16, 300)},
	} {
		s := Sweep{Variable: "concurrency", Points: points}
		if s.Conclude(); s.Knee != nil || s.PeakTPS.OK() {
			t.Errorf("%s: knee %+v, plateau %+v", name, s.Knee, s.Peak)
		}
	}
	s := Sweep{Variable: "concurrency", Points: []Point{point(1, 40), point(1, 40), point(4, 80), point(4, 81), point(8, 80), point(8, 79)}}
	if s.Conclude(); s.Knee == nil || !near(s.Knee.Value, 2) || s.Peak.Count != 4 {
		t.Errorf("two loads: knee %+v, plateau %+v", s.Knee, s.Peak)
	}
}

// What falls behind its best load rises no more.
func TestPeakOfOneLoad(t *testing.T) {
	s := Sweep{Variable: "concurrency"}
	for c, tps := range map[float64]float64{1: 40, 2: 80, 4: 160, 8: 140, 16: 120} {
		s.Insert(point(c, tps))
	}
	if s.Conclude(); s.Knee == nil || s.Peak.From != 4 || s.Peak.Count != 1 {
		t.Errorf("knee %+v, plateau %+v", s.Knee, s.Peak)
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

// What no knee shows: that throughput rises takes three valid loads, and more of it.
func TestShapeWithoutAKnee(t *testing.T) {
	invalid := point(8, 320)
	invalid.Validity.Verdict = validity.Invalid
	for name, c := range map[string]struct {
		points []Point
		loads  int
		rises  bool
	}{
		"rising":        {[]Point{point(1, 40), point(2, 80), point(4, 160)}, 3, true},
		"level":         {[]Point{point(64, 1280), point(128, 1290), point(256, 1270)}, 3, false},
		"repeats":       {[]Point{point(1, 40), point(1, 41), point(2, 80)}, 2, true},
		"invalid ones":  {[]Point{point(1, 40), invalid}, 1, false},
		"nothing valid": {[]Point{invalid}, 0, false},
	} {
		s := Sweep{Variable: "concurrency", Points: c.points}
		s.Conclude()
		g := &s.Groups()[0]
		if got := s.Loads(g); got != c.loads || s.Knee != nil {
			t.Errorf("%s: %d loads, knee %v", name, got, s.Knee)
		}
		if got := s.Rises(g); c.loads > 1 && got != c.rises {
			t.Errorf("%s: rises %v", name, got)
		}
	}
}

// A probe that took little longer than its requests has no throughput to go by.
func TestShortProbesMakeNoCurve(t *testing.T) {
	s := Sweep{Variable: "rate", Found: &Found{}}
	for i, c := range []float64{1, 2, 4, 8, 16, 32, 64, 128} {
		p := point(c, math.Min(40*c, 320))
		p.Run = strconv.Itoa(i)
		p.Throughput.WindowS = timeline.Some(9.0)
		p.Metrics["e2e_ms"] = metric.Dist{P50: timeline.Some(1000.0)}
		s.Found.Steps = append(s.Found.Steps, Step{Run: p.Run})
		s.Insert(p)
	}
	s.Conclude()
	if s.Knee != nil || len(s.Pareto) != 0 {
		t.Errorf("knee %+v, front %+v of short probes", s.Knee, s.Pareto)
	}
	for i := range s.Points {
		s.Points[i].Throughput.WindowS = timeline.Some(10.0)
	}
	if s.Conclude(); s.Knee == nil || len(s.Pareto) == 0 {
		t.Error("probes that are long enough make no curve")
	}
	s.Points[0].Metrics["e2e_ms"] = metric.Dist{}
	if !s.Short(&s.Points[0]) {
		t.Error("no request has ended")
	}
	if s.Points[0].Requests.Failed = 1; s.Short(&s.Points[0]) {
		t.Error("a server that fails all it is asked has its throughput, none")
	}
	s.Points[0].Requests.Failed = 0
	if s.Found = nil; s.Short(&s.Points[0]) {
		t.Error("what the user chose is no probe")
	}
}

func TestStepWords(t *testing.T) {
	for want, s := range map[string]Step{
		"holds": {Says: "holds", Firm: true}, "leans to hold (weak)": {Says: "holds"}, "holds again": {Says: "holds", Repeat: true},
		"fails": {Says: "fails", Firm: true}, "leans to fail (weak)": {Says: "fails"}, "unclear": {Says: "unclear"},
	} {
		if got := s.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
