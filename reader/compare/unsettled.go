package compare

import (
	"fmt"
	"strconv"
)

// unsettled says what keeps a tested row from a verdict, of so many tests in all.
func (row *Row) unsettled(o *Options, tests int) string {
	between := strconv.FormatFloat(o.RunNoise*100, 'g', 3, 64)
	switch p := row.P.Or(1); {
	case row.CI95 == nil:
		return "it has no interval"
	case !row.excludesZero():
		return "the interval has room for no difference and for one that matters"
	case row.byRequests() && (row.inside(o) || p > Level):
		return fmt.Sprintf("real within these runs, and not surely beyond the ± %s %% that runs of one server may differ by", between)
	case row.PPermutation.Or(0) > Level && row.UnitOfAnalysis == ByRound:
		return "when the signs of the rounds' differences are dealt anew, so large a difference is not rare"
	case row.PPermutation.Or(0) > Level && row.UnitOfAnalysis == ByRun:
		return "when the runs are dealt to the sides anew, so large a difference is not rare"
	case p <= Level:
		return fmt.Sprintf("among %d figures one may differ so much by chance", tests)
	}
	return "an exact test gives so large a difference by chance too often"
}

// byRequests reports whether the row is a figure of single runs, of which only a
// difference beyond that of runs of one server counts.
func (row *Row) byRequests() bool { return row.UnitOfAnalysis == ByRequest && !row.Share() }

// tests is the number of rows that were tested.
func (r *Result) tests() int {
	n := 0
	for i := range r.Rows {
		if r.Rows[i].P.OK() {
			n++
		}
	}
	return n
}
