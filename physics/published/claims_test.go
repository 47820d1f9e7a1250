package published

import (
	"testing"

	"tokenmeter/physics/sim"
)

func TestClaimsHold(t *testing.T) {
	for _, c := range append(append([]Claim{}, Misconceptions...), Techniques...) {
		var rows []sim.Trial
		for _, s := range c.Shows {
			trials, err := s.Run()
			if err != nil {
				t.Fatalf("%s: %v", s.Command(), err)
			}
			rows = append(rows, trials...)
		}
		for _, wrong := range c.Check(rows) {
			t.Errorf("%s: %s", c.Name, wrong)
		}
		if len(c.Holds) == 0 {
			t.Errorf("%s holds nothing", c.Name)
		}
		if testing.Verbose() {
			t.Logf("%s\n%s", c.Name, TrialTable(rows).Text())
		}
	}
}
