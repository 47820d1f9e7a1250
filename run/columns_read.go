package run

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"tokenmeter/timeline"
)

// batch is a few rows that were read together.
type batch struct {
	outlines []outline
	tls      []*timeline.Timeline
	errs     []error
	n        int
	end      error // why there is nothing behind it; io.EOF at the proper end
}

const batchRows = 64

// columnReader reads a table whose event columns are as they are written here.
type columnReader struct {
	rows    *parquet.GenericReader[outline]
	columns []*column
	lists   [eventColumns][]int64 // of one row
}

// readColumns yields until the end or the first damage. While the caller works
// on one batch, the next is read.
func (t *table) readColumns(yield func(*timeline.Timeline, error) bool) error {
	r := &columnReader{columns: eventColumnsOf(t.file)}
	if err := outside(func() error { r.rows = parquet.NewGenericReader[outline](t.file); return nil }); err != nil {
		return err
	}
	defer outside(r.close)
	now, next := newBatch(), newBatch()
	reading := launch(func() error { r.fill(next); return nil })
	for {
		if err := reading.wait(); err != nil {
			return err
		}
		now, next = next, now
		if now.end == nil {
			reading = launch(func() error { r.fill(next); return nil })
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
	return &batch{outlines: make([]outline, batchRows), tls: make([]*timeline.Timeline, batchRows), errs: make([]error, batchRows)}
}

// fill reads the next rows.
func (r *columnReader) fill(b *batch) {
	clear(b.outlines)
	b.n = 0
	n, err := r.rows.Read(b.outlines)
	for i := range n {
		for k, c := range r.columns {
			list, err := c.next(r.lists[k][:0])
			if r.lists[k] = list; err != nil {
				b.end = fmt.Errorf("%w: %w", errTable, err)
				return
			}
		}
		b.tls[i], b.errs[i] = r.timeline(&b.outlines[i])
		b.n++
	}
	switch {
	case err == io.EOF:
		b.end = io.EOF
	case err != nil:
		b.end = fmt.Errorf("%w: %w", errTable, err)
	case n == 0:
		b.end = errTable
	}
}

// timeline puts a row and its lists together.
func (r *columnReader) timeline(o *outline) (*timeline.Timeline, error) {
	t, err := o.timeline()
	if err == nil {
		if err = r.events(&t.Events); err != nil {
			err = fmt.Errorf("request %d: %w", o.Request, err)
		}
	}
	if err != nil {
		return nil, err
	}
	return t, nil
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
	into.Reserve(n)
	at := int64(0)
	for i, us := range l[evUS] {
		kind := l[evKind][i]
		if kind == absent || !validEvent(timeline.Kind(kind), at, us-at) {
			return errEvents
		}
		at = us
		ev := timeline.Event{AtUS: at, LagUS: l[evLagUS][i], Kind: timeline.Kind(kind),
			Choice: int(l[evChoice][i]), Bytes: l[evBytes][i], Read: l[evRead][i]}
		if tokens := l[evTokens][i]; tokens != absent {
			ev.Tokens = timeline.Some(tokens)
		}
		into.Append(ev)
	}
	return nil
}

func (r *columnReader) close() error {
	err := r.rows.Close()
	for _, c := range r.columns {
		err = errors.Join(err, c.close())
	}
	return err
}
