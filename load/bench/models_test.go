package bench

import (
	"slices"
	"strings"
	"testing"

	"tokenmeter/load/workload"
	"tokenmeter/record/metric"
)

// A run of which requests were for other models than its own says so.
func TestOtherModels(t *testing.T) {
	for _, c := range []struct {
		models []workload.ModelShare
		want   string
	}{
		{nil, ""},
		{[]workload.ModelShare{{Name: "m", Share: 1}}, ""},
		{[]workload.ModelShare{{Name: "b", Share: 1}, {Name: "a", Share: 1}, {Name: "m", Share: 1}}, "in place of m: a, b."},
	} {
		l, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{Input: "20", Output: "4", Models: c.models}}, workload.Options{Seed: 1, Salt: "s"})
		if err != nil {
			t.Fatal(err)
		}
		f := &fake{chat: echo}
		res := virtual(t, f, Plan{Model: "m", Load: Load{Requests: 40, Concurrency: 2, Warmup: Warmup{Off: true}}, Content: Content{Workload: l}}, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		i := slices.IndexFunc(res.run.Warnings, func(w metric.Warning) bool { return w.Name == "other_models" })
		if c.want == "" && i >= 0 || c.want != "" && (i < 0 || !strings.HasSuffix(res.run.Warnings[i].Says, c.want)) {
			t.Errorf("%v: %+v", c.models, res.run.Warnings)
		}
	}
}
