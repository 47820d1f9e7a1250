// Command brackets says whether the brackets of two searches of one server meet.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"tokenmeter/load/sweep/result"
)

func main() {
	lo, hi := 0.0, 0.0
	for i, path := range os.Args[1:] {
		data, err := os.ReadFile(path)
		if err != nil {
			fail(err.Error())
		}
		var s result.Sweep
		if err := json.Unmarshal(data, &s); err != nil || s.Found == nil {
			fail(fmt.Sprintf("%s holds no search: %v", path, err))
		}
		holds, fails := s.Found.Holds.Or(0), s.Found.Fails.Or(0)
		took := 0.0
		if s.Finished != nil {
			took = s.Finished.Sub(s.Started).Seconds()
		}
		fmt.Printf("[%.4g, %.4g] %s, %d probes, %d requests, %.0f s; %s\n", holds, fails, s.Found.Variable, s.Found.Probes, s.Found.Requests, took, s.Found.Why)
		if !(holds > 0) || !(fails > holds) {
			fail("no bracket was found")
		}
		if i == 0 {
			lo, hi = holds, fails
			continue
		}
		if holds > hi || fails < lo {
			fail("the brackets do not meet")
		}
		lo, hi = max(lo, holds), min(hi, fails)
	}
	fmt.Printf("the brackets meet in [%.4g, %.4g]\n", lo, hi)
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}
