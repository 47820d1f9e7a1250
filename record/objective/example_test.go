package objective_test

import (
	"fmt"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

func ExampleParse() {
	o, err := objective.Parse("TPOT P99 below 0.12 s")
	fmt.Println(o, err)
	_, err = objective.Parse("p99 tpto < 120ms")
	fmt.Println(err)
	// Output:
	// p99 tpot < 120ms <nil>
	// objective "p99 tpto < 120ms", column 5: no metric is called "tpto"; did you mean "tpot"?
}

func ExampleGoodOf() {
	limits, _ := objective.ParseAll([]string{"ttft:500 tpot:50"})
	quick := metric.Record{Outcome: timeline.OK, TTFTMS: timeline.Some(300.0), TPOTMS: timeline.Some(20.0)}
	one := metric.Record{Outcome: timeline.OK, TTFTMS: timeline.Some(300.0)} // one token: no TPOT
	failed := metric.Record{Outcome: timeline.HTTP5xx}
	for _, r := range []metric.Record{quick, one, failed} {
		good, judged := objective.GoodOf(limits, &r).Get()
		fmt.Println(good, judged)
	}
	// Output:
	// true true
	// true true
	// false true
}
