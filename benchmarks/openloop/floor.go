package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"time"

	"tokenmeter/base/clock"
)

// work is about what a request costs the thread that sends it.
const work = 40 * time.Microsecond

// wait does nothing but to wait for the due times of a constant schedule, and to
// spend the time that making and sending a request takes. How late it is, is what
// the machine does to any program on that core.
func wait() error {
	clk := clock.Start()
	sleeper := clk.Precise()
	defer sleeper.Close()
	ctx := context.Background()
	gap := 1e6 / *rate // µs
	n := int(*rate * float64(*seconds))
	late := make([]float64, 0, n) // ms
	begun := clk.US() + 100_000
	for i := range n {
		due := begun + int64(float64(i)*gap)
		if err := sleeper.WaitUntil(ctx, due); err != nil {
			return err
		}
		now := clk.US()
		late = append(late, float64(now-due)/1000)
		for end := now + work.Microseconds(); clk.US() < end; {
		}
	}
	slices.Sort(late)
	return json.NewEncoder(os.Stdout).Encode(figures{LateP50: at(late, 0.5), LateP99: at(late, 0.99), LateMax: at(late, 1)})
}
