package view

import (
	"fmt"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// rooflineWords is how near the run came to what its hardware can, in a line.
func rooflineWords(r *run.Run) string {
	use := r.Roofline
	if use == nil || r.Hardware == nil {
		return ""
	}
	text := r.Hardware.Name + ":"
	add := func(format string, args ...any) {
		if text[len(text)-1] != ':' {
			text += ","
		}
		text += " " + fmt.Sprintf(format, args...)
	}
	if v, ok := use.MBU.Get(); ok {
		add("MBU %s", typeset.Percent(v))
	}
	if v, ok := use.MFU.Get(); ok {
		add("MFU %s", typeset.Percent(v))
	}
	least, ok := use.LeastTPOTMS.Get()
	batch, ok2 := use.Batch.Get()
	if ok && ok2 {
		add("bound by %s: TPOT of %s together is at least %s ms", use.Bound, typeset.Plural(int64(batch+0.5), "stream"), typeset.Digits{}.Value(least))
	}
	return text
}
