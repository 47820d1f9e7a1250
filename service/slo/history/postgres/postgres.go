// Package postgres is a store in a PostgreSQL database, for the daemons of a
// fleet. Each daemon has a schema of its own there, under its name, with the
// tables that a SQLite file has: none writes what another one counts, so nothing
// is there twice, and who reads adds up.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/pattern"
	"tokenmeter/base/secret"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/sqlstore"

	"github.com/lib/pq"
)

// Is reports whether the name of a store is meant as a PostgreSQL database. What is not
// written as its URL is refused later: taken for a file, its password would be a name.
func Is(store string) bool {
	s := strings.ToLower(strings.TrimSpace(store))
	return strings.HasPrefix(s, "postgres:") || strings.HasPrefix(s, "postgresql:") || strings.Contains(s, "password=")
}

// isURL reports whether it is written as one.
func isURL(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// named are the names that a daemon may have: with the prefix they are names of
// schemas, which PostgreSQL cuts after 63 bytes.
var named = pattern.Lazy(`^[A-Za-z0-9._-]{1,52}$`)

// prefix is what the names of our schemas begin with.
const prefix = "tokenmeter_"

// Name is the name of a daemon in a store: the one that is given, else that of
// the host, up to the first dot.
func Name(given string) (string, error) {
	name := given
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			return "", fmt.Errorf("this host's name is not known (%w): give the daemon one in store_name", err)
		}
		name, _, _ = strings.Cut(host, ".")
	}
	if !named().MatchString(name) {
		return "", fmt.Errorf("%q is no name of a daemon in a PostgreSQL store: give one of 1 to 52 letters, digits, dots, dashes and underscores in store_name", name)
	}
	return name, nil
}

// Check says what is wrong with the URL of a database, without connecting.
func Check(store string) error {
	_, err := parse(store)
	return err
}

// target is a database, and what must not be printed of it.
type target struct {
	config  pq.Config
	redact  *secret.Redactor
	silence time.Duration // how long the server may take for an answer
}

func parse(store string) (*target, error) {
	u, err := url.Parse(store)
	if err != nil || !isURL(store) {
		return nil, errors.New("it is no URL; write postgres://USER@HOST:PORT/DATABASE") // the error would show its password
	}
	password, _ := u.User.Password()
	t := &target{silence: silence, redact: secret.New(password, u.Query().Get("password"), os.Getenv("PGPASSWORD"))}
	if t.config, err = pq.NewConfig(store); err != nil {
		return nil, errors.New(t.redact.Error(err))
	}
	t.config.Host = strings.Trim(t.config.Host, "[]") // of IPv6 without a port pq keeps them, and can't dial
	if u.Query().Get("connect_timeout") == "" {
		t.config.ConnectTimeout = dialFor
	}
	return t, nil
}

// String is where the database is, as a URL without who asks: one for all spellings of
// a host's name.
func (t *target) String() string {
	host, port := t.config.Host, strconv.Itoa(int(t.config.Port))
	u := url.URL{Scheme: "postgres", Path: "/" + t.config.Database}
	if filepath.IsAbs(host) || strings.HasPrefix(host, "@") { // a socket's folder
		u.RawQuery = url.Values{"host": {host}, "port": {port}}.Encode()
		return u.String()
	}
	u.Host = net.JoinHostPort(strings.ToLower(host), port)
	return u.String()
}

// heldFor is how long Open waits for whoever writes under the name: the server
// needs a moment to notice that a process was killed.
const heldFor = 2 * time.Second

// Open opens the store of a daemon in a database, makes it if it is not there,
// and brings an older one up to date. A name that another process has is a
// HeldError. place is the host, the port, the database and the schema.
func Open(ctx context.Context, store, name string) (d *sqlstore.Store, place string, err error) {
	t, err := parse(store)
	if err != nil {
		return nil, "", err
	}
	d, err = t.open(ctx, name)
	return d, t.String() + "#" + prefix + name, err
}

func (t *target) open(ctx context.Context, name string) (*sqlstore.Store, error) {
	var err error
	d := t.store(name, newWriter(name).begin)
	for until := time.Now().Add(heldFor); ; {
		if err = makeSchema(ctx, d.SQL, prefix+name); err == nil {
			err = d.Migrate(ctx, sqlstore.Migrations)
		}
		held := (*HeldError)(nil)
		if err == nil || !errors.As(err, &held) || time.Now().After(until) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), d.Close())
		case <-time.After(heldFor / 20):
		}
	}
	if err != nil {
		d.Close()
		return nil, t.explain(err)
	}
	return d, nil
}

