package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
)

// ErrNoBaseline says that a file is no baseline.
var ErrNoBaseline = errors.New("no baseline file")

// ErrOtherBaseline says that a file is a baseline of another version.
var ErrOtherBaseline = errors.New("a baseline of another version")

// ReadBaseline reads what WriteBaseline wrote.
func ReadBaseline(r io.Reader) (Group, error) {
	var file baselineFile
	data, err := io.ReadAll(io.LimitReader(r, 64<<20))
	if err != nil {
		return Group{}, err
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return Group{}, fmt.Errorf("%w: %w", ErrNoBaseline, err)
	}
	if file.Schema != BaselineSchema {
		kind, says := ErrNoBaseline, ""
		if strings.HasPrefix(file.Schema, baselineSchemas) {
			kind, says = ErrOtherBaseline, "; save it anew with --save-baseline"
		}
		return Group{}, fmt.Errorf("%w: its schema is %q, this program reads %s%s", kind, printable.Short(file.Schema, longestQuote), BaselineSchema, says)
	}
	if !run.Intact(data) {
		return Group{}, errors.New("damaged baseline: it is not as it was written (its checksum is of another content); take it again from where it was saved, or save it anew with --save-baseline")
	}
	g := Group{Name: file.Name}
	for i, in := range file.Runs {
		r := &Run{Facts: in.Facts, series: map[string]series{}}
		r.Facts.Asked.None = r.Facts.Silent
		for key, s := range in.Series {
			decoded, err := s.decode(key)
			if err != nil {
				return Group{}, fmt.Errorf("damaged baseline: run %d, %s: %w; save it anew with --save-baseline", i+1, printable.Short(key, longestQuote), err)
			}
			r.series[key] = decoded
		}
		g.Runs = append(g.Runs, r)
	}
	if len(g.Runs) == 0 {
		return Group{}, fmt.Errorf("%w: it holds no run", ErrNoBaseline)
	}
	for _, p := range file.Pools {
		if err := p.give(g.Runs); err != nil {
			return Group{}, fmt.Errorf("damaged baseline: %w; save it anew with --save-baseline", err)
		}
	}
	return g, nil
}

// give lets the runs of a pool know it.
func (p *baselinePool) give(runs []*Run) error {
	for _, of := range p.Percentiles {
		for _, v := range of {
			if !(v >= 0) || math.IsInf(v, 0) {
				return errDamaged
			}
		}
	}
	shared := &pool{percentiles: p.Percentiles}
	for _, i := range p.Runs {
		if i < 0 || i >= len(runs) {
			return errDamaged
		}
		shared.runs = append(shared.runs, runs[i])
		runs[i].pools = append(runs[i].pools, shared)
	}
	return nil
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
	b := &binned{quantile: s.Quantiles, madeOf: s.Requests, is: s.worth()}
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
	f := &fixed{madeOf: s.Requests, is: s.worth()}
	for i := range num {
		if num[i] < 0 || den[i] < 0 || m.kind == ofShare && num[i] > den[i] || den[i] > 1e15 || num[i] > 1e15 {
			return nil, errDamaged
		}
		f.list = append(f.list, stat.Pair{Num: num[i], Den: den[i]})
	}
	if !(total(f.list).Den > 0) {
		return nil, errDamaged
	}
	if m.kind != ofRate {
		return f, nil
	}
	whole, err := parseNumbers(s.Whole)
	if err != nil {
		return nil, err
	}
	if len(whole) != 2 || !(whole[0] >= 0) || !(whole[1] > 0) || whole[0] > 1e15 || whole[1] > 1e15 {
		return nil, errDamaged
	}
	f.whole = stat.Pair{Num: whole[0], Den: whole[1]}
	return f, nil
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
			return nil, fmt.Errorf("%q is no number", printable.Short(w, longestQuote))
		}
		list[i] = v
	}
	return list, nil
}

// longestQuote is how many bytes an error quotes of a file.
const longestQuote = 40

// worth is what the requests of a series are worth. A file that does not say it
// is taken to hold too few moments for a test of single runs.
func (s *baselineSeries) worth() stat.Worth {
	w := stat.Worth{N: max(s.Requests, 0), Design: s.Design}
	if !(w.Design >= 1) || w.Design > float64(max(w.N, 1)) {
		w.Design = math.Max(1, float64(w.N))
	}
	return w
}
