package trend

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"tokenmeter/record/timeline"
)

// A month of a provider, written without a look at how changes are found: light
// probes every minute, long ones every three hours. Their logarithms are noise of
// each probe, a wander that forgets in 50 minutes, a day with a steep morning, a
// quieter weekend, and what is planted.
type month30 struct {
	rng     *rand.Rand
	target  string
	steps   []planted
	drift   planted // size a day, for a week
	outages []time.Time
}

type planted struct {
	at     time.Time
	metric int
	size   float64 // 0.1: 10 % more
}

var monthBegins = time.Date(2026, 10, 5, 0, 0, 0, 0, time.UTC) // a Monday

const (
	daysBefore = 28 // of watching, before the month
	daysInAll  = daysBefore + 30
)

func (m *month30) day(d float64) time.Time {
	return monthBegins.Add(time.Duration(d * 24 * float64(time.Hour)))
}

func (m *month30) rows() (rows []Row) {
	wander := [2]float64{}
	spread := [2]float64{0.12, 0.06} // of a probe: TTFT, TPOT
	typical := [2]float64{math.Log(400), math.Log(18)}
	heavy := [2]float64{0.25, 0.07} // the day's swing
	const forget = 0.98
	for minute := range daysInAll * 1440 {
		at := monthBegins.Add(time.Duration(minute)*time.Minute + time.Duration(m.rng.IntN(60))*time.Second)
		hour := float64(minute%1440) / 60
		// Up steeply from 8, down slowly until 23.
		swing := 0.0
		if hour > 8 && hour < 23 {
			swing = math.Min((hour-8)/2, 1) * (23 - hour) / 15
		}
		if d := at.Weekday(); d == time.Saturday || d == time.Sunday {
			swing *= 0.4
		}
		out := false
		for _, o := range m.outages {
			out = out || !at.Before(o) && at.Before(o.Add(40*time.Minute))
		}
		for i := range wander {
			wander[i] = forget*wander[i] + 0.025*math.Sqrt(1-forget*forget)*m.rng.NormFloat64()
		}
		kinds := []string{"light"}
		if minute%180 == 97 {
			kinds = append(kinds, "10k-long")
		}
		for _, kind := range kinds {
			r := Row{At: at, Target: m.target, Kind: kind}
			r.Failed = out || m.rng.Float64() < 0.003
			r.Values[Errors] = share(r.Failed)
			for i, metric := range []int{TTFT, TPOT} {
				x := typical[i] + wander[i] + heavy[i]*swing
				noise := spread[i]
				if kind == "10k-long" {
					x, noise = x+0.5, noise/3 // over many more tokens
				}
				x += noise * m.rng.NormFloat64()
				if m.rng.Float64() < 0.01 {
					x += 1.5 // a hiccup
				}
				for _, s := range m.steps {
					if s.metric == metric && !at.Before(s.at) {
						x += math.Log1p(s.size)
					}
				}
				if d := m.drift; d.metric == metric && d.size != 0 {
					x += math.Log1p(d.size) * math.Min(math.Max(at.Sub(d.at).Hours()/24, 0), 7)
				}
				if !r.Failed {
					r.Values[metric] = timeline.Some(math.Exp(x))
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func until(rows []Row, end time.Time) []Row {
	for i := range rows {
		if !rows[i].At.Before(end) {
			return rows[:i]
		}
	}
	return rows
}

// Of steps of 10 %, up and down, 95 % and more are told a day later, from what had
// come until then, with the moment and the size; and a target has at most one
// false alarm a month, with cycles, drifts and outages going on.
func TestAMonthOfSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates months")
	}
	const targets = 20
	found, planned, within, false30, covered := 0, 0, 0, 0, 0
	for n := range targets {
		rng := rand.New(rand.NewPCG(uint64(n), 26))
		m := month30{rng: rng, target: "t"}
		for range rng.IntN(4) {
			m.outages = append(m.outages, m.day(daysBefore+30*rng.Float64()))
		}
		for _, metric := range []int{TTFT, TPOT} {
			size := 0.1
			if rng.IntN(2) == 0 {
				size = -0.1
			}
			m.steps = append(m.steps, planted{m.day(daysBefore + 2 + 25*rng.Float64()), metric, size})
		}
		if n%3 == 0 { // a drift of 1 % a day for a week, whenever
			m.drift = planted{m.day(10 + 40*rng.Float64()), TPOT, 0.01}
		}
		rows := m.rows()
		for _, s := range m.steps {
			planned++
			seen := until(rows, s.at.Add(24*time.Hour))
			changes, _ := Changes(seen, nil)
			for _, c := range changes {
				if c.Kind == "light" && c.Metric == names[s.metric] && math.Abs(c.At.Sub(s.at).Hours()) < 12 && (c.Change > 0) == (s.size > 0) {
					found++
					if math.Abs(c.At.Sub(s.at).Hours()) < 3 {
						within++
					}
					if c.Lo <= s.size && s.size <= c.Hi {
						covered++
					}
					break
				}
			}
		}
		// Each day of the month again: alarms that belong to nothing that was planted.
		told := map[string]bool{}
		for day := daysBefore + 1; day <= daysInAll; day += 4 {
			changes, _ := Changes(until(rows, m.day(float64(day))), nil)
			for _, c := range changes {
				if m.planted(c) || c.Known.Before(m.day(daysBefore)) {
					continue
				}
				told[c.Kind+c.Metric+c.At.Format("02")] = true
			}
		}
		if len(told) > 0 {
			t.Logf("target %d: false %v", n, told)
		}
		false30 += len(told)
	}
	t.Logf("%d of %d steps found, %d within 3 h, %d intervals cover; %d false alarms in %d months", found, planned, within, covered, false30, targets)
	if found < planned*95/100 {
		t.Errorf("%d of %d steps were found within a day", found, planned)
	}
	if false30 > targets {
		t.Errorf("%d false alarms in %d months", false30, targets)
	}
	if covered < planned*80/100 {
		t.Errorf("%d of %d intervals hold the true size", covered, planned)
	}
}

// planted reports whether a change is one that was planted: of any kind of probe.
func (m *month30) planted(c Change) bool {
	for _, s := range m.steps {
		if names[s.metric] == c.Metric && math.Abs(c.At.Sub(s.at).Hours()) < 24 {
			return true
		}
	}
	for _, o := range m.outages {
		if c.Metric == "error_rate" && math.Abs(c.At.Sub(o).Hours()) < 6 {
			return true
		}
	}
	d := m.drift
	return d.size != 0 && names[d.metric] == c.Metric && c.At.After(d.at.Add(-24*time.Hour)) && c.At.Before(d.at.Add(9*24*time.Hour))
}
