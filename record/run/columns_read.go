//go:build !lean

package run

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"tokenmeter/record/timeline"
)

// batch is a few rows that were read together.
type batch struct {
	tls  []*timeline.Timeline
	errs []error
	n    int
	end  error // why there is nothing behind it; io.EOF at the proper end
}

const batchRows = 64

// columnReader reads row groups of a table whose columns are as they are written
// here.
type columnReader struct {
	file    *parquet.File
	next    func() (group int, ok bool)
	left    int64 // rows of the group
	row     outline
	leaves  []*leaf
	columns []*column
	lists   [eventColumns][]int64 // of one row
}

// columns returns a reader of the groups that next gives; nil when another
// program wrote the columns in its own way, or they are damaged: reading row by
// row then says how.
func (t *table) columns(next func() (group int, ok bool)) (r *columnReader) {
	var damage error
	defer func() {
		if damage != nil {
			r = nil
		}
	}()
	defer caught(&damage)
	r = &columnReader{file: t.file, next: next, columns: eventColumnsOf(t.file)}
	if r.columns == nil {
		return nil
	}
	var ok bool
	if r.leaves, ok = leavesOf(t.file, &r.row); !ok {
		return nil
	}
	return r
}

// inOrder gives all row groups of a table.
func (t *table) inOrder() func() (int, bool) {
	group, all := -1, len(t.file.RowGroups())
	return func() (int, bool) {
		group++
		return group, group < all
	}
}

// readColumns yields until the end or the first damage. While the caller works
// on one batch, the next is read.
func (r *columnReader) readColumns(yield func(*timeline.Timeline, error) bool) error {
	defer func() { _ = outside(r.close) }()
	now, next := newBatch(), newBatch()
	reading := launch(func() error { r.fill(next, fresh); return nil })
	for {
		if err := reading.wait(); err != nil {
			return err
		}
		now, next = next, now
		if now.end == nil {
			reading = launch(func() error { r.fill(next, fresh); return nil })
		}
		for i := range now.n {
			if !yield(now.tls[i], now.errs[i]) {
				if now.end == nil {
					_ = reading.wait()
				}
				return nil
			}
		}
		switch now.end {
		case nil:
		case io.EOF:
			return nil
		default:
			return now.end
		}
	}
}

func newBatch() *batch {
	return &batch{tls: make([]*timeline.Timeline, batchRows), errs: make([]error, batchRows)}
}

// fresh is for callers who may keep a timeline, kept for those who do not.
func fresh(*timeline.Timeline) *timeline.Timeline { return &timeline.Timeline{} }

func kept(tl *timeline.Timeline) *timeline.Timeline {
	if tl == nil {
		return &timeline.Timeline{}
	}
	return tl
}

// fill reads the next rows.
func (r *columnReader) fill(b *batch, room func(*timeline.Timeline) *timeline.Timeline) {
	b.n, b.end = 0, nil
	for b.n < len(b.tls) {
		if r.left == 0 {
			if b.end = r.turn(); b.end != nil {
				return
			}
			continue
		}
		r.left--
		for _, l := range r.leaves {
			if err := l.next(); err != nil {
				b.end = fmt.Errorf("%w: %w", errTable, err)
				return
			}
		}
		for k, c := range r.columns {
			var err error
			if r.lists[k], err = c.next(); err != nil {
				b.end = fmt.Errorf("%w: %w", errTable, err)
				return
			}
		}
		tl := room(b.tls[b.n])
		b.tls[b.n] = tl
		if b.errs[b.n] = r.timeline(tl); b.errs[b.n] != nil {
			b.tls[b.n] = nil
		}
		b.n++
	}
}

// turn opens the next row group; io.EOF: there is none.
func (r *columnReader) turn() error {
	for _, c := range r.columns {
		if c.level != len(c.reps) {
			return errTable // more lists than rows
		}
	}
	group, ok := r.next()
	if !ok {
		return io.EOF
	}
	r.left = r.file.RowGroups()[group].NumRows()
	for _, l := range r.leaves {
		if err := l.begin(group); err != nil {
			return fmt.Errorf("%w: %w", errTable, err)
		}
	}
	for _, c := range r.columns {
		if err := c.begin(group); err != nil {
			return fmt.Errorf("%w: %w", errTable, err)
		}
	}
	return nil
}

// timeline puts a row and its lists together.
func (r *columnReader) timeline(tl *timeline.Timeline) error {
	if err := r.row.into(tl); err != nil {
		return err
	}
	if err := r.events(&tl.Events); err != nil {
		return fmt.Errorf("request %d: %w", r.row.Request, err)
	}
	return nil
}

// events trusts nothing about the lists, as [fact.events].
func (r *columnReader) events(into *timeline.Events) error {
	l := &r.lists
	n := len(l[evUS])
	for _, list := range l {
		if len(list) != n {
			return errEvents
		}
	}
	kinds := l[evKind][:n]
	at := int64(0)
	for i, us := range l[evUS] {
		if kinds[i] == absent || !validEvent(timeline.Kind(kinds[i]), at, us-at) {
			return errEvents
		}
		at = us
	}
	into.AppendColumns(timeline.Columns{AtUS: l[evUS], Kind: kinds, Tokens: l[evTokens], Choice: l[evChoice],
		Bytes: l[evBytes], Read: l[evRead], LagUS: l[evLagUS]})
	return nil
}

func (r *columnReader) close() error {
	var err error
	for _, l := range r.leaves {
		err = errors.Join(err, l.close())
	}
	for _, c := range r.columns {
		err = errors.Join(err, c.close())
	}
	return err
}
