package metric

import (
	"tokenmeter/record/stat"
)

// Drift compares a metric in the two halves of the measured requests, by due time.
type Drift struct {
	Metric        string
	First, Second float64 // medians
	Change        float64 // Second ÷ First − 1
	Beyond        bool    // the halves differ by more than the run wanders by itself
	// Tested is false where the run is worth too few independent requests to
	// tell drift from wandering; NeedFactor times as long a run could.
	Tested     bool
	NeedFactor float64
	// Requests and Worth are the values and how many independent ones they are.
	Requests int64
	Worth    float64
	// Beginning is how many of the first values are best left out, by MSER-5
	// (White 1997); 0 where none are, or the run never settles.
	Beginning int
}

// drifts looks at the two figures that a change of the server's state shows in; where
// nothing was streamed, at the whole time.
func (c *Collector) drifts() []Drift {
	var out []Drift
	looked := []string{"ttft_ms", "tpot_ms"}
	if sound := c.samples["ttfa_ms"]; sound != nil && sound.Len() > 0 {
		looked = []string{"ttfa_ms", "e2e_ms"}
	} else if c.at(looked[0]).Len() == 0 {
		looked = []string{"e2e_ms"}
	}
	for _, name := range looked {
		v := c.samples[name]
		if v == nil || v.Len() < 2 {
			continue
		}
		s := c.order.Series(v)
		n := len(s.Values)
		first, _ := stat.Quantile(halfOf(s.Values[:n/2]), 0.5)
		second, _ := stat.Quantile(halfOf(s.Values[n/2:]), 0.5)
		if !(first > 0) {
			continue
		}
		d := s.Drift(1 - 0.05/float64(len(looked)))
		beginning, settles := stat.SteadyFrom(s.Values, 5)
		if !settles {
			beginning = 0
		}
		out = append(out, Drift{Beginning: beginning, Metric: name, First: first, Second: second, Change: second/first - 1,
			Beyond: d.Alarm, Tested: d.Tested, NeedFactor: d.NeedFactor, Requests: int64(n), Worth: d.Moments})
	}
	return out
}

func halfOf(values []float64) stat.Sorted {
	var s stat.Sample
	for _, x := range values {
		s.Add(x)
	}
	return s.Sorted()
}
