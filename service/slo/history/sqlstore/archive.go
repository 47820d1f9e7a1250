package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"

	"tokenmeter/service/slo/kept"
)

// PutState implements history.Store.
func (s *Store) PutState(ctx context.Context, name string, value json.RawMessage) error {
	if err := s.gone(); err != nil {
		return err
	}
	if value == nil {
		_, err := s.exec(ctx, "DELETE FROM states WHERE name = ?", name)
		return err
	}
	_, err := s.exec(ctx, "INSERT INTO states (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, string(value))
	return err
}

// State implements history.Store. Of one that is too large to be read, it is the beginning.
func (s *Store) State(ctx context.Context, name string) (json.RawMessage, error) {
	var value string
	err := s.row(ctx, "SELECT substr(value, 1, "+strconv.Itoa(kept.Most+1)+") FROM states WHERE name = ?", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return json.RawMessage(value), err
}
