//go:build !lean

package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// writeBenchstat writes Go's benchmark format, a line a request that went well.
// benchstat takes lines for independent, which requests of one run seldom are. Source:
// go.dev/design/14313-benchmark-format.
func writeBenchstat(w io.Writer, f *run.Folder) error {
	m := f.Run()
	out := bufio.NewWriter(w)
	line := func(text string) string { return strings.ReplaceAll(printable.Text(text), "\n", " ") }
	fmt.Fprintf(out, "run: %s\nmodel: %s\napi: %s\n", line(m.Name), line(m.Target.Model), line(m.Target.API))
	out.WriteString("Unit ttft-ms better=lower\nUnit tpot-ms better=lower\nUnit e2e-ms better=lower\nUnit decode-tokens/s better=higher\n")
	failed := 0
	err := each(f, func(rec *metric.Record, tl *timeline.Timeline) error {
		if !tl.Phase.Counts() || tl.Outcome.Cancelled() {
			return nil
		}
		if rec.Error != nil {
			failed++
			return nil
		}
		var values strings.Builder
		for _, v := range []struct {
			unit string
			v    timeline.Opt[float64]
		}{{"ttft-ms", rec.TTFTMS}, {"tpot-ms", rec.TPOTMS}, {"e2e-ms", rec.E2EMS}, {"decode-tokens/s", rec.DecodeTPS}} {
			if x, ok := v.v.Get(); ok {
				fmt.Fprintf(&values, "\t%v %s", x, v.unit)
			}
		}
		if values.Len() > 0 {
			fmt.Fprintf(out, "BenchmarkRequest\t1%s\n", values.String())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if failed > 0 {
		fmt.Fprintf(out, "failed-requests: %d\n", failed)
	}
	return out.Flush()
}
