package postgres

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

// A connection belongs to a daemon as long as it holds the lock on the daemon's
// name, which the server gives back when the connection ends. Each new
// connection takes it before anything else is done on it, and there is one: what
// is written is written by whoever holds the name.

// HeldError says that another process writes under a daemon's name.
type HeldError struct {
	Name string
	By   string // who, in words
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s writes the history of the daemon %s; two under one name would count over each other: stop that one, or give this one another store_name", e.By, e.Name)
}

const (
	dialFor = 5 * time.Second
	// silence is how long the server may take for an answer, usually: a network
	// that swallows everything must not hold up what is told of alerts for long.
	silence = 15 * time.Second
)

// begin makes a new connection ready.
type begin func(context.Context, session) error

// connector opens connections that are ready.
type connector struct {
	target *target
	begin  begin
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return &pq.Driver{} }

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (_ driver.Conn, err error) {
	ready := &guarded{}
	defer ready.caught(&err)
	p, err := pq.NewConnectorConfig(c.target.config)
	if err != nil {
		return nil, err
	}
	d := &dialer{silence: c.target.silence}
	p.Dialer(d)
	conn, err := p.Connect(ctx)
	opened := d.conn // a query that is cancelled opens another one
	if err != nil && opened != nil && opened.start.Load().over() {
		return nil, errStartUp // and not all that it said
	}
	if err != nil {
		return nil, err
	}
	// The server notices within half a minute that nobody is there any more, and
	// gives the name back.
	ready.pqConn = conn.(pqConn)
	s := session{ready}
	err = s.exec(ctx, "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3")
	if err == nil {
		err = c.begin(ctx, s)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	opened.start.Store(nil)
	return ready, nil
}

// session is a connection before anything is done on it.
type session struct{ conn driver.Conn }

func (s session) exec(ctx context.Context, statements string) error {
	_, err := s.conn.(driver.ExecerContext).ExecContext(ctx, statements, nil)
	return err
}

// row returns the first row of a query; nil where there is none.
func (s session) row(ctx context.Context, query string) ([]driver.Value, error) {
	rows, err := s.conn.(driver.QueryerContext).QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return values, nil
}

// reader makes a connection ready on which is only read.
func reader(ctx context.Context, s session) error {
	return s.exec(ctx, "SET application_name = 'tokenmeter'")
}

// writer is a process that writes under a name.
type writer struct {
	name string
	id   string // tells this process's connections, of before too
}

func newWriter(name string) writer { return writer{name, rand.Text()[:8]} }

// begin takes the name. A connection of ours that the network has eaten may
// still hold it: it is ended.
func (w writer) begin(ctx context.Context, s session) error {
	host, _ := os.Hostname()
	who := fmt.Sprintf("process %d on %.30s", os.Getpid(), host)
	if err := s.exec(ctx, "SET application_name = "+pq.QuoteLiteral(who+", "+w.id)); err != nil {
		return err
	}
	for held := error(nil); ; {
		if got, err := s.row(ctx, fmt.Sprintf("SELECT pg_try_advisory_lock(%d)", key(w.name))); err != nil || got[0] == true {
			return err
		}
		if held != nil {
			return held
		}
		holder, err := s.row(ctx, fmt.Sprintf(`SELECT pid, application_name, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
			FROM pg_locks JOIN pg_stat_activity USING (pid)
			WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND classid::bigint << 32 | objid::bigint = %d`, key(w.name)))
		if err != nil {
			return err
		}
		held = &HeldError{w.name, "another process"} // it may just have ended
		if holder == nil {
			continue
		}
		by, ours := strings.CutSuffix(fmt.Sprint(holder[1]), ", "+w.id)
		by, _, _ = strings.Cut(by, ", ")
		held = &HeldError{w.name, fmt.Sprintf("%s (connected since %v)", by, holder[2])}
		if !ours {
			return held
		}
		if _, err := s.row(ctx, fmt.Sprintf("SELECT pg_terminate_backend(%v), pg_sleep(0.2)", holder[0])); err != nil {
			return err
		}
	}
}

// dialer opens connections on which no read and no write waits for long.
type dialer struct {
	silence time.Duration
	conn    *impatient // the last one
}

// Dial implements pq.Dialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, dialFor)
}

// DialTimeout implements pq.Dialer.
func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// DialContext implements pq.DialerContext.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.conn = &impatient{Conn: conn, silence: d.silence}
	d.conn.start.Store(&startUp{time.Now().Add(4 * d.silence), startBytes})
	return d.conn, nil
}

// startBytes is how much a server may say before a connection is ready: a
// certificate, parameters, who holds a name. The driver takes messages of any length.
const startBytes = 1 << 20

// startUp is what is left of the beginning of a connection, which is told by one
// goroutine.
type startUp struct {
	until time.Time
	bytes int
}

// over reports whether nothing is left.
func (s *startUp) over() bool { return s.bytes <= 0 || !time.Now().Before(s.until) }

var errStartUp = errors.New("what answers there does not speak PostgreSQL's protocol: it said too much, or for too long, before it was ready")

// impatient is a connection on which no read and no write waits for long. A
// read begins when an answer is owed.
type impatient struct {
	net.Conn
	silence time.Duration
	start   atomic.Pointer[startUp] // nil: it is ready
}

func (c *impatient) Read(b []byte) (int, error) {
	start, until := c.start.Load(), time.Now().Add(c.silence)
	if start != nil {
		if start.over() {
			return 0, errStartUp
		}
		b = b[:min(len(b), start.bytes)]
	}
	if err := c.SetReadDeadline(until); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if start != nil {
		start.bytes -= n
	}
	return n, err
}

func (c *impatient) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.silence)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
