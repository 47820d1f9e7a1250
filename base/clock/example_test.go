package clock_test

import (
	"context"
	"fmt"

	"tokenmeter/base/clock"
)

// A pacer waits for absolute moments, so that lateness never adds up.
func ExampleClock_Precise() {
	c := clock.Start()
	s := c.Precise()
	defer s.Close()
	for us := int64(1000); us <= 3000; us += 1000 {
		if err := s.WaitUntil(context.Background(), us); err != nil {
			return
		}
		fmt.Println("due", us, "early", c.US() < us)
	}
	// Output:
	// due 1000 early false
	// due 2000 early false
	// due 3000 early false
}
