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
	"tokenmeter/service/slo/history/sqlstore"

	_ "modernc.org/sqlite" // the driver
)

// DB is a store in a file. Other processes may read it meanwhile.
type DB struct {
	*sqlstore.Store
	db   *sql.DB
	path string
	held *os.File // the lock; nil: it only reads
}

var dialect = &sqlstore.Dialect{Version: "PRAGMA user_version", SetVersion: "PRAGMA user_version = %d"}

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
	if err := d.Migrate(context.Background(), sqlstore.Migrations); err != nil {
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
	if err == nil {
		err = d.Current(context.Background())
	}
	if err != nil {
		d.Close()
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
	return &DB{Store: sqlstore.New(db, dialect), db: db, path: full}, nil
}

// Close closes the file.
func (d *DB) Close() error {
	err := d.Store.Close()
	if d.held != nil {
		d.held.Close()
	}
	return err
}

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
