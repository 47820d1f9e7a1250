package sqlstore

import (
	"context"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
)

// Compact implements history.Store. Each step is one transaction, so that a count
// is in one tier or in the other and never in both.
func (s *Store) Compact(ctx context.Context, now time.Time) error {
	for tier := range slo.Tiers {
		if err := s.compactCells(ctx, tier, cutoff(slo.Tiers, tier, now)); err != nil {
			return err
		}
	}
	for tier := range history.SketchTiers {
		if err := s.tx(ctx, func(tx queries) error { return compactSketches(ctx, tx, tier, now) }); err != nil {
			return err
		}
	}
	return s.tx(ctx, func(tx queries) error {
		oldest := now.Add(-slo.Tiers[len(slo.Tiers)-1].Keep)
		if _, err := tx.exec(ctx, "DELETE FROM watched WHERE until < ?", oldest.UnixMilli()); err != nil {
			return err
		}
		// A writer that has been silent for so long does not repeat a batch.
		_, err := tx.exec(ctx, "DELETE FROM writers WHERE at < ?", now.Add(-7*24*time.Hour).Unix())
		return err
	})
}

// cutoff is before which a tier's cells move on: a boundary of the next tier,
// so that its cells move as a whole.
func cutoff(tiers []slo.Tier, tier int, now time.Time) int64 {
	step := tiers[min(tier+1, len(tiers)-1)].Step
	return now.Add(-tiers[tier].Keep).Truncate(step).Unix()
}

// atOnce is how many steps of the next tier are moved in one transaction: what has
// gathered while a daemon was down for days would keep a server busy for longer than
// its answers are waited for.
const atOnce = 200

// compactCells moves what a tier has of before a moment, the oldest first.
func (s *Store) compactCells(ctx context.Context, tier int, before int64) error {
	step := int64(slo.Tiers[min(tier+1, len(slo.Tiers)-1)].Step / time.Second)
	for end := int64(0); end < before; {
		err := s.tx(ctx, func(tx queries) error {
			var oldest int64
			if err := tx.row(ctx, "SELECT coalesce(min(at), ?) FROM cells WHERE tier = ?", before, tier).Scan(&oldest); err != nil {
				return err
			}
			end = min(oldest-oldest%step+atOnce*step, before)
			return compactCells(ctx, tx, tier, end)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func compactCells(ctx context.Context, tx queries, tier int, before int64) error {
	if tier+1 < len(slo.Tiers) {
		step := int64(slo.Tiers[tier+1].Step / time.Second)
		_, err := tx.exec(ctx, `INSERT INTO cells (series, tier, at, good, valid, excluded)
			SELECT series, tier + 1, at - at % ?, sum(good), sum(valid), sum(excluded) FROM cells WHERE tier = ? AND at < ? GROUP BY series, tier, 3`+addUp,
			step, tier, before)
		if err != nil {
			return err
		}
	}
	_, err := tx.exec(ctx, "DELETE FROM cells WHERE tier = ? AND at < ?", tier, before)
	return err
}

func compactSketches(ctx context.Context, tx queries, tier int, now time.Time) error {
	before := cutoff(history.SketchTiers, tier, now)
	if tier+1 < len(history.SketchTiers) {
		if err := moveSketches(ctx, tx, tier, before); err != nil {
			return err
		}
	}
	_, err := tx.exec(ctx, "DELETE FROM sketches WHERE tier = ? AND at < ?", tier, before)
	return err
}
