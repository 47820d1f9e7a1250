package history

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/kept"
)

// FlushEvery is how often a Recorder writes: what a crash can lose.
const FlushEvery = time.Second

// Recorder counts in memory and writes what it counted every second. Reading
// is done from memory, so it never waits for the disk. Safe for concurrent use.
type Recorder struct {
	store   Store
	memory  *slo.Memory
	sources []slo.Source

	mu       sync.Mutex
	counts   map[cellKey]slo.Counts
	sketches map[sketchKey]*stat.Sketch
	totals   map[slo.Key]slo.Counts
	slicers  map[string][]slicer   // by Objective.Raw
	since    map[slo.Key]time.Time // from when on each series is counted, groups left out
	begun    bool                  // since is not written yet
	flushed  time.Time             // watched without a gap up to then, by the wall clock
	watched  []Watched
	clock    stepping
	words    []error   // to be told
	steady   time.Time // since then nobody has set the clock

	writing sync.Mutex // one Flush at a time
	writer  string
	seq     int64
	sealed  *Batch // was tried and may have been written
}

type slicer struct {
	source slo.Source
	*slo.Slicer
}

type cellKey struct {
	key slo.Key
	at  int64
}

type sketchKey struct {
	name string
	at   int64
}

// late is how long after a slice's end its last requests may be counted.
const late = 2 * time.Second

// Tolerated is the longest time between two flushes that is no gap.
const Tolerated = 15 * time.Second

// NewRecorder returns a recorder that goes on where the store ended: counters
// have the totals they had, and the time since is a gap. The sources are those
// that this process watches.
func NewRecorder(ctx context.Context, s Store, objectives []*slo.Objective, now time.Time, sources ...slo.Source) (*Recorder, error) {
	var words []error
	_, _, err := kept.Read[[]begun](ctx, s, sinceState, now, nil)
	if damaged := (*kept.Damaged)(nil); errors.As(err, &damaged) {
		words = append(words, fmt.Errorf("since when objectives are counted is no longer known: %w", err))
	} else if err != nil {
		return nil, err
	}
	memory, err := Load(ctx, s, now)
	if err != nil {
		return nil, err
	}
	totals, err := s.Totals(ctx)
	if err != nil {
		return nil, err
	}
	since, err := counting(ctx, s, now)
	if err != nil {
		return nil, err
	}
	id := make([]byte, 8)
	rand.Read(id)
	r := &Recorder{store: s, memory: memory, clock: stepping{ticked: time.Now()}, words: words, totals: totals, flushed: now.Round(0), steady: now.Round(0), writer: hex.EncodeToString(id), sources: sources,
		counts: map[cellKey]slo.Counts{}, sketches: map[sketchKey]*stat.Sketch{}, since: since}
	if err := r.fromTheFuture(ctx, now.Round(0)); err != nil {
		return nil, err
	}
	r.Set(objectives, now)
	return r, nil
}

// Set takes objectives in place of those before. One that was there already, as
// its hash says, goes on in the middle of its slices; what is new begins with
// the next whole slice, and goes on where it ended if the store knows it.
func (r *Recorder) Set(objectives []*slo.Objective, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, since := r.slicers, r.since
	r.slicers, r.since = map[string][]slicer{}, map[slo.Key]time.Time{}
	for _, o := range objectives {
		for _, source := range o.Sources {
			series := slo.Key{Hash: o.Hash, Source: source}
			if begun, known := since[series]; known {
				r.since[series] = begun
			} else {
				r.since[series] = now.Round(0)
			}
			switch {
			case !slices.Contains(r.sources, source):
			case o.Kind == slo.Slices:
				same := func(s slicer) bool { return s.source == source && s.Hash() == o.Hash }
				if slices.ContainsFunc(r.slicers[o.Raw], same) {
					continue // two objectives that differ in window or target only
				}
				one := slicer{source, nil}
				if i := slices.IndexFunc(before[o.Raw], same); i >= 0 {
					one = before[o.Raw][i]
				} else {
					one.Slicer = slo.NewSlicer(o, source, now)
				}
				r.slicers[o.Raw] = append(r.slicers[o.Raw], one)
			case len(o.By) == 0:
				// A counter that is shown from the start, at zero, loses nothing to
				// whoever scrapes it.
				if _, known := r.totals[series]; !known {
					r.totals[series] = slo.Counts{}
				}
			}
		}
	}
	r.memory.Counting(r.since)
	r.begun = !maps.Equal(r.since, since)
}

// Memory is what has been counted, for slo.Evaluate. Ask anew each time.
func (r *Recorder) Memory() *slo.Memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.memory
}

// Count counts. Increments of an Objective.Raw go into its slices.
func (r *Recorder) Count(increments ...slo.Increment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range increments {
		if list, raw := r.slicers[i.Key.Hash]; raw {
			for _, s := range list {
				if s.source == i.Key.Source && i.Valid > 0 {
					s.Add(i.Key.Group, i.At, float64(i.Good), float64(i.Valid))
				}
			}
			continue
		}
		r.count(i)
	}
}

