// Package sqlstore is a store in an SQL database: what SQLite and PostgreSQL
// share, which is all but how a database is opened, who may write it, and a few
// words of its language.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
)

// Store is a store in a database. One process writes it, on one connection.
type Store struct {
	queries
	SQL    *sql.DB
	closed func()
	// Gone, if not nil, is asked before each write; its error says why what is written now
	// would be lost.
	Gone func() error

	telling sync.Mutex
	words   []error
}

var _ history.Store = (*Store)(nil)

// Dialect is what one database says otherwise than SQLite.
type Dialect struct {
	Version    string              // the query of the store's version, 0 where there is none
	SetVersion string              // the statement that sets it, with %d
	Types      *strings.Replacer   // what its types are called; nil: as in SQLite
	Numbered   bool                // parameters are $1, $2, … and not ?
	Text       func(string) string // a text as the database can hold it; nil: it holds every one
}

// New returns the store in a database, whose Migrate or Current is to be called
// first. It closes the database, and calls closed after it.
func New(db *sql.DB, d *Dialect, closed func()) *Store {
	return &Store{queries: queries{db, d, nil}, SQL: db, closed: closed}
}

// Close closes the database.
func (s *Store) Close() error {
	defer s.closed()
	return s.SQL.Close()
}

// queries are asked in a dialect, of a database or within a transaction.
type queries struct {
	conn interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		QueryRowContext(context.Context, string, ...any) *sql.Row
		PrepareContext(context.Context, string) (*sql.Stmt, error)
	}
	dialect *Dialect
	words   *[]error // of a transaction: to be told when it is done
}

func (q queries) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return q.conn.ExecContext(ctx, q.dialect.in(query), q.dialect.texts(args)...)
}

// each calls take for every row of a query, whose columns scan reads. The connection is
// free again when it returns.
func (q queries) each(ctx context.Context, take func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := q.conn.QueryContext(ctx, q.dialect.in(query), q.dialect.texts(args)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (q queries) row(ctx context.Context, query string, args ...any) *sql.Row {
	return q.conn.QueryRowContext(ctx, q.dialect.in(query), q.dialect.texts(args)...)
}

// prepared is a statement that is used again and again.
type prepared struct {
	*sql.Stmt
	dialect *Dialect
}

func (q queries) prepare(ctx context.Context, query string) (prepared, error) {
	stmt, err := q.conn.PrepareContext(ctx, q.dialect.in(query))
	return prepared{stmt, q.dialect}, err
}

func (p prepared) exec(ctx context.Context, args ...any) (sql.Result, error) {
	return p.ExecContext(ctx, p.dialect.texts(args)...)
}

func (p prepared) row(ctx context.Context, args ...any) *sql.Row {
	return p.QueryRowContext(ctx, p.dialect.texts(args)...)
}

// in is a query, which has no text with a question mark, in the dialect.
func (d *Dialect) in(query string) string {
	if !d.Numbered {
		return query
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, more := strings.Cut(query, "?")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		query = after
	}
}

func (d *Dialect) texts(args []any) []any {
	if d.Text == nil {
		return args
	}
	for i, a := range args {
		switch v := a.(type) {
		case string:
			args[i] = d.Text(v)
		case slo.Source:
			args[i] = d.Text(string(v))
		}
	}
	return args
}

// Migrations bring a store from one version to the next. What is here never
// changes: a change is a new entry.
var Migrations = []string{`
CREATE TABLE series (
	id INTEGER PRIMARY KEY,
	hash TEXT NOT NULL, source TEXT NOT NULL, grp TEXT NOT NULL,
	good INTEGER NOT NULL, valid INTEGER NOT NULL, excluded INTEGER NOT NULL,
	UNIQUE (hash, source, grp)
);
CREATE TABLE cells (
	series INTEGER NOT NULL REFERENCES series, tier INTEGER NOT NULL, at INTEGER NOT NULL,
	good INTEGER NOT NULL, valid INTEGER NOT NULL, excluded INTEGER NOT NULL,
	PRIMARY KEY (tier, at, series)
) WITHOUT ROWID;
CREATE TABLE sketches (
	name TEXT NOT NULL, tier INTEGER NOT NULL, at INTEGER NOT NULL, data BLOB NOT NULL,
	PRIMARY KEY (name, tier, at)
) WITHOUT ROWID;
CREATE TABLE watched (
	source TEXT NOT NULL, start INTEGER NOT NULL, until INTEGER NOT NULL,
	PRIMARY KEY (source, start)
) WITHOUT ROWID;
CREATE TABLE writers (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (id TEXT PRIMARY KEY, name TEXT NOT NULL, dir TEXT NOT NULL, started INTEGER NOT NULL, summary TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX runs_started ON runs (started);
CREATE TABLE annotations (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, until INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, labels TEXT NOT NULL);
CREATE INDEX annotations_at ON annotations (at);
CREATE TABLE states (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`}

// Current is an error where the store is of another version than this program's.
func (s *Store) Current(ctx context.Context) error {
	version, err := s.version(ctx)
	switch {
	case err != nil:
		return err
	case version > len(Migrations):
		return history.ErrNewer
	case version == 0:
		return fmt.Errorf("nothing is in this store yet; has tokenmeter serve just been started? Try again in a moment")
	case version < len(Migrations):
		return fmt.Errorf("an older version of tokenmeter made this store; start tokenmeter serve with it once")
	}
	return nil
}

func (q queries) version(ctx context.Context) (version int, err error) {
	err = q.row(ctx, q.dialect.Version).Scan(&version)
	if err == nil && version < 0 {
		err = fmt.Errorf("its version is %d: the store is damaged, or not tokenmeter's", version)
	}
	return version, err
}

// Migrate brings the store up to date, by Migrations.
func (s *Store) Migrate(ctx context.Context, migrations []string) error {
	for {
		done := false
		err := s.tx(ctx, func(tx queries) error {
			version, err := tx.version(ctx)
			switch {
			case err != nil:
				return err
			case version > len(migrations):
				return history.ErrNewer
			case version == len(migrations):
				done = true
				return nil
			}
			tables := migrations[version]
			if tx.dialect.Types != nil {
				tables = tx.dialect.Types.Replace(tables)
			}
			if _, err := tx.exec(ctx, tables); err != nil {
				return fmt.Errorf("cannot bring the store to version %d: %w", version+1, err)
			}
			_, err = tx.exec(ctx, fmt.Sprintf(tx.dialect.SetVersion, version+1))
			return err
		})
		if err != nil || done {
			return err
		}
	}
}

func (s *Store) gone() error {
	if s.Gone == nil {
		return nil
	}
	return s.Gone()
}

func (s *Store) tx(ctx context.Context, do func(queries) error) error {
	if err := s.gone(); err != nil {
		return err
	}
	t, err := s.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var words []error
	if err := do(queries{t, s.dialect, &words}); err != nil {
		if undone := t.Rollback(); !errors.Is(undone, sql.ErrTxDone) {
			err = errors.Join(err, undone)
		}
		return err
	}
	if err := t.Commit(); err != nil {
		return err
	}
	s.telling.Lock()
	defer s.telling.Unlock()
	s.words = append(s.words, words...)
	return nil
}

// Words implements history.Store.
func (s *Store) Words() []error {
	s.telling.Lock()
	defer s.telling.Unlock()
	words := s.words
	s.words = nil
	return words
}
