package result

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Conclude computes what the points say together: knee, plateau, Pareto front.
func (s *Sweep) Conclude() {
	for i := range s.Points {
		s.Points[i].perGPU(s.GPUs)
	}
	s.Knee, s.Peak, s.PeakTPS, s.Series = nil, nil, timeline.Opt[float64]{}, []Series{}
	if s.Variable == "rate" || s.Variable == "concurrency" {
		s.curves()
	}
	s.Pareto = s.front()
	if !s.Searched() && (s.Found != nil || !slices.ContainsFunc(s.Points, func(p Point) bool { return p.Place == 0 })) {
		s.Found = s.keeps()
	}
}

// curves fits a curve to each combination of the other axes.
func (s *Sweep) curves() {
	groups := s.Groups()
	for _, g := range groups {
		one := Series{Settings: g.Settings}
		one.fit(s.samples(&g))
		if len(groups) > 1 {
			s.Series = append(s.Series, one)
		} else {
			s.Knee, s.Peak, s.PeakTPS = one.Knee, one.Peak, one.PeakTPS
		}
	}
}

// Group is the points of one combination of all axes but the variable.
type Group struct {
	Settings []Setting
	Points   []*Point
}

// Groups sorts the points by what was varied beside the variable.
func (s *Sweep) Groups() (groups []Group) {
	for i := range s.Points {
		p := &s.Points[i]
		others := s.Others(p)
		at := slices.IndexFunc(groups, func(g Group) bool { return slices.Equal(g.Settings, others) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, Group{Settings: others})
		}
		groups[at].Points = append(groups[at].Points, p)
	}
	return groups
}

// Others are a point's settings without that of the variable.
func (s *Sweep) Others(p *Point) []Setting {
	others := []Setting{}
	for _, x := range p.Settings {
		if x.Name != s.Variable {
			others = append(others, x)
		}
	}
	return others
}

func (p *Point) perGPU(gpus timeline.Opt[int64]) {
	p.TPSPerGPU, p.TPSPerUser = timeline.Opt[float64]{}, timeline.Opt[float64]{}
	if n, ok := gpus.Get(); ok && n > 0 {
		if tps, ok := p.Throughput.SystemOutputTPS.Get(); ok {
			p.TPSPerGPU = timeline.Some(tps / float64(n))
		}
	}
	p.TPSPerUser = p.Metrics["decode_tps"].P50
}

// Invalid counts the points whose measurement is invalid.
func (s *Sweep) Invalid() (n int) {
	for _, p := range s.Points {
		if p.Validity.Verdict == validity.Invalid {
			n++
		}
	}
	return n
}

// sample is a point of the curve with what is known of its error.
type sample struct{ load, tps, se float64 }

// samples are the points of a curve, by load. Those whose measurement is invalid are
// left out, as at their load it was the client that was measured, and so are probes
// that were too short.
func (s *Sweep) samples(g *Group) []sample {
	var points []sample
	for _, p := range g.Points {
		tps, ok := p.Throughput.SystemOutputTPS.Get()
		if !ok || !(tps > 0) || p.Validity.Of(validity.Throughput) == validity.Invalid || !(p.Value > 0) || s.Short(p) {
			continue
		}
		one := sample{p.Value, tps, 0.02 * tps}
		if ci := p.OutputCI95; ci != nil && ci[1] > ci[0] {
			one.se = (ci[1] - ci[0]) / 2 / 1.96
		}
		points = append(points, one)
	}
	sort.Slice(points, func(i, j int) bool {
		a, b := &points[i], &points[j]
		return cmp.Compare(a.load, b.load) < 0
	})
	return points
}

// LeastLoads is how many different loads a curve has at least: one on the slope and
// two on the plateau.
const LeastLoads = 3

// Loads counts the different loads whose points make the curve of a group.
func (s *Sweep) Loads(g *Group) int { return loads(s.samples(g)) }

func loads(points []sample) (n int) {
	for i, p := range points {
		if i == 0 || p.load != points[i-1].load {
			n++
		}
	}
	return n
}

// Rises reports whether throughput follows the load over a curve without a knee:
// proportional to the load it is told better than as one level.
func (s *Sweep) Rises(g *Group) bool {
	points := s.samples(g)
	straight, _ := slopeOnly(points)
	mean, level := 0.0, 0.0
	for _, p := range points {
		mean += math.Log(p.tps) / float64(len(points))
	}
	for _, p := range points {
		d := math.Log(p.tps) - mean
		level += d * d
	}
	return straight < level
}

// fit finds the plateau and the knee.
func (s *Series) fit(points []sample) {
	k, level, ok := knee(points)
	if !ok {
		return
	}
	peak := peakOf(points, k)
	if peak != nil && peak.From >= points[len(points)-1].load {
		return // the last load alone: behind it throughput may still rise, however often it was measured
	}
	s.Peak, s.PeakTPS = peak, timeline.Some(level)
	if s.Peak != nil {
		s.PeakTPS = timeline.Some(s.Peak.TPS)
	}
	s.Knee = &Knee{Value: k}
	s.Knee.Lo, s.Knee.Hi = kneeInterval(points, k)
}

