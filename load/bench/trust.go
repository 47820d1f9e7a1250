package bench

import (
	"time"

	"tokenmeter/load/machine"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// trust judges the measurement while it goes on, from what is cheap to know:
// the machine, lateness, failures. The verdict at the end knows more.
type trust struct {
	machine *machine.Machine
	from    machine.Sample
	at      time.Time
	text    string
}

// trustEvery is how often the machine is looked at.
const trustEvery = time.Second

func newTrust() *trust {
	m := machine.This()
	return &trust{machine: m, from: m.Sample(), at: time.Now(), text: validity.Valid}
}

// look returns "valid", or the worst verdict with the check that gave it.
func (t *trust) look(r *runner) string {
	if time.Since(t.at) < trustEvery {
		return t.text
	}
	t.at = time.Now()
	c := r.rec.of(timeline.Measure)
	f := validity.Facts{
		Facts: metric.Facts{Requests: c.ok + c.failed, Failed: c.failed},
	}
	if c.ok > 0 {
		// Whether stamps were lost to late reading is told at the end.
		f.KernelShare, f.ChargedLagP99MS = timeline.Some(float64(c.stamped)/float64(c.ok)), timeline.Some(0.0)
	}
	if p := r.plan; p.open() && p.Concurrency == 0 && p.Prefills == 0 { // with a cap it waits for a place
		f.OpenLoop = true
		f.SendLateP99MS = r.rec.lateness(0.99)
	}
	t.from.Until(t.machine.Sample()).Client(&f.Client)
	t.text = worst(validity.Judge(f))
	return t.text
}

func worst(v validity.Validity) string {
	if v.Verdict == validity.Valid {
		return v.Verdict
	}
	for _, c := range v.Checks {
		if c.Verdict == v.Verdict {
			return v.Verdict + ":" + c.Name
		}
	}
	return v.Verdict
}
