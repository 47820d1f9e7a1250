//go:build !lean

package run

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// mostReaders bounds what is read side by side: each reader has a collector of
// its own, and memory for a row group's pages.
const mostReaders = 8

// sideBySide sums up the row groups of a table on all processors. It is not ok
// where that can't be done, or not be worth it. What it gives is the same in
// whatever order the groups were taken: collectors and judges know sets only.
func (t *table) sideBySide(begin func() gathered) (sum gathered, ok bool, err error) {
	groups := len(t.file.RowGroups())
	n := min(runtime.GOMAXPROCS(0), groups, mostReaders)
	if n < 2 || t.columns(nil) == nil {
		return sum, false, nil
	}
	var taken atomic.Int64
	var stop atomic.Bool
	parts, damage := make([]gathered, n), make([]damaged, n)
	var all sync.WaitGroup
	for i := range n {
		d := &damage[i]
		parts[i] = begin()
		r := t.columns(func() (int, bool) {
			if stop.Load() {
				return 0, false
			}
			d.group = int(taken.Add(1)) - 1
			return d.group, d.group < groups
		})
		all.Go(func() {
			if d.err = r.gather(parts[i]); d.err != nil {
				stop.Store(true)
			}
		})
	}
	all.Wait()
	if err := first(damage); err != nil {
		return sum, true, err
	}
	for _, p := range parts[1:] {
		parts[0].collected.Merge(p.collected)
		parts[0].judge.Merge(p.judge)
	}
	return parts[0], true, nil
}

// damaged is where a reader had to stop.
type damaged struct {
	group int
	err   error
}

// first is the error that comes first in the file: all groups before it were
// read to their end.
func first(all []damaged) error {
	var out damaged
	for _, d := range all {
		if d.err != nil && (out.err == nil || d.group < out.group) {
			out = d
		}
	}
	return out.err
}

// gather sums up what the reader finds. Its timelines are used again and again.
func (r *columnReader) gather(into gathered) error {
	defer func() { _ = outside(r.close) }()
	b := newBatch()
	for b.end == nil {
		if err := outside(func() error { r.fill(b, kept); return nil }); err != nil {
			return err
		}
		for i := range b.n {
			if b.errs[i] != nil {
				return b.errs[i]
			}
			into.collected.Add(b.tls[i])
			into.judge.Add(b.tls[i])
		}
	}
	if b.end == io.EOF {
		return nil
	}
	return b.end
}
