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

var dialect = &sqlstore.Dialect{Version: "PRAGMA user_version", SetVersion: "PRAGMA user_version = %d"}

// Open opens a store, makes it if it is not there, and brings an older one up
// to date. One that another process writes is a HeldError, a file that is
// something else a ForeignError; neither is touched. Other processes may read it
// meanwhile. Once the file has been removed, renamed or replaced, writes fail: SQLite
// would go on writing what has no name any more.
func Open(path string) (*sqlstore.Store, error) {
	path = linked(path)
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
	d, err := open(path, "rwc", func() { held.Close() })
	if err != nil {
		held.Close()
		return nil, err
	}
	opened, err := os.Stat(path)
	if err == nil {
		err = d.Migrate(context.Background(), sqlstore.Migrations)
	}
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d.Gone = func() error {
		switch now, err := os.Stat(path); {
		case err == nil && os.SameFile(opened, now), err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil
		}
		return fmt.Errorf("%s is not the file that was opened: that was removed, renamed or replaced; put it back, or start the daemon anew", path)
	}
	return d, nil
}

// linked is where a symbolic link leads, also where nothing is yet: SQLite's own files lie
// beside that, and so does the lock.
func linked(path string) string {
	for range 40 {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// OpenReadOnly opens a store that exists, also one that a daemon writes.
func OpenReadOnly(path string) (*sqlstore.Store, error) {
	if err := limitio.Plain(path); err != nil {
		return nil, err
	}
	d, err := open(path, "ro", func() {})
	if err != nil {
		return nil, err
	}
	err = foreign(d, path)
	if err == nil {
		err = d.Current(context.Background())
	}
	if err != nil {
		d.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func open(path, mode string, closed func()) (*sqlstore.Store, error) {
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
	return sqlstore.New(db, dialect, closed), nil
}

// foreign is an error when there are tables, and none of them is of a store.
func foreign(d *sqlstore.Store, path string) error {
	var others int
	err := d.SQL.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE NOT EXISTS
		(SELECT 1 FROM sqlite_schema WHERE name = 'series' AND sql LIKE '%grp TEXT%')`).Scan(&others)
	if err == nil && others > 0 {
		err = &ForeignError{path}
	}
	return err
}
