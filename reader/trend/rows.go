// Package trend is what measurements that are repeated over days say: medians
// over a window, and when something changed. It reads the run folders of probes,
// other runs, and rows of live traffic.
package trend

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Row is one request, and where it belongs.
type Row struct {
	At     time.Time // when it was due
	Target string    // the run's name, else its model and server
	Kind   string    // of probe (workload_class); empty without one
	// Server is what the target said it was (run.json); empty: nothing.
	Server string
	// AnsweredBy is what it called itself in this answer; empty: nothing.
	AnsweredBy string
	// Published is what a router said of the target when its run began.
	Published []run.Published
	Failed    bool
	Values    Values
}

// Values are figures of a request, in the order of names. error_rate and
// wrong_rate are 0 or 1 of a request: their mean is the share.
type Values [len(names)]timeline.Opt[float64]

var names = [...]string{"ttft_ms", "tpot_ms", "norm_decode_tps", "decode_tps", "e2e_ms", "error_rate", "wrong_rate", "cost_usd"}

// The places of figures in Values.
const (
	TTFT = iota
	TPOT
	NormTPS
	DecodeTPS
	E2E
	Errors
	Wrong
	Cost
)

// valuesOf are the figures of a record.
func valuesOf(r *metric.Record) (v Values) {
	v[TTFT], v[TPOT], v[NormTPS], v[DecodeTPS], v[E2E], v[Cost] = r.TTFTMS, r.TPOTMS, r.NormDecodeTPS, r.DecodeTPS, r.E2EMS, r.CostUSD
	v[Errors] = share(r.Outcome.Failed())
	if r.Outcome.Failed() { // how far a failed request came is no speed of the target
		for _, i := range []int{TTFT, TPOT, NormTPS, DecodeTPS, E2E, Cost} {
			v[i] = timeline.Opt[float64]{}
		}
	}
	if r.Check != nil {
		v[Wrong] = share(*r.Check == "fail")
	}
	return v
}

func share(is bool) timeline.Opt[float64] {
	if is {
		return timeline.Some(1.0)
	}
	return timeline.Some(0.0)
}

// Read reads the measured requests of all run folders, and of live traffic all
// tables (rows: of the daemon), at or below some paths that are due at or after a
// moment, in order of time. notes say what was damaged. Where there is none of both it
// is run.ErrNoRun.
func Read(paths []string, since time.Time) (rows []Row, notes []string, err error) {
	found, err := run.Find(paths, isLive)
	if err == nil && len(found) == 0 { // a watch over the wrong folder must not look like one that finds nothing
		err = fmt.Errorf("%w and no table of live requests is in %s", run.ErrNoRun, strings.Join(paths, ", "))
	}
	if err != nil {
		return nil, nil, err
	}
	for _, at := range found {
		if isLive(filepath.Base(at)) {
			rows, notes = readLive(rows, notes, at, since)
		} else {
			rows, notes = readFolder(rows, notes, at, since)
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].At.Before(rows[j].At) })
	return rows, notes, nil
}

// isLive reports whether a file is a table of live requests, by its name.
func isLive(name string) bool {
	return strings.HasPrefix(name, "live-") && strings.HasSuffix(name, ".parquet")
}

func readFolder(rows []Row, notes []string, dir string, since time.Time) ([]Row, []string) {
	f, err := run.Open(dir)
	if err != nil {
		return rows, append(notes, fmt.Sprintf("%s: %v", dir, err))
	}
	defer f.Close()
	r := f.Run()
	if r.Finished != nil && r.Finished.Before(since) {
		return rows, notes
	}
	for _, note := range f.Notes() {
		notes = append(notes, dir+": "+note)
	}
	target := targetOf(&r)
	for rec, err := range f.Records() {
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: %v", dir, err))
			break
		}
		at := r.Started.Add(time.Duration(rec.DueS * float64(time.Second)))
		if !rec.Phase.Counts() || rec.Outcome.Cancelled() || at.Before(since) {
			continue
		}
		kind := ""
		if rec.Class != nil {
			kind = *rec.Class
		}
		rows = append(rows, Row{At: at, Target: target, Kind: kind, Server: r.Target.Server, Published: r.Published, Failed: rec.Outcome.Failed(), Values: valuesOf(&rec)})
		if rec.AnsweredBy != nil {
			rows[len(rows)-1].AnsweredBy = *rec.AnsweredBy
		}
	}
	return rows, notes
}

// liveKind stands where probes have their kind.
const liveKind = "live"

// readLive reads users' requests. Those of probes are in run folders of their own.
func readLive(rows []Row, notes []string, path string, since time.Time) ([]Row, []string) {
	err := run.ReadLive(path, func(r *run.LiveFigures) error {
		outcome := timeline.Outcome(r.Outcome)
		if r.Source != "live" || r.Unmeasured != nil || outcome.Cancelled() || r.At.Before(since) {
			return nil
		}
		row := Row{At: r.At, Target: strings.TrimSpace(r.ModelLabel + " " + r.Upstream), Kind: liveKind, Failed: outcome.Failed()}
		row.Values[Errors] = share(row.Failed)
		if !row.Failed {
			row.Values[TTFT], row.Values[TPOT], row.Values[Cost] = timeline.FromPtr(r.TTFTMS), timeline.FromPtr(r.TPOTMS), timeline.FromPtr(r.CostUSD)
		}
		if r.AnsweredBy != nil {
			row.AnsweredBy = *r.AnsweredBy
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		notes = append(notes, err.Error())
	}
	return rows, notes
}

// targetOf is what a run measured.
func targetOf(r *run.Run) string {
	if r.Name != "" {
		return r.Name
	}
	return strings.TrimSpace(r.Target.Model + " " + r.Target.URL)
}
