//go:build !lean

package run

import (
	"bytes"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"tokenmeter/record/timeline"
)

// The columns of events hold nearly all values of a table. They are read page by
// page: one by one, as the library rebuilds rows, values cost ten times as much.

// The event columns, in the order of eventNames.
const (
	evUS = iota
	evKind
	evTokens
	evChoice
	evBytes
	evRead
	evLagUS
	eventColumns
)

var eventNames = [eventColumns]string{"ev_us", "ev_kind", "ev_tokens", "ev_choice", "ev_bytes", "ev_read", "ev_lag_us"}

// eventColumnsOf returns where the event columns are, when they are lists as
// they are written here; else nil.
func eventColumnsOf(file *parquet.File) []*column {
	var all []*column
	for _, name := range eventNames {
		leaf, ok := file.Schema().Lookup(name, "list", "element")
		if !ok || leaf.MaxRepetitionLevel != 1 {
			return nil
		}
		nullable := name == eventNames[evTokens]
		if want := map[bool]int{false: 1, true: 2}[nullable]; int(leaf.MaxDefinitionLevel) != want {
			return nil
		}
		kind := leaf.Node.Type().Kind()
		if words := name == eventNames[evKind]; words != (kind == parquet.ByteArray) || !words && kind != parquet.Int64 && kind != parquet.Int32 {
			return nil
		}
		all = append(all, &column{pager: pager{file: file, index: leaf.ColumnIndex}, full: byte(leaf.MaxDefinitionLevel)})
	}
	return all
}

// absent stands for a null.
const absent = int64(timeline.Absent)

// column gives the values of one column of lists, list by list. Words are given
// as kinds of events.
type column struct {
	pager
	full byte // the definition level of a value

	// Of the page: levels, values, and how many of each are used.
	reps, defs   []byte
	values       []int64
	level, value int

	dict  parquet.Dictionary // that meanings are of
	means []int64            // of the indexes of dict
	wide  []int64            // room for values

	list  []int64 // a list that had to be put together
	nulls []int64 // absent, again and again
	same  []int64 // the only value of a dictionary, again and again
}

// pager reads the pages of a column, a row group after the other.
type pager struct {
	file  *parquet.File
	index int
	pages parquet.Pages // of a row group; nil: none is open
	page  parquet.Page  // whose memory is used; nil: none
}

// begin turns to a row group.
func (p *pager) begin(group int) error {
	err := p.end()
	p.pages = p.file.RowGroups()[group].ColumnChunks()[p.index].Pages()
	return err
}

// free gives the page's memory back.
func (p *pager) free() {
	if p.page != nil {
		parquet.Release(p.page)
	}
	p.page = nil
}

// end closes the row group.
func (p *pager) end() error {
	if p.pages == nil {
		return nil
	}
	err := p.pages.Close()
	p.pages = nil
	return err
}

// begin turns to a row group.
func (c *column) begin(group int) error {
	c.release()
	return c.pager.begin(group)
}

// next returns the values of the next list, which are good until the next call.
func (c *column) next() ([]int64, error) {
	if c.level == len(c.reps) {
		if err := c.load(); err != nil {
			return nil, err // io.EOF too: a list is missing
		}
	}
	if c.reps[c.level] != 0 {
		return nil, errTable
	}
	if end := bytes.IndexByte(c.reps[c.level+1:], 0); end >= 0 {
		if list, ok := c.plain(c.level + 1 + end); ok {
			return list, nil
		}
	}
	return c.gather()
}

// plain returns a list that ends within the page and has no nulls, or nothing
// else.
func (c *column) plain(end int) ([]int64, bool) {
	defs := c.defs[c.level:end]
	n := len(defs)
	if bytes.Count(defs, []byte{c.full}) == n {
		list := c.values[c.value : c.value+n : c.value+n]
		c.level, c.value = end, c.value+n
		return list, true
	}
	if c.full < 2 || bytes.Count(defs, []byte{c.full - 1}) != n {
		return nil, false
	}
	for len(c.nulls) < n {
		c.nulls = append(c.nulls, absent)
	}
	c.level = end
	return c.nulls[:n:n], true
}

// gather takes a list value by value, over the ends of pages.
func (c *column) gather() ([]int64, error) {
	c.list = c.list[:0]
	for {
		switch def := c.defs[c.level]; {
		case def == c.full:
			c.list = append(c.list, c.values[c.value])
			c.value++
		case def > 0:
			c.list = append(c.list, absent)
		}
		c.level++
		if c.level == len(c.reps) {
			if err := c.load(); err == io.EOF {
				return c.list, nil
			} else if err != nil {
				return nil, err
			}
		}
		if c.reps[c.level] == 0 {
			return c.list, nil
		}
	}
}

// load reads the next page that holds something.
func (c *column) load() error {
	for {
		c.release()
		if c.pages == nil {
			return io.EOF
		}
		page, err := c.pages.ReadPage()
		if err == io.EOF {
			return io.EOF
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errTable, err)
		}
		c.page = page
		c.reps, c.defs = page.RepetitionLevels(), page.DefinitionLevels()
		if len(c.reps) != len(c.defs) {
			return errTable
		}
		if c.values, err = c.valuesOf(page); err != nil {
			return err
		}
		if len(c.reps) > 0 {
			return nil
		}
	}
}

func (c *column) release() {
	c.free()
	c.reps, c.defs, c.values, c.level, c.value = nil, nil, nil, 0, 0
}

func (c *column) close() error {
	c.release()
	return c.end()
}

// valuesOf returns the values of a page that are there, without nulls.
func (c *column) valuesOf(page parquet.Page) ([]int64, error) {
	data := page.Data()
	dict := page.Dictionary()
	switch {
	case dict != nil:
		c.learn(dict)
		if n := len(data.Int32()); len(c.means) == 1 {
			if len(c.same) > 0 && c.same[0] != c.means[0] {
				c.same = c.same[:0]
			}
			for len(c.same) < n {
				c.same = append(c.same, c.means[0])
			}
			return c.same[:n], nil
		}
		c.wide = c.wide[:0]
		for _, i := range data.Int32() {
			c.wide = append(c.wide, c.means[i])
		}
	case data.Kind() == encoding.Int64:
		return data.Int64(), nil
	case data.Kind() == encoding.Int32:
		c.wide = c.wide[:0]
		for _, v := range data.Int32() {
			c.wide = append(c.wide, int64(v))
		}
	case data.Kind() == encoding.ByteArray:
		text, ends := data.ByteArray()
		c.wide = c.wide[:0]
		for i := 1; i < len(ends); i++ {
			c.wide = append(c.wide, kindNumber(string(text[ends[i-1]:ends[i]])))
		}
	default:
		return nil, errTable
	}
	return c.wide, nil
}

// learn looks up once what the indexes of a dictionary mean.
func (c *column) learn(dict parquet.Dictionary) {
	if c.dict == dict && len(c.means) == dict.Len() {
		return
	}
	c.dict, c.means = dict, c.means[:0]
	for i := range dict.Len() {
		switch v := dict.Index(int32(i)); v.Kind() {
		case parquet.Int64:
			c.means = append(c.means, v.Int64())
		case parquet.Int32:
			c.means = append(c.means, int64(v.Int32()))
		default:
			c.means = append(c.means, kindNumber(string(v.ByteArray())))
		}
	}
}

func kindNumber(name string) int64 {
	if k, known := timeline.ParseKind(name); known {
		return int64(k)
	}
	return absent
}
