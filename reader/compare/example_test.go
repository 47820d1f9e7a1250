package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"tokenmeter/reader/compare"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// answers makes the records of a run whose tokens come every so many
// milliseconds.
func answers(rng *rand.Rand, tpot float64, n int) []metric.Record {
	var list []metric.Record
	for i := range n {
		pace := tpot * math.Exp(0.1*rng.NormFloat64())
		list = append(list, metric.Record{Request: int64(i), Phase: timeline.Measure, Outcome: timeline.OK, DueS: float64(i),
			TTFTMS: timeline.Some(10 * pace), TPOTMS: timeline.Some(pace), E2EMS: timeline.Some(110 * pace)})
	}
	return list
}

func ExampleCompare() {
	rng := rand.New(rand.NewPCG(1, 2))
	gates, _ := compare.ParseGates([]string{"p50 tpot +3%"})
	side := func(name string, tpot float64, hour int) compare.Group {
		g := compare.Group{Name: name}
		for i := range 5 { // measured in turns
			c := compare.NewCollector(run.Run{Name: name, Started: time.Date(2026, 11, 27, hour+2*i, 0, 0, 0, time.UTC)}, gates...)
			for _, r := range answers(rng, tpot, 200) {
				c.AddRecord(&r)
			}
			g.Runs = append(g.Runs, c.Run())
		}
		return g
	}
	r, err := compare.Compare(side("main", 24, 0), []compare.Group{side("change", 25.5, 1)}, compare.Options{Gates: gates, Metrics: []string{"tpot"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict, r.Says)
	fmt.Println(r.Gates[0].Text, r.Gates[0].State)
	// Output:
	// worse change streams slower.
	// p50 tpot +3% broken
}

func ExampleCanary() {
	rng := rand.New(rand.NewPCG(1, 2))
	canary, err := compare.NewCanary(compare.CanaryOptions{Metrics: []string{"tpot"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	before, after := answers(rng, 24, 5000), answers(rng, 27, 5000)
	for i := range before {
		canary.Add(compare.SideA, &before[i])
		canary.Add(compare.SideB, &after[i])
		if canary.State() != compare.Continue {
			break // it may be asked at any time
		}
	}
	fmt.Println(canary.State())
	// Output: worse
}
