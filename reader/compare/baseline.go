package compare

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
)

// BaselineSchema names the version of a baseline file.
const (
	BaselineSchema  = baselineSchemas + "v2"
	baselineSchemas = "tokenmeter.baseline/"
)

// baselineFile is a side kept in a file to be committed: what identifies its
// runs, and of each metric enough to test against.
type baselineFile struct {
	Schema string         `json:"schema"`
	Name   string         `json:"name"`
	Saved  time.Time      `json:"saved"`
	Runs   []baselineRun  `json:"runs"`
	Pools  []baselinePool `json:"pools,omitempty"`
	// Checksum is that of the rest, and the last field; older files have none.
	Checksum string `json:"checksum,omitempty"`
}

// baselinePool is a pool of the runs at these places of the list.
type baselinePool struct {
	Runs        []int                         `json:"runs"`
	Percentiles map[string]map[string]float64 `json:"percentiles"`
}

type baselineRun struct {
	Facts  Facts                     `json:"facts"`
	Series map[string]baselineSeries `json:"series"`
}

// baselineSeries holds lists as text, so that a line of the file is a block.
type baselineSeries struct {
	// Histograms: edges, which bins are points, for each block the count in
	// each bin and the sum of the values.
	Requests int `json:"requests,omitempty"`
	// Design is how many requests tell as much as one independent request.
	Design    float64            `json:"design,omitempty"`
	Quantiles map[string]float64 `json:"quantiles,omitempty"`
	Edges     string             `json:"edges,omitempty"`
	Points    string             `json:"points,omitempty"` // a digit a bin: 1 is a point
	Blocks    []string           `json:"blocks,omitempty"`
	Sums      string             `json:"sums,omitempty"`
	// Shares and rates: numerators and denominators of the blocks.
	Num string `json:"num,omitempty"`
	Den string `json:"den,omitempty"`
	// Whole is a rate's own numerator and denominator: the blocks of a closed
	// loop add up the time of every stream, the run's figure has its time once.
	Whole string `json:"whole,omitempty"`
}

// kept are the metrics of a baseline file beside those that make rows.
var kept = []string{"tpot_adj_ms", "requests_per_s", "max_gap_ms"}

// WriteBaseline writes a side as a small file against which later runs can be
// tested. Metrics and percentiles that only gates name are kept too.
func WriteBaseline(w io.Writer, g Group, saved time.Time, gates ...Gate) error {
	file := baselineFile{Schema: BaselineSchema, Name: g.Name, Saved: saved.UTC().Round(time.Second)}
	place := map[*Run]int{}
	for i, r := range g.Runs {
		place[r] = i
		file.Runs = append(file.Runs, baselineRun{Facts: r.Facts})
	}
	pool := func(runs []*Run) {
		p := baselinePool{Percentiles: pooledPercentiles(runs, gates)}
		for _, r := range runs {
			p.Runs = append(p.Runs, place[r])
		}
		file.Pools = append(file.Pools, p)
	}
	workloads := alike(g.Runs)
	for _, runs := range workloads {
		blocks := keptBlocks
		if len(runs) >= 3 {
			blocks = 1 // the run is the unit, whatever it is compared with
		}
		for _, r := range runs {
			file.Runs[place[r]].Series = r.encode(blocks, gates)
		}
		if len(runs) > 1 {
			pool(runs)
		}
	}
	if len(workloads) > 1 {
		pool(g.Runs)
	}
	sum, err := run.Seal(&file)
	if err != nil {
		return err
	}
	file.Checksum = sum
	data, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(printable.JSON(data), '\n'))
	return err
}

// encode makes the form of the metrics that a file keeps of a run.
func (r *Run) encode(blocks int, gates []Gate) map[string]baselineSeries {
	out := map[string]baselineSeries{}
	for key, s := range r.series {
		if keeps(key, gates) {
			out[key] = encodeSeries(s, blocks, percentilesKept(key, gates))
		}
	}
	return out
}

func keeps(key string, gates []Gate) bool {
	if m := measureNamed(key); m != nil && len(m.stats) > 0 {
		return true
	}
	return slices.Contains(kept, key) || slices.ContainsFunc(gates, func(g Gate) bool { return g.measure != nil && g.measure.key == key })
}

func encodeSeries(s series, blocks int, percentiles []string) baselineSeries {
	switch s := s.(type) {
	case *listed:
		return s.bin(blocks, percentiles).encode()
	case *binned:
		return s.encode()
	}
	list := s.sums()
	var num, den []float64
	for _, p := range summed(list, blocks) {
		num, den = append(num, p.Num), append(den, p.Den)
	}
	out := baselineSeries{Num: numbers(num), Den: numbers(den), Requests: s.requests(), Design: requestsAMoment(s.worth())}
	if f, ok := s.(*fixed); ok && f.whole.Den > 0 {
		out.Whole = numbers([]float64{f.whole.Num, f.whole.Den})
	}
	return out
}

func (b *binned) encode() baselineSeries {
	out := baselineSeries{Requests: b.madeOf, Design: requestsAMoment(b.is), Quantiles: b.quantile, Edges: numbers(b.edges), Sums: numbers(b.sum)}
	var points strings.Builder
	for _, p := range b.point {
		if p {
			points.WriteByte('1')
		} else {
			points.WriteByte('0')
		}
	}
	out.Points = points.String()
	for _, upto := range b.upto {
		counts := make([]float64, len(upto))
		before := 0.0
		for i, n := range upto {
			counts[i], before = n-before, n
		}
		out.Blocks = append(out.Blocks, numbers(counts))
	}
	return out
}

// requestsAMoment is how many requests tell as much as one independent moment.
func requestsAMoment(w stat.Worth) float64 { return float64(max(w.N, 1)) / math.Max(w.Moments(), 1) }

// numbers writes a list with ten digits a number, which ties tell apart.
func numbers(list []float64) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = strconv.FormatFloat(v, 'g', 10, 64)
	}
	return strings.Join(words, " ")
}
