package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
)

// Write implements history.Store.
func (s *Store) Write(ctx context.Context, b history.Batch) error {
	return s.tx(ctx, func(tx queries) error {
		var seq int64
		err := tx.row(ctx, "SELECT seq FROM writers WHERE id = ?", b.Writer).Scan(&seq)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if b.Seq <= seq {
			return nil // it was written, and only the answer was lost
		}
		if _, err := tx.exec(ctx, "INSERT INTO writers (id, seq, at) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, at = excluded.at",
			b.Writer, b.Seq, b.At.Unix()); err != nil {
			return err
		}
		for _, r := range b.Redated {
			if err := redate(ctx, tx, r); err != nil {
				return err
			}
		}
		if err := writeCounts(ctx, tx, b.Counts); err != nil {
			return err
		}
		for _, w := range b.Watched {
			if err := watch(ctx, tx, w); err != nil {
				return err
			}
		}
		for _, s := range b.Sketches {
			if err := mergeSketch(ctx, tx, s.Name, 0, s.At.Truncate(history.SketchTiers[0].Step).Unix(), s.Sketch); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeCounts(ctx context.Context, tx queries, increments []slo.Increment) error {
	if len(increments) == 0 {
		return nil
	}
	series, err := tx.prepare(ctx, `INSERT INTO series (hash, source, grp, good, valid, excluded) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (hash, source, grp) DO UPDATE SET good = series.good + excluded.good, valid = series.valid + excluded.valid, excluded = series.excluded + excluded.excluded
		RETURNING id`)
	if err != nil {
		return err
	}
	defer series.Close()
	cell, err := tx.prepare(ctx, addCell)
	if err != nil {
		return err
	}
	defer cell.Close()
	for _, i := range increments {
		var id int64
		if err := series.row(ctx, i.Key.Hash, i.Key.Source, i.Key.Group, i.Good, i.Valid, i.Excluded).Scan(&id); err != nil {
			return err
		}
		at := i.At.Truncate(slo.Tiers[0].Step).Unix()
		if _, err := cell.exec(ctx, id, 0, at, i.Good, i.Valid, i.Excluded); err != nil {
			return err
		}
	}
	return nil
}

const addCell = `INSERT INTO cells (series, tier, at, good, valid, excluded) VALUES (?, ?, ?, ?, ?, ?)` + addUp

// addUp adds to a cell that is there already.
const addUp = ` ON CONFLICT (tier, at, series) DO UPDATE
	SET good = cells.good + excluded.good, valid = cells.valid + excluded.valid, excluded = cells.excluded + excluded.excluded`

// watch notes an interval, in ms; one that continues the last one lengthens it.
func watch(ctx context.Context, tx queries, w history.Watched) error {
	from, to := w.From.UnixMilli(), w.To.UnixMilli()
	done, err := tx.exec(ctx, `UPDATE watched SET until = CASE WHEN until < ? THEN ? ELSE until END WHERE source = ? AND start <= ? AND until >= ?
		AND start = (SELECT max(start) FROM watched WHERE source = ?)`, to, to, w.Source, from, from, w.Source)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return err
	}
	_, err = tx.exec(ctx, `INSERT INTO watched (source, start, until) VALUES (?, ?, ?)
		ON CONFLICT (source, start) DO UPDATE SET until = CASE WHEN watched.until < excluded.until THEN excluded.until ELSE watched.until END`, w.Source, from, to)
	return err
}

// ErrDamaged is of what nobody can have written: SQLite has no sums of its pages.
var ErrDamaged = errors.New("the store is damaged")

func errTier(tier int) error {
	return fmt.Errorf("%w: it counts in steps of a kind %d that there is not", ErrDamaged, tier)
}

// Cells implements history.Store.
func (s *Store) Cells(ctx context.Context, from, to time.Time, yield func(history.Cell) error) error {
	return s.each(ctx, func(scan func(...any) error) error {
		var c history.Cell
		var tier int
		var at int64
		if err := scan(&c.Key.Hash, &c.Key.Source, &c.Key.Group, &tier, &at, &c.Good, &c.Valid, &c.Excluded); err != nil {
			return err
		}
		if tier < 0 || tier >= len(slo.Tiers) {
			return errTier(tier)
		}
		c.At, c.Step = time.Unix(at, 0), slo.Tiers[tier].Step
		return yield(c)
	}, `SELECT hash, source, grp, tier, at, cells.good, cells.valid, cells.excluded
		FROM cells JOIN series ON series.id = cells.series WHERE at >= ? AND at < ? ORDER BY hash, source, grp, at`, from.Unix(), to.Unix())
}

// Totals implements history.Store.
func (s *Store) Totals(ctx context.Context) (map[slo.Key]slo.Counts, error) {
	totals := map[slo.Key]slo.Counts{}
	return totals, s.each(ctx, func(scan func(...any) error) error {
		var k slo.Key
		var c slo.Counts
		err := scan(&k.Hash, &k.Source, &k.Group, &c.Good, &c.Valid, &c.Excluded)
		totals[k] = c
		return err
	}, "SELECT hash, source, grp, good, valid, excluded FROM series")
}

// Watched implements history.Store.
func (s *Store) Watched(ctx context.Context) (map[slo.Source][]slo.Interval, error) {
	all := map[slo.Source][]slo.Interval{}
	return all, s.each(ctx, func(scan func(...any) error) error {
		w, err := scanWatched(scan)
		all[w.Source] = append(all[w.Source], w.Interval)
		return err
	}, "SELECT source, start, until FROM watched ORDER BY source, start")
}

func scanWatched(scan func(...any) error) (w history.Watched, err error) {
	var from, to int64
	err = scan(&w.Source, &from, &to)
	w.From, w.To = time.UnixMilli(from), time.UnixMilli(to)
	return w, err
}
