package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"tokenmeter/service/slo/history"
)

// PutRun implements history.Store.
func (s *Store) PutRun(ctx context.Context, r history.Run) error {
	if r.Summary == nil {
		r.Summary = json.RawMessage("null")
	}
	_, err := s.exec(ctx, `INSERT INTO runs (id, name, dir, started, summary) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, dir = excluded.dir, started = excluded.started, summary = excluded.summary`, r.ID, r.Name, r.Dir, r.Started.UnixMilli(), string(r.Summary))
	return err
}

// Runs implements history.Store.
func (s *Store) Runs(ctx context.Context, from, to time.Time) ([]history.Run, error) {
	rows, err := s.query(ctx, "SELECT id, name, dir, started, summary FROM runs WHERE started >= ? AND started < ? ORDER BY started DESC, id", from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []history.Run
	for rows.Next() {
		var r history.Run
		var started int64
		var summary string
		if err := rows.Scan(&r.ID, &r.Name, &r.Dir, &started, &summary); err != nil {
			return nil, err
		}
		r.Started, r.Summary = time.UnixMilli(started).UTC(), json.RawMessage(summary)
		list = append(list, r)
	}
	return list, rows.Err()
}

// Annotate implements history.Store.
func (s *Store) Annotate(ctx context.Context, a history.Annotation) (int64, error) {
	labels, err := json.Marshal(a.Labels)
	if err != nil {
		return 0, err
	}
	until := a.At.UnixMilli()
	if !a.Until.IsZero() {
		until = a.Until.UnixMilli()
	}
	var id int64
	err = s.row(ctx, "INSERT INTO annotations (at, until, kind, text, labels) VALUES (?, ?, ?, ?, ?) RETURNING id", a.At.UnixMilli(), until, a.Kind, a.Text, string(labels)).Scan(&id)
	return id, err
}

// Annotations implements history.Store.
func (s *Store) Annotations(ctx context.Context, from, to time.Time) ([]history.Annotation, error) {
	rows, err := s.query(ctx, "SELECT id, at, until, kind, text, labels FROM annotations WHERE until >= ? AND at < ? ORDER BY at, id", from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []history.Annotation
	for rows.Next() {
		var a history.Annotation
		var at, until int64
		var labels string
		if err := rows.Scan(&a.ID, &at, &until, &a.Kind, &a.Text, &labels); err != nil {
			return nil, err
		}
		a.At = time.UnixMilli(at).UTC()
		if until != at {
			a.Until = time.UnixMilli(until).UTC()
		}
		if err := json.Unmarshal([]byte(labels), &a.Labels); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

// PutState implements history.Store.
func (s *Store) PutState(ctx context.Context, name string, value json.RawMessage) error {
	if value == nil {
		_, err := s.exec(ctx, "DELETE FROM states WHERE name = ?", name)
		return err
	}
	_, err := s.exec(ctx, "INSERT INTO states (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, string(value))
	return err
}

// State implements history.Store.
func (s *Store) State(ctx context.Context, name string) (json.RawMessage, error) {
	var value string
	err := s.row(ctx, "SELECT value FROM states WHERE name = ?", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return json.RawMessage(value), err
}
