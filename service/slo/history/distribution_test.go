package history

import (
	"reflect"
	"testing"

	"tokenmeter/service/slo"

	"pgregory.net/rapid"
)

// A name is read back as it was, whatever a configuration calls its routes.
func TestNamesOfDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Distribution{"ttft", slo.Live, slo.Labels{}}
		for _, name := range slo.Dimensions() {
			if value := rapid.String().Draw(t, name); value != "" {
				d.Labels[name] = value
			}
		}
		got, ok := ParseDistribution(d.Name())
		if !ok || !reflect.DeepEqual(got, d) {
			t.Fatalf("%q is %+v (%v), want %+v", d.Name(), got, ok, d)
		}
	})
	for _, text := range []string{"", "ttft", "ttft live chat", "ttft?%zz", "ttft?model=m"} {
		if d, ok := ParseDistribution(text); ok {
			t.Errorf("%q is %+v", text, d)
		}
	}
}
