package stat

import "testing"

// However many requests there are, a share above the target is no evidence that it is
// below, and the other way round: under each share beyond the target they are less likely
// than under the target itself.
func TestShareEvidenceOfManyNeverTurnsRound(t *testing.T) {
	for _, target := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
		for n := 10.0; n < 3e6; n *= 1.003 {
			for _, part := range []float64{0, 0.5, 0.9, 0.99} {
				good := target + (1-target)*(1-part)
				if above, below := ShareEvidence(n*good, n, target); below > 0 || !(above >= -20) {
					t.Fatalf("%v of %v against %v: above %v, below %v", good, n, target, above, below)
				}
				if above, _ := ShareEvidence(n*target*part, n, target); above > 0 {
					t.Fatalf("%v of %v against %v: above %v", target*part, n, target, above)
				}
			}
		}
	}
}