// knee fits min(slope × load, level) by least squares of the logarithms and
// returns where the two lines meet. ok is false unless points lie on both.
func knee(points []sample) (at, level float64, ok bool) {
	if loads(points) < LeastLoads {
		return 0, 0, false
	}
	best := math.Inf(1)
	// Which points are on the slope is the only choice; each has its own fit.
	for cut := 1; cut <= len(points)-2; cut++ {
		if points[cut].load == points[cut-1].load {
			continue
		}
		slope, flat := 0.0, 0.0
		for i, p := range points {
			if i < cut {
				slope += math.Log(p.tps/p.load) / float64(cut)
			} else {
				flat += math.Log(p.tps) / float64(len(points)-cut)
			}
		}
		squares := 0.0
		meet := math.Exp(flat - slope)
		for _, p := range points {
			fit := math.Min(slope+math.Log(p.load), flat)
			d := math.Log(p.tps) - fit
			squares += d * d
		}
		if squares < best && meet > points[0].load && meet <= points[len(points)-1].load {
			best, at, level, ok = squares, meet, math.Exp(flat), true
		}
	}
	if straight, noise := slopeOnly(points); !(best < straight/2) || straight < 4*noise {
		return 0, 0, false // a straight line does as well: throughput still rises
	}
	return at, level, ok
}

// slopeOnly is the squared error of a line through the origin without a plateau,
// and what the points' own errors make of it.
func slopeOnly(points []sample) (squares, noise float64) {
	mean := 0.0
	for _, p := range points {
		mean += math.Log(p.tps/p.load) / float64(len(points))
	}
	for _, p := range points {
		d := math.Log(p.tps/p.load) - mean
		squares += d * d
		noise += (p.se / p.tps) * (p.se / p.tps)
	}
	return squares, noise
}

// peakOf is the plateau behind a knee.
func peakOf(points []sample, k float64) *Peak {
	var on []sample
	for _, p := range points {
		if p.load >= k*0.98 {
			on = append(on, p)
		}
	}
	if len(on) == 0 {
		return nil
	}
	// A point that is clearly under the best of the plateau is none of it: some
	// servers do less again when they are pressed further.
	top := on[0]
	for _, p := range on {
		if p.tps > top.tps {
			top = p
		}
	}
	var sum, weight float64
	peak := &Peak{From: math.Inf(1)}
	for _, p := range on {
		if top.tps-p.tps > 3*math.Hypot(p.se, top.se)+0.02*top.tps {
			continue
		}
		w := 1 / (p.se*p.se + 1e-12*p.tps*p.tps)
		sum, weight = sum+w*p.tps, weight+w
		peak.From = math.Min(peak.From, p.load)
		peak.Count++
	}
	peak.TPS = sum / weight
	half := 1.96 / math.Sqrt(weight)
	if v := spread(on, peak.TPS); peak.Count > 2 {
		half = math.Max(half, stat.StudentQuantile(0.975, float64(peak.Count-1))*v/math.Sqrt(float64(peak.Count)))
	}
	peak.CI95 = &[2]float64{peak.TPS - half, peak.TPS + half}
	return peak
}

func spread(points []sample, mean float64) float64 {
	squares, n := 0.0, 0
	for _, p := range points {
		if math.Abs(p.tps-mean) <= 0.1*mean {
			squares += (p.tps - mean) * (p.tps - mean)
			n++
		}
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(squares / float64(n-1))
}

// kneeInterval redraws every point from its own error and fits anew.
func kneeInterval(points []sample, k float64) (lo, hi float64) {
	rng := rand.New(rand.NewPCG(1, uint64(len(points))))
	var all stat.Sample
	again := make([]sample, len(points))
	for range 400 {
		for i, p := range points {
			again[i] = p
			again[i].tps = math.Max(p.tps+p.se*rng.NormFloat64(), p.tps*0.01)
		}
		if x, _, ok := knee(again); ok {
			all.Add(x)
		}
	}
	lo, ok := stat.Quantile(all.Sorted(), 0.025)
	hi, _ = stat.Quantile(all.Sorted(), 0.975)
	if !ok {
		return k, k
	}
	return math.Min(lo, k), math.Max(hi, k)
}

// front lists the points that no other one beats in both figures, from the
// fastest for one reader on.
func (s *Sweep) front() []Pareto {
	var all []Pareto
	for i := range s.Points {
		p := &s.Points[i]
		user, ok := p.TPSPerUser.Get()
		tps, has := p.TPSPerGPU.Get()
		if !has {
			tps, has = p.Throughput.SystemOutputTPS.Get()
		}
		if ok && has && p.Validity.Of(validity.Throughput) != validity.Invalid && p.Validity.Of(validity.TPOT) != validity.Invalid && !s.Short(p) {
			all = append(all, Pareto{Value: p.Value, Run: p.Run, TPSPerUser: user, TPSPerGPU: tps})
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(b.TPSPerUser, a.TPSPerUser), cmp.Compare(b.TPSPerGPU, a.TPSPerGPU)) < 0
	})
	best := []Pareto{}
	for _, p := range all {
		if len(best) == 0 || p.TPSPerGPU > best[len(best)-1].TPSPerGPU {
			best = append(best, p)
		}
	}
	return best
}
