package view

import (
	"fmt"
	"strings"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// rooflineWords is how near the run came to what its hardware can, in a line.
func rooflineWords(r *run.Run) string {
	use := r.Roofline
	if use == nil || r.Hardware == nil {
		return ""
	}
	var l list
	l.add("MBU %s", use.MBU, typeset.Percent)
	l.add("MFU %s", use.MFU, typeset.Percent)
	if batch, ok := use.Batch.Get(); ok {
		l.add("%s ms", use.LeastTPOTMS, func(least float64) string {
			return fmt.Sprintf("bound by %s: TPOT of %s together is at least %s", use.Bound, typeset.Plural(int64(batch+0.5), "stream"), typeset.Digits{}.Value(least))
		})
	}
	return strings.TrimSpace(r.Hardware.Name + ": " + l.String())
}
