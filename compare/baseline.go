package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"tokenmeter/stat"
)

// BaselineSchema names the version of a baseline file.
const BaselineSchema = "tokenmeter.baseline/v1"

// baselineFile is a side kept in a file to be committed: what identifies its
// runs, and of each metric enough to test against.
type baselineFile struct {
	Schema string        `json:"schema"`
	Name   string        `json:"name"`
	Saved  time.Time     `json:"saved"`
	Runs   []baselineRun `json:"runs"`
	// Pooled are percentiles of several runs' values together, exact.
	Pooled map[string]map[string]float64 `json:"pooled,omitempty"`
}

type baselineRun struct {
	Facts  Facts                     `json:"facts"`
	Series map[string]baselineSeries `json:"series"`
}

// baselineSeries holds lists as text, so that a line of the file is a block.
type baselineSeries struct {
	// Histograms: edges, which bins are points, for each block the count in
	// each bin and the sum of the values.
	Requests  int                `json:"requests,omitempty"`
	Quantiles map[string]float64 `json:"quantiles,omitempty"`
	Edges     string             `json:"edges,omitempty"`
	Points    string             `json:"points,omitempty"` // a digit a bin: 1 is a point
	Blocks    []string           `json:"blocks,omitempty"`
	Sums      string             `json:"sums,omitempty"`
	// Shares and rates: numerators and denominators of the blocks.
	Num string `json:"num,omitempty"`
	Den string `json:"den,omitempty"`
}

// kept are the metrics of a baseline file beside those that make rows.
var kept = []string{"tpot_adj_ms", "requests_per_s", "max_gap_ms"}

// WriteBaseline writes a side as a small file against which later runs can be
// tested. Metrics that only gates name are kept too.
func WriteBaseline(w io.Writer, g Group, saved time.Time, gates ...Gate) error {
	file := baselineFile{Schema: BaselineSchema, Name: g.Name, Saved: saved.UTC().Round(time.Second)}
	blocks := keptBlocks
	if len(g.Runs) >= 3 {
		blocks = 1 // the run is the unit, whatever it is compared with
	}
	for _, r := range g.Runs {
		out := baselineRun{Facts: r.Facts, Series: map[string]baselineSeries{}}
		for key, s := range r.series {
			if keeps(key, gates) {
				out.Series[key] = encodeSeries(s, blocks)
			}
		}
		file.Runs = append(file.Runs, out)
	}
	file.Pooled = g.poolPercentiles()
	data, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// keptPercentiles are those a file holds exactly.
var keptPercentiles = []string{"p50", "p90", "p95", "p99", "p99.9"}

// poolPercentiles are the percentiles of all values of several runs; of one run
// its series have them.
func (g *Group) poolPercentiles() map[string]map[string]float64 {
	if g.pooled != nil || len(g.Runs) < 2 {
		return g.pooled
	}
	out := map[string]map[string]float64{}
	p := &pairing{a: g.Runs}
	for i := range measures {
		m := &measures[i]
		list := p.sides(m).a
		if m.kind != ofRequest && m.kind != ofGaps || len(list) == 0 {
			continue
		}
		out[m.key] = map[string]float64{}
		for _, name := range keptPercentiles {
			q, _ := percentileOf(name)
			if v, ok := percentile(list, q).Get(); ok {
				out[m.key][name] = v
			}
		}
	}
	return out
}

func keeps(key string, gates []Gate) bool {
	if m := measureNamed(key); m != nil && len(m.stats) > 0 {
		return true
	}
	for _, k := range kept {
		if k == key {
			return true
		}
	}
	for _, g := range gates {
		if g.measure != nil && g.measure.key == key {
			return true
		}
	}
	return false
}

func encodeSeries(s series, blocks int) baselineSeries {
	switch s := s.(type) {
	case *listed:
		return s.bin(blocks).encode()
	case *binned:
		return s.encode()
	}
	list := s.sums()
	size := max(s.block(), (len(list)+blocks-1)/blocks)
	var num, den []float64
	for _, p := range stat.NewBlocks(list, size).Cut() {
		num, den = append(num, p.Num), append(den, p.Den)
	}
	return baselineSeries{Num: numbers(num), Den: numbers(den), Requests: pieces([]series{s})}
}

func (b *binned) encode() baselineSeries {
	out := baselineSeries{Requests: b.requests, Quantiles: b.quantile, Edges: numbers(b.edges), Sums: numbers(b.sum)}
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

// numbers writes a list with ten digits a number, which ties tell apart.
func numbers(list []float64) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = strconv.FormatFloat(v, 'g', 10, 64)
	}
	return strings.Join(words, " ")
}

