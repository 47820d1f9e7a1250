// Package sqlite is a store in one SQLite file, in pure Go.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"tokenmeter/base/limitio"
	"tokenmeter/service/slo/history"

	_ "modernc.org/sqlite" // the driver
)

// DB is a store in a file. Other processes may read it meanwhile.
type DB struct {
	db   *sql.DB
	path string
	held *os.File // the lock; nil: it only reads
}

var _ history.Store = (*DB)(nil)

// Open opens a store, makes it if it is not there, and brings an older one up
// to date. One that another process writes is a HeldError, a file that is
// something else a ForeignError; neither is touched.
func Open(path string) (*DB, error) {
	for _, name := range []string{path, path + lockEnd} {
		if err := limitio.Plain(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := refuseForeign(path); err != nil {
		return nil, err
	}
	held, err := lock(path)
	if err != nil {
		return nil, err
	}
	d, err := open(path, "rwc")
	if err != nil {
		held.Close()
		return nil, err
	}
	d.held = held
	if err := d.migrate(context.Background()); err != nil {
		d.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// OpenReadOnly opens a store that exists, also one that a daemon writes.
func OpenReadOnly(path string) (*DB, error) {
	if err := limitio.Plain(path); err != nil {
		return nil, err
	}
	d, err := open(path, "ro")
	if err != nil {
		return nil, err
	}
	err = d.foreign()
	var version int
	if err == nil {
		version, err = d.version(context.Background())
	}
	switch {
	case err != nil:
	case version > len(migrations):
		err = history.ErrNewer
	case version == 0:
		err = fmt.Errorf("nothing is in this store yet; has tokenmeter serve just been started? Try again in a moment")
	case version < len(migrations):
		err = fmt.Errorf("an older version of tokenmeter made this store; start tokenmeter serve with it once")
	}
	if err != nil {
		d.db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func open(path, mode string) (*DB, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(full)
	if slashed[0] != '/' {
		slashed = "/" + slashed // a drive letter
	}
	// With synchronous=FULL a commit outlives a loss of power, too: that an alert
	// was told must not be forgotten, and once a second is not often.
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)"}, "_txlock": {"immediate"}}
	if mode != "ro" {
		q["_pragma"] = append([]string{"journal_mode(WAL)"}, q["_pragma"]...)
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // one writer; readers are other processes
	if err := db.Ping(); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &DB{db: db, path: full}, nil
}

// Close closes the file.
func (d *DB) Close() error {
	err := d.db.Close()
	if d.held != nil {
		d.held.Close()
	}
	return err
}

// migrations bring a store from one version to the next. What is here never
// changes: a change is a new entry.
var migrations = []string{`
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

// foreign is an error when there are tables, and none of them is of a store.
func (d *DB) foreign() error {
	var others int
	err := d.db.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE NOT EXISTS
		(SELECT 1 FROM sqlite_schema WHERE name = 'series' AND sql LIKE '%grp TEXT%')`).Scan(&others)
	if err == nil && others > 0 {
		err = &ForeignError{d.path}
	}
	return err
}

func (d *DB) version(ctx context.Context) (int, error) {
	var version int
	err := d.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

func (d *DB) migrate(ctx context.Context) error {
	for {
		done := false
		err := d.tx(ctx, func(tx *sql.Tx) error {
			var version int
			if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
				return err
			}
			switch {
			case version > len(migrations):
				return history.ErrNewer
			case version == len(migrations):
				done = true
				return nil
			}
			if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
				return fmt.Errorf("cannot bring the store to version %d: %w", version+1, err)
			}
			_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version+1))
			return err
		})
		if err != nil || done {
			return err
		}
	}
}

// tx does all of it or nothing.
func (d *DB) tx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
