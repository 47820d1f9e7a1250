package imports

import (
	"fmt"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// readInferenceX reads a row of InferenceX's results, or one of a list of them, whose
// times are seconds. Its rates are of one GPU, and stay out. Source:
// SemiAnalysisAI/InferenceX, utils/process_result.py.
func readInferenceX(in *Input, _ func(*timeline.Timeline) error) (run.Run, error) {
	m := run.Run{}
	row, at, name, err := pick(in, objects, func(row *object) string {
		o := *row
		name := naming(text(o, "hw"), text(o, "framework"), text(o, "infmax_model_prefix"), text(o, "precision"))
		for _, key := range []string{"tp", "isl", "osl", "conc"} {
			if v, ok := o[key]; ok {
				name += fmt.Sprintf(" %s=%v", key, v)
			}
		}
		return name
	})
	if err != nil {
		return m, err
	}
	o, t := *row, newTold(in, at)
	m.Name, m.Target.Model, m.Target.Server = name, text(o, "model"), text(o, "framework")
	m.Load.Kind = "closed"
	m.Load.Concurrency = t.whole(t.number(o, "conc"))
	for name, our := range map[string]string{"ttft": "ttft_ms", "tpot": "tpot_ms", "itl": "icl_ms", "e2el": "e2e_ms"} {
		for key, stat := range map[string]string{"mean": "mean", "median": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p999"} {
			t.stat(our, stat, t.number(o, key+"_"+name), 1000)
		}
	}
	t.in.note("rates of InferenceX are of one GPU: they are left out")
	err = t.into(&m)
	return m, err
}
