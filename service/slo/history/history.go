// Package history is history: counts of objectives, sketches and the states of
// alerts. The package itself says what a store does and buffers what is written; each
// database is a package below it.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/service/slo"
)

// Store keeps history. A store is safe for concurrent use.
type Store interface {
	Reader
	// Write adds a batch, all of it or nothing. When it returns nil the batch
	// outlives the process. A batch that was written before, as its writer and
	// number say, changes nothing: after an error it can be written again.
	Write(ctx context.Context, b Batch) error
	// Compact moves what is old to coarser resolutions and drops what is older
	// than they are kept.
	Compact(ctx context.Context, now time.Time) error

	// Words are what could not be read since the last call, to be told: it was set
	// aside, and all else was written.
	Words() []error

	// PutState keeps a small document under a name; nil removes it.
	PutState(ctx context.Context, name string, value json.RawMessage) error
}

// Reader is what reports need of a store. Where several daemons write one
// history, each has a store, and a report is of all of them.
type Reader interface {
	// Cells yields the counts that begin in [from, to), ascending by series and
	// time. yield must not use the store.
	Cells(ctx context.Context, from, to time.Time, yield func(Cell) error) error
	// Totals are what each series has counted in its life.
	Totals(ctx context.Context) (map[slo.Key]slo.Counts, error)
	// Watched lists when each source was watched, ascending.
	Watched(ctx context.Context) (map[slo.Source][]slo.Interval, error)
	// Sketch merges the sketches of a series that begin at or after from and are
	// over by to.
	Sketch(ctx context.Context, name string, from, to time.Time) (*stat.Sketch, error)
	// SketchNames lists the series of sketches, ascending.
	SketchNames(ctx context.Context) ([]string, error)
	// State returns the small document under a name; nil when there is none.
	State(ctx context.Context, name string) (json.RawMessage, error)

	Close() error
}

// Batch is what is written at once.
type Batch struct {
	Writer   string // names the process; with Seq it names the batch
	Seq      int64  // 1, 2, 3, …
	At       time.Time
	Counts   []slo.Increment
	Sketches []Sketch
	Watched  []Watched
	// Redated comes before all of it, in order.
	Redated []Redate
}

// Empty reports whether there is nothing in it.
func (b *Batch) Empty() bool {
	return len(b.Counts) == 0 && len(b.Sketches) == 0 && len(b.Watched) == 0 && len(b.Redated) == 0
}

// Redate moves what was noted while a clock was ahead: all that begins after a
// moment, that moment's clock being right, by so much, and at least to then.
type Redate struct {
	After time.Time
	By    time.Duration
}

// interval is where a time belongs; one that goes on after the moment ends there.
func (r Redate) interval(i slo.Interval) slo.Interval {
	return slo.Interval{From: r.Of(i.From), To: r.Of(i.To)}
}

// Of is where a moment belongs. The zero Redate moves nothing.
func (r Redate) Of(at time.Time) time.Time {
	if r.By == 0 || !at.After(r.After) {
		return at
	}
	if at = at.Add(-r.By); at.After(r.After) {
		return r.After
	}
	return at
}

// Sketch is the distribution of a metric around a moment.
type Sketch struct {
	Name string // Distribution.Name
	At   time.Time
	*stat.Sketch
}

// Watched is a time in which a source was watched: no counts then mean that
// nothing happened.
type Watched struct {
	Source slo.Source
	slo.Interval
}

// Cell is what a series counted in a step of time.
type Cell struct {
	Key  slo.Key
	At   time.Time
	Step time.Duration
	slo.Counts
}

// SketchTiers are the resolutions of sketches, finest first.
var SketchTiers = []slo.Tier{
	{Step: time.Minute, Keep: 25 * time.Hour},
	{Step: 5 * time.Minute, Keep: 8 * 24 * time.Hour},
	{Step: time.Hour, Keep: 400 * 24 * time.Hour},
}

// ErrNewer says that a newer version made the store.
var ErrNewer = errors.New("a newer version of tokenmeter made this store")
