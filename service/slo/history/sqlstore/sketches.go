package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/kept"
)

// sketch is one as it is read from a column, data, with where it stands. What can't
// be read is empty and says why: whoever writes sets it aside and goes on.
type sketch struct {
	stat.Sketch
	bad error

	name string
	tier int
	at   int64
}

// Scan implements sql.Scanner.
func (s *sketch) Scan(data any) error {
	b, _ := data.([]byte)
	s.bad = s.UnmarshalBinary(b)
	return nil
}

// data is the column of a sketch. The largest that is written has a tenth of these
// bytes; what is larger is not even fetched.
const data = "CASE WHEN length(data) <= 4194304 THEN data END"

// aside is what the names of sketches begin with that can't be read. No metric is
// called so: nobody asks for them, and they go when the oldest of their time do.
const aside = "damaged-"

// setAside gives sketches that can't be read another name, and says so.
func setAside(ctx context.Context, tx queries, list []*sketch) error {
	last := len(history.SketchTiers) - 1
	for _, s := range list {
		name := fmt.Sprintf("%s%d %s", aside, s.tier, s.name)
		if _, err := tx.exec(ctx, "DELETE FROM sketches WHERE name = ? AND tier = ? AND at = ?", name, last, s.at); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "UPDATE sketches SET name = ?, tier = ? WHERE name = ? AND tier = ? AND at = ?", name, last, s.name, s.tier, s.at); err != nil {
			return err
		}
		*tx.words = append(*tx.words, &kept.Damaged{Name: fmt.Sprintf("the sketch %s of %s", s.name, time.Unix(s.at, 0).UTC().Format(time.RFC3339)), Aside: name, Err: s.bad})
	}
	return nil
}

// sound calls take for each sketch of a condition, and sets aside those that can't be
// read.
func sound(ctx context.Context, tx queries, take func(*sketch), where string, args ...any) error {
	var bad []*sketch
	err := tx.each(ctx, func(scan func(...any) error) error {
		s := &sketch{}
		if err := scan(&s.name, &s.tier, &s.at, s); err != nil {
			return err
		}
		if s.bad != nil {
			bad = append(bad, s)
		} else {
			take(s)
		}
		return nil
	}, "SELECT name, tier, at, "+data+" FROM sketches WHERE name NOT LIKE '"+aside+"%' AND "+where, args...)
	if err != nil {
		return err
	}
	return setAside(ctx, tx, bad)
}

func mergeSketch(ctx context.Context, tx queries, name string, tier int, at int64, add *stat.Sketch) error {
	merged := &stat.Sketch{}
	if err := sound(ctx, tx, func(s *sketch) { merged = &s.Sketch }, "name = ? AND tier = ? AND at = ?", name, tier, at); err != nil {
		return err
	}
	merged.Merge(add)
	data, err := merged.MarshalBinary()
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "INSERT INTO sketches (name, tier, at, data) VALUES (?, ?, ?, ?) ON CONFLICT (name, tier, at) DO UPDATE SET data = excluded.data", name, tier, at, data)
	return err
}

func moveSketches(ctx context.Context, tx queries, tier int, before int64) error {
	type target struct {
		name string
		at   int64
	}
	step := int64(history.SketchTiers[tier+1].Step / time.Second)
	merged := map[target]*stat.Sketch{}
	err := sound(ctx, tx, func(s *sketch) {
		to := target{s.name, s.at - s.at%step}
		if merged[to] == nil {
			merged[to] = &stat.Sketch{}
		}
		merged[to].Merge(&s.Sketch)
	}, "tier = ? AND at < ?", tier, before)
	if err != nil {
		return err
	}
	for to, s := range merged {
		if err := mergeSketch(ctx, tx, to.name, tier+1, to.at, s); err != nil {
			return err
		}
	}
	return nil
}

func redateSketches(ctx context.Context, tx queries, r history.Redate) error {
	var list []*sketch
	err := sound(ctx, tx, func(s *sketch) { list = append(list, s) }, "at > ?", r.After.Unix())
	if err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "DELETE FROM sketches WHERE name NOT LIKE '"+aside+"%' AND at > ?", r.After.Unix()); err != nil {
		return err
	}
	for _, s := range list {
		if s.tier < 0 || s.tier >= len(history.SketchTiers) {
			return errTier(s.tier)
		}
		at := r.Of(time.Unix(s.at, 0)).Truncate(history.SketchTiers[s.tier].Step)
		if err := mergeSketch(ctx, tx, s.name, s.tier, at.Unix(), &s.Sketch); err != nil {
			return err
		}
	}
	return nil
}

// Sketch implements history.Store.
func (s *Store) Sketch(ctx context.Context, name string, from, to time.Time) (*stat.Sketch, error) {
	steps := "CASE tier"
	for tier, t := range history.SketchTiers {
		steps += fmt.Sprintf(" WHEN %d THEN %d", tier, int64(t.Step/time.Second))
	}
	merged := &stat.Sketch{}
	return merged, s.each(ctx, func(scan func(...any) error) error {
		var one sketch
		err := errors.Join(scan(&one), one.bad)
		merged.Merge(&one.Sketch)
		return err
	}, "SELECT "+data+" FROM sketches WHERE name = ? AND at >= ? AND at + "+steps+" END <= ?", name, from.Unix(), to.Unix())
}

// SketchNames implements history.Store.
func (s *Store) SketchNames(ctx context.Context) (names []string, err error) {
	err = s.each(ctx, func(scan func(...any) error) error {
		names = append(names, "")
		return scan(&names[len(names)-1])
	}, "SELECT DISTINCT name FROM sketches ORDER BY name")
	return names, err
}
