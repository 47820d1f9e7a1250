package bench

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Beside looks at the server while a run goes on: at its metrics, at its GPUs. It
// works by itself, holds nothing up, and can't fail a run.
type Beside interface {
	Start(nowUS func() int64) // the run begins; nowUS is its clock
	Measure()                 // what counts begins
	// Stop ends it, soon. Warnings are of what could not be read.
	Stop() (*metric.ServerMetrics, []metric.ServerSample, []metric.Warning)
}

// beside starts what looks at the server.
func (r *runner) beside() Beside {
	var b Beside = nothingBeside{}
	if r.plan.Beside != nil {
		b = r.plan.Beside(r.plan.Client)
	}
	b.Start(r.clk.US)
	return b
}

// aside takes what was seen of the server into the run.
func (r *runner) aside(m *run.Run, b Beside, w *run.Writer) {
	told, samples, warnings := b.Stop()
	m.ServerMetrics = told
	for _, n := range warnings {
		r.log.notice(n.Name, n.Value, "%s", n.Says)
	}
	if err := w.ServerSamples(samples); err != nil {
		r.log.notice("server_metrics_lost", timeline.Opt[float64]{}, "What the server told of itself could not be written: %v.", err)
	}
}

type nothingBeside struct{}

func (nothingBeside) Start(func() int64) {}
func (nothingBeside) Measure()           {}
func (nothingBeside) Stop() (*metric.ServerMetrics, []metric.ServerSample, []metric.Warning) {
	return nil, nil, nil
}
