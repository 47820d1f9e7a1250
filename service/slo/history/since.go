package history

import (
	"context"
	"encoding/json"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/kept"
)

// sinceState is the name under which a store keeps from when on each series has
// been counted without a break: an objective is not new after a restart.
const sinceState = "slo.since"

type begun struct {
	Hash   string     `json:"hash"`
	Source slo.Source `json:"source"`
	Since  time.Time  `json:"since"`
}

// counting reads from when on series have been counted. What a store of an
// older version counted has no beginning, nor where they can't be read. A beginning that is yet to come was
// noted while the clock was wrong.
func counting(ctx context.Context, s Reader, now time.Time) (map[slo.Key]time.Time, error) {
	since := map[slo.Key]time.Time{}
	saved, err := s.State(ctx, sinceState)
	if err != nil {
		return nil, err
	}
	var list []begun
	if saved == nil || kept.Decode(saved, &list) != nil {
		totals, err := s.Totals(ctx)
		for k := range totals {
			since[slo.Key{Hash: k.Hash, Source: k.Source}] = time.Time{}
		}
		return since, err
	}
	for _, b := range list {
		if b.Since.After(now) {
			b.Since = now.Round(0)
		}
		since[slo.Key{Hash: b.Hash, Source: b.Source}] = b.Since
	}
	return since, nil
}

func putCounting(ctx context.Context, s Store, since map[slo.Key]time.Time) error {
	list := []begun{}
	for k, at := range since {
		list = append(list, begun{k.Hash, k.Source, at})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.PutState(ctx, sinceState, text)
}