// mostNumbers bounds a list that is read.
const mostNumbers = 100_000

func parseNumbers(text string) ([]float64, error) {
	words := strings.Fields(text)
	if len(words) > mostNumbers {
		return nil, errors.New("a list is too long")
	}
	list := make([]float64, len(words))
	for i, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q is no number", clipped(w))
		}
		list[i] = v
	}
	return list, nil
}

func clipped(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// ErrNoBaseline says that a file is no baseline.
var ErrNoBaseline = errors.New("no baseline file")

// ReadBaseline reads what WriteBaseline wrote.
func ReadBaseline(r io.Reader) (Group, error) {
	var file baselineFile
	data, err := io.ReadAll(io.LimitReader(r, 64<<20))
	if err != nil {
		return Group{}, err
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return Group{}, fmt.Errorf("%w: %v", ErrNoBaseline, err)
	}
	if file.Schema != BaselineSchema {
		return Group{}, fmt.Errorf("%w: its schema is %q, this program reads %s", ErrNoBaseline, clipped(file.Schema), BaselineSchema)
	}
	g := Group{Name: file.Name, pooled: file.Pooled}
	for _, of := range file.Pooled {
		for _, v := range of {
			if !(v >= 0) || math.IsInf(v, 0) {
				return Group{}, fmt.Errorf("damaged baseline: %w", errDamaged)
			}
		}
	}
	for i, in := range file.Runs {
		run := &Run{Facts: in.Facts, series: map[string]series{}}
		for key, s := range in.Series {
			decoded, err := s.decode(key)
			if err != nil {
				return Group{}, fmt.Errorf("damaged baseline: run %d, %s: %w; save it anew with --save-baseline", i+1, clipped(key), err)
			}
			run.series[key] = decoded
		}
		g.Runs = append(g.Runs, run)
	}
	if len(g.Runs) == 0 {
		return Group{}, fmt.Errorf("%w: it holds no run", ErrNoBaseline)
	}
	return g, nil
}

var errDamaged = errors.New("the numbers do not fit together")

func (s *baselineSeries) decode(key string) (series, error) {
	m := measureNamed(key)
	if m == nil {
		return nil, errors.New("no such metric")
	}
	if m.kind == ofShare || m.kind == ofRate {
		return s.decodeFixed(m)
	}
	b := &binned{quantile: s.Quantiles, requests: s.Requests}
	var err error
	if b.edges, err = parseNumbers(s.Edges); err != nil {
		return nil, err
	}
	if b.sum, err = parseNumbers(s.Sums); err != nil {
		return nil, err
	}
	if len(b.edges) == 0 || len(s.Points) != len(b.edges) || len(s.Blocks) == 0 || len(b.sum) != len(s.Blocks) || s.Requests < 1 {
		return nil, errDamaged
	}
	for i, e := range b.edges {
		if e < 0 || i > 0 && e <= b.edges[i-1] {
			return nil, errDamaged
		}
		b.point = append(b.point, s.Points[i] == '1')
	}
	for _, q := range b.quantile {
		if math.IsNaN(q) || math.IsInf(q, 0) || q < 0 {
			return nil, errDamaged
		}
	}
	b.total = make([]float64, len(b.edges))
	for _, text := range s.Blocks {
		if err := b.addBlock(text); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *binned) addBlock(text string) error {
	counts, err := parseNumbers(text)
	if err != nil {
		return err
	}
	if len(counts) != len(b.edges) {
		return errDamaged
	}
	n := 0.0
	for i, c := range counts {
		if c < 0 || c > 1e15 {
			return errDamaged
		}
		n += c
		counts[i] = n
		b.total[i] += n
	}
	if n == 0 {
		return errDamaged
	}
	b.upto = append(b.upto, counts)
	return nil
}

func (s *baselineSeries) decodeFixed(m *measure) (series, error) {
	num, err := parseNumbers(s.Num)
	if err != nil {
		return nil, err
	}
	den, err := parseNumbers(s.Den)
	if err != nil {
		return nil, err
	}
	if len(num) != len(den) || len(num) == 0 {
		return nil, errDamaged
	}
	f := &fixed{length: 1, requests: s.Requests}
	for i := range num {
		if num[i] < 0 || den[i] < 0 || m.kind == ofShare && num[i] > den[i] || den[i] > 1e15 || num[i] > 1e15 {
			return nil, errDamaged
		}
		f.list = append(f.list, stat.Pair{Num: num[i], Den: den[i]})
	}
	if !(total(f.list).Den > 0) {
		return nil, errDamaged
	}
	return f, nil
}
