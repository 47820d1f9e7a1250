package sqlstore

import (
	"context"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
)

// redate moves what a clock that was ahead has dated. It stays in its
// resolution.
func redate(ctx context.Context, tx queries, r history.Redate) error {
	after, by := r.After.Unix(), int64(r.By/time.Second)
	for tier, t := range slo.Tiers {
		step := int64(t.Step / time.Second)
		if _, err := tx.exec(ctx, `INSERT INTO cells (series, tier, at, good, valid, excluded)
			SELECT series, tier, CASE WHEN at - ? < ? THEN at - ? ELSE ? END / ? * ?, sum(good), sum(valid), sum(excluded) FROM cells
			WHERE tier = ? AND at > ? GROUP BY series, tier, 3`+addUp,
			by, after, by, after, step, step, tier, after); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "DELETE FROM cells WHERE tier = ? AND at > ?", tier, after); err != nil {
			return err
		}
	}
	if err := redateWatched(ctx, tx, r); err != nil {
		return err
	}
	return redateSketches(ctx, tx, r)
}

func redateWatched(ctx context.Context, tx queries, r history.Redate) error {
	after := r.After.UnixMilli()
	var list []history.Watched
	err := tx.each(ctx, func(scan func(...any) error) error {
		w, err := scanWatched(scan)
		if w.From.UnixMilli() > after {
			w.From = w.From.Add(-r.By)
		}
		if w.To = r.Of(w.To); w.From.Before(w.To) {
			list = append(list, w)
		}
		return err
	}, "SELECT source, start, until FROM watched WHERE until > ?", after)
	if err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "DELETE FROM watched WHERE until > ?", after); err != nil {
		return err
	}
	for _, w := range list {
		if err := watch(ctx, tx, w); err != nil {
			return err
		}
	}
	return nil
}