// makeSchema makes a schema that is not there. Where it is, nothing is asked of the
// database: IF NOT EXISTS wants the right to make one all the same.
func makeSchema(ctx context.Context, db *sql.DB, schema string) error {
	var there bool
	if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = "+pq.QuoteLiteral(schema)+")").Scan(&there); err != nil || there {
		return err
	}
	_, err := db.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+pq.QuoteIdentifier(schema))
	return err
}

// store returns the store of a daemon; begin is called with each new connection.
func (t *target) store(name string, begin begin) *sqlstore.Store {
	schema := prefix + name
	db := sql.OpenDB(connector{t, func(ctx context.Context, c session) error {
		if err := c.exec(ctx, "SET search_path TO "+pq.QuoteIdentifier(schema)); err != nil {
			return err
		}
		return begin(ctx, c)
	}})
	db.SetMaxOpenConns(1) // the one that holds the lock
	return sqlstore.New(db, dialect(schema), func() {})
}

// dialect is that of PostgreSQL, in one schema. Its version is in the schema's
// comment.
func dialect(schema string) *sqlstore.Dialect {
	return &sqlstore.Dialect{
		Version: "SELECT coalesce((SELECT substring(obj_description(oid, 'pg_namespace') FROM '^history of tokenmeter, version ([0-9]+)$') FROM pg_namespace WHERE nspname = " +
			pq.QuoteLiteral(schema) + "), '0')",
		SetVersion: "COMMENT ON SCHEMA " + pq.QuoteIdentifier(schema) + " IS 'history of tokenmeter, version %d'",
		Types: strings.NewReplacer(" WITHOUT ROWID", "", "INTEGER PRIMARY KEY", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
			"INTEGER", "BIGINT", "TEXT", `TEXT COLLATE "C"`, "BLOB", "BYTEA"),
		Numbered: true,
		Text:     func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd") },
	}
}

// OpenReadOnly opens the stores of all daemons in a database, or of the one that
// is named, to be read; close closes them.
func OpenReadOnly(ctx context.Context, store, name string) (all []history.Reader, close func(), err error) {
	t, err := parse(store)
	if err != nil {
		return nil, nil, err
	}
	names, err := t.names(ctx)
	switch {
	case err != nil:
		return nil, nil, t.explain(err)
	case len(names) == 0:
		return nil, nil, fmt.Errorf("%s: no daemon has a store there; tokenmeter serve makes one", t)
	case name != "" && !slices.Contains(names, name):
		return nil, nil, fmt.Errorf("%s: no daemon %q has a store there; there are %s", t, name, strings.Join(names, ", "))
	case name != "":
		names = []string{name}
	}
	var opened []*sqlstore.Store
	close = func() {
		for _, d := range opened {
			d.Close()
		}
	}
	for _, name := range names {
		d := t.store(name, reader)
		d.SQL.SetMaxIdleConns(0) // there may be many daemons, and a server has few connections
		opened, all = append(opened, d), append(all, d)
		if err := d.Current(ctx); err != nil {
			close()
			return nil, nil, t.explain(fmt.Errorf("the store of the daemon %s: %w", name, err))
		}
	}
	return all, close, nil
}

// names are the daemons that have a store in the database, ascending.
func (t *target) names(ctx context.Context) ([]string, error) {
	db := sql.OpenDB(connector{t, reader})
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT nspname FROM pg_namespace
		WHERE starts_with(nspname, $1) AND obj_description(oid, 'pg_namespace') LIKE 'history of tokenmeter, version %' ORDER BY nspname`, prefix)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var schema string
		if err := rows.Scan(&schema); err != nil {
			return nil, err
		}
		names = append(names, strings.TrimPrefix(schema, prefix))
	}
	return names, rows.Err()
}

// explain says where an error came from, and what to do where that is known.
func (t *target) explain(err error) error {
	var refused *pq.Error
	advice := ""
	if errors.As(err, &refused) {
		switch refused.Code {
		case "28P01", "28000": // invalid password, invalid authorization
			advice = "; the password comes from PGPASSWORD or ~/.pgpass, the user from the URL"
		case "3D000": // no such database
			advice = "; make it with createdb"
		case "42501": // insufficient privilege
			advice = "; each daemon makes a schema of its own: GRANT CREATE ON DATABASE to its user, or CREATE SCHEMA tokenmeter_NAME AUTHORIZATION that user"
		}
	}
	if errors.Is(err, pq.ErrSSLNotSupported) {
		advice = "; turn TLS on there, or add ?sslmode=disable to the URL where the way to it is private"
	}
	if text := t.redact.Error(err); text != err.Error() {
		err = errors.New(text)
	}
	return fmt.Errorf("%s: %w%s", t, err, advice)
}

// key is the number of a lock on a name.
func key(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(prefix + name))
	return int64(h.Sum64())
}