func (r *Recorder) count(i slo.Increment) {
	if i.Counts.IsZero() {
		return
	}
	k := cellKey{i.Key, i.At.Truncate(slo.Tiers[0].Step).Unix()}
	r.counts[k] = r.counts[k].Plus(i.Counts)
	r.totals[i.Key] = r.totals[i.Key].Plus(i.Counts)
	r.memory.Add(i.Key, i.At, 0, i.Counts)
}

// Figure adds to the sums of slices that are judged by a figure, such as tokens
// or dollars: what is over and under the line of Objective.Figure.
func (r *Recorder) Figure(raw string, source slo.Source, group string, at time.Time, over, under float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.slicers[raw] {
		if s.source == source {
			s.Add(group, at, over, under)
		}
	}
}

// Observe adds a value to a distribution.
func (r *Recorder) Observe(name string, at time.Time, v float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := sketchKey{name, at.Truncate(SketchTiers[0].Step).Unix()}
	if r.sketches[k] == nil {
		r.sketches[k] = &stat.Sketch{}
	}
	r.sketches[k].Add(v)
}

// Totals are the counters as they are exported: they only grow, over restarts
// too.
func (r *Recorder) Totals() map[slo.Key]slo.Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.totals)
}

// Flush judges the slices that have ended and writes what was counted. After
// an error nothing is lost: the next flush writes it, and never twice.
func (r *Recorder) Flush(ctx context.Context, now time.Time) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	now = now.Round(0) // the monotonic clock would hide that the other one was set
	r.tick(now)
	for range 2 {
		if r.sealed == nil {
			if r.sealed = r.seal(now); r.sealed == nil {
				break
			}
		}
		if err := r.store.Write(ctx, *r.sealed); err != nil {
			return err
		}
		r.sealed = nil
	}
	return errors.Join(r.remember(ctx, now), r.begin(ctx))
}

// begin writes from when on series are counted.
func (r *Recorder) begin(ctx context.Context) error {
	r.mu.Lock()
	begun, since := r.begun, r.since
	r.mu.Unlock()
	if !begun {
		return nil
	}
	if err := putCounting(ctx, r.store, since); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = !maps.Equal(r.since, since)
	return nil
}

// Compact compacts the store, unless the clock was set lately.
func (r *Recorder) Compact(ctx context.Context, now time.Time) error {
	now = now.Round(0)
	r.mu.Lock()
	settled := now.Sub(r.steady) >= settling && now.Sub(r.flushed) < Tolerated
	r.mu.Unlock()
	if !settled {
		return nil
	}
	return r.store.Compact(ctx, now)
}

// tick lets time pass: slices end, and the sources were watched.
func (r *Recorder) tick(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	silent := now.Sub(r.flushed)
	for _, list := range r.slicers {
		for _, s := range list {
			if silent > Tolerated || silent < -late {
				s.Skip(now)
			}
			for _, i := range s.Close(now.Add(-late)) {
				r.count(i)
			}
		}
	}
	if silent > 0 && silent <= Tolerated {
		for _, source := range r.sources {
			r.memory.Watch(source, r.flushed, now)
			r.watched = append(r.watched, Watched{source, slo.Interval{From: r.flushed, To: now}})
		}
	}
	if silent < -Tolerated || silent > Tolerated {
		r.steady = now
	}
	r.step(now, silent)
	r.flushed = now
}

// seal takes what is to be written.
func (r *Recorder) seal(now time.Time) *Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &Batch{Writer: r.writer, Seq: r.seq + 1, At: now, Watched: joined(r.watched), Redated: r.clock.redated}
	for k, c := range r.counts {
		if c.IsZero() {
			continue // it was moved away
		}
		b.Counts = append(b.Counts, slo.Increment{Key: k.key, At: time.Unix(k.at, 0), Counts: c})
	}
	for k, s := range r.sketches {
		b.Sketches = append(b.Sketches, Sketch{k.name, time.Unix(k.at, 0), s})
	}
	if b.Empty() {
		return nil
	}
	sort.Slice(b.Counts, func(i, j int) bool {
		a, b := &b.Counts[i], &b.Counts[j]
		return cmp.Or(a.Key.Compare(b.Key), a.At.Compare(b.At)) < 0
	})
	r.seq++
	r.clock.sent(b)
	r.watched, r.clock.redated = nil, nil
	clear(r.counts)
	clear(r.sketches)
	return b
}

// joined makes one interval of those that follow each other, so that a store
// that is away for long costs nothing.
func joined(list []Watched) []Watched {
	var out []Watched
	last := map[slo.Source]int{}
	for _, w := range list {
		if i, known := last[w.Source]; known && out[i].To.Equal(w.From) {
			out[i].To = w.To
			continue
		}
		last[w.Source] = len(out)
		out = append(out, w)
	}
	return out
}
