package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/historytest"
	"tokenmeter/service/slo/history/postgrestest"
	"tokenmeter/service/slo/history/sqlstore"
)

// openAt opens what is written as URL#NAME.
func openAt(place string) (history.Store, error) {
	store, name, _ := strings.Cut(place, "#")
	return begun(Open(context.Background(), store, name))
}

// begun leaves out where a store is.
func begun(d *sqlstore.Store, _ string, err error) (*sqlstore.Store, error) { return d, err }

func TestMain(m *testing.M) { os.Exit(historytest.Main(m, openAt)) }

func TestStore(t *testing.T) {
	server := postgrestest.Start(t)
	t.Run("Conformance", func(t *testing.T) {
		historytest.Run(t, func(t testing.TB) historytest.Opener {
			place := server.Database(t) + "#a.daemon-1"
			return func(t testing.TB) history.Store {
				s, err := openAt(place)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
		})
	})
	t.Run("KilledAtRandomMoments", func(t *testing.T) { historytest.Killed(t, server.Database(t)+"#a", openAt) })
	t.Run("HoursOfFaultsAndRestarts", func(t *testing.T) { historytest.FaultsAndRestarts(t, 3, server.Database(t)+"#a", openAt) })
	for name, test := range map[string]func(*testing.T, *postgrestest.Server){
		"OneWriter":        oneWriter,
		"MadeByAnother":    madeByAnother,
		"TwoDaemons":       twoDaemons,
		"ConnectionKilled": connectionKilled,
		"NoAnswers":        noAnswers,
		"ServerKilled":     serverKilled,
		"Texts":            texts,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

var begin0 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func one(seq int64) history.Batch {
	return history.Batch{Writer: "w", Seq: seq, At: begin0, Counts: []slo.Increment{{Key: slo.Key{Hash: "a", Source: slo.Live}, At: begin0.Add(time.Duration(seq) * time.Second), Counts: slo.Counts{Good: 1, Valid: 1}}}}
}

// A user who may make no schema counts in one that somebody made, at each start; without
// one the advice says how. Who asks for a daemon that is not there is told which are.
func madeByAnother(t *testing.T, server *postgrestest.Server) {
	place := server.Database(t)
	postgrestest.SQL(t, place, `CREATE ROLE plain LOGIN; CREATE SCHEMA "tokenmeter_a" AUTHORIZATION plain`)
	u, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("plain")
	for range 2 {
		d, err := begun(Open(t.Context(), u.String(), "a"))
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
	}
	if _, err := begun(Open(t.Context(), u.String(), "b")); err == nil || !strings.Contains(err.Error(), "CREATE SCHEMA") {
		t.Errorf("without a schema: %v", err)
	}
	if _, _, err := OpenReadOnly(t.Context(), place, "nope"); err == nil || !strings.Contains(err.Error(), `no daemon "nope" has a store there; there are a`) {
		t.Errorf("a name that is not there: %v", err)
	}
}

// A second writer under a name is told who the first is; under another name it
// counts for itself, and who reads sees both.
func oneWriter(t *testing.T, server *postgrestest.Server) {
	url := server.Database(t)
	first, err := begun(Open(t.Context(), url, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	held := (*HeldError)(nil)
	if _, err := begun(Open(t.Context(), url, "a")); !errors.As(err, &held) || !strings.Contains(err.Error(), "process ") || !strings.Contains(err.Error(), "store_name") {
		t.Errorf("a second writer: %v", err)
	}
	second, err := begun(Open(t.Context(), url, "b"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for _, d := range []*sqlstore.Store{first, second} {
		if err := d.Write(t.Context(), one(1)); err != nil {
			t.Fatal(err)
		}
	}
	all, done, err := OpenReadOnly(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var sum int64
	for _, d := range all {
		totals, err := d.Totals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum += totals[slo.Key{Hash: "a", Source: slo.Live}].Good
	}
	if len(all) != 2 || sum != 2 {
		t.Errorf("%d stores have %d", len(all), sum)
	}
}

func recorder(t *testing.T, s history.Store, now time.Time) *history.Recorder {
	t.Helper()
	r, err := history.NewRecorder(t.Context(), s, nil, now, slo.Live)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var counted = slo.Key{Hash: "a", Source: slo.Live}

func count(r *history.Recorder, at time.Time) {
	r.Count(slo.Increment{Key: counted, At: at, Counts: slo.Counts{Good: 1, Valid: 1}})
}

// total is what all daemons of a database have counted, as totals and as cells.
func total(t *testing.T, url string) int64 {
	t.Helper()
	all, done, err := OpenReadOnly(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var sum int64
	for _, d := range all {
		totals, err := d.Totals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sum += totals[counted].Valid
	}
	memory, err := history.LoadUntil(t.Context(), all, begin0.Add(time.Hour), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	now := begin0.Add(time.Hour)
	if kept, _ := memory.Sum(counted, begin0, now, now, nil); kept.Valid != sum {
		t.Errorf("the cells have %d, the totals %d", kept.Valid, sum)
	}
	return sum
}

// Two daemons count into one database, each compacts and redates at will: the
// sum is what both have counted.
func twoDaemons(t *testing.T, server *postgrestest.Server) {
	url := server.Database(t)
	const events = 300
	errs := make(chan error, 2)
	for _, name := range []string{"a", "b"} {
		d, err := begun(Open(t.Context(), url, name))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		r := recorder(t, d, begin0)
		go func() {
			var failed error
			now := begin0
			for range events {
				count(r, now)
				now = now.Add(time.Second)
				failed = errors.Join(failed, r.Flush(t.Context(), now), d.Compact(t.Context(), now))
			}
			errs <- failed
		}()
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if got := total(t, url); got != 2*events {
		t.Errorf("%d of %d", got, 2*events)
	}
}

// through counts while something happens to the server, and says how many writes
// failed. In the end every count is there once.
func through(t *testing.T, url, read string, silence time.Duration, fault func(second int)) (failed int) {
	t.Helper()
	target, err := parse(url)
	if err != nil {
		t.Fatal(err)
	}
	target.silence = silence
	d, err := target.open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r := recorder(t, d, begin0)
	now := begin0
	const seconds = 30
	for second := range seconds {
		fault(second)
		count(r, now)
		now = now.Add(time.Second)
		if err := r.Flush(t.Context(), now); err != nil {
			failed++
		}
	}
	for last := time.Now().Add(20 * time.Second); ; {
		err := r.Flush(t.Context(), now)
		if err == nil {
			break
		}
		if time.Now().After(last) {
			t.Fatalf("it is not written again: %v", err)
		}
	}
	if got := total(t, read); got != seconds {
		t.Errorf("%d of %d, after %d writes that failed", got, seconds, failed)
	}
	return failed
}

// A connection that somebody ends is made anew, with its lock.
func connectionKilled(t *testing.T, server *postgrestest.Server) {
	url := server.Database(t)
	through(t, url, url, silence, func(second int) {
		if second%10 == 5 {
			postgrestest.SQL(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		}
	})
}

// A network that swallows everything, and then another connection: the server
// still has the old one, with its lock, and gives it up.
func noAnswers(t *testing.T, server *postgrestest.Server) {
	direct := server.Database(t)
	var swallow atomic.Bool
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	pass := func(from, to net.Conn) {
		part := make([]byte, 1<<16)
		for {
			n, err := from.Read(part)
			if err != nil {
				if !swallow.Load() {
					to.Close()
				}
				return
			}
			if !swallow.Load() {
				to.Write(part[:n])
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("unix", server.Socket())
			if err != nil {
				client.Close()
				continue
			}
			t.Cleanup(func() { client.Close(); back.Close() })
			go pass(client, back)
			go pass(back, client)
		}
	}()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.RawQuery = listener.Addr().String(), "sslmode=disable"
	if failed := through(t, u.String(), direct, time.Second, func(second int) { swallow.Store(second >= 5 && second < 7) }); failed == 0 {
		t.Error("nothing failed")
	}
}

// A server that is away, or killed with all it does, loses nothing.
func serverKilled(t *testing.T, server *postgrestest.Server) {
	url := server.Database(t)
	if failed := through(t, url, url, silence, func(second int) {
		switch second {
		case 5:
			server.Kill(t)
		case 10:
			server.End(t, "immediate")
		case 20:
			server.Begin(t)
		}
	}); failed == 0 {
		t.Error("nothing failed")
	}
}

// A text that PostgreSQL can't hold stops nothing.
func texts(t *testing.T, server *postgrestest.Server) {
	url := server.Database(t)
	d, err := begun(Open(t.Context(), url, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := one(1)
	for _, group := range []string{"a\x00b", "\xff\xfe", "'; DROP TABLE cells; --", "?$1"} {
		b.Counts = append(b.Counts, slo.Increment{Key: slo.Key{Hash: "g", Source: slo.Live, Group: group}, At: begin0, Counts: slo.Counts{Valid: 1}})
	}
	if err := d.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	totals, err := d.Totals(t.Context())
	if err != nil || len(totals) != 5 || totals[counted].Valid != 1 {
		t.Errorf("%v, %v", totals, err)
	}
}

// Where a store is reads as a URL that names the same database: without who asks, and
// once for all spellings of a host.
func TestPlace(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD"} {
		t.Setenv(name, "") // so that it is put back
		os.Unsetenv(name)
	}
	for store, place := range map[string]string{
		"postgres://u:canary@db/slo?sslmode=disable":              "postgres://db:5432/slo",
		"postgresql://u@DB.Example:6432/SLO":                      "postgres://db.example:6432/SLO",
		"postgres://u@[2001:DB8::1]/slo":                          "postgres://[2001:db8::1]:5432/slo",
		"postgres://u@[::1]:6432/slo":                             "postgres://[::1]:6432/slo",
		"postgres://u@/slo?host=/var/run/postgresql":              "postgres:///slo?host=%2Fvar%2Frun%2Fpostgresql&port=5432",
		"postgres:///slo?user=u&host=%2Fvar%2Frun%2FPG&port=6432": "postgres:///slo?host=%2Fvar%2Frun%2FPG&port=6432",
		"postgres://u@db/a%20b%3Fc":                               "postgres://db:5432/a%20b%3Fc",
	} {
		target, err := parse(store)
		if err != nil {
			t.Errorf("%s: %v", store, err)
			continue
		}
		if got := target.String(); got != place {
			t.Errorf("%s is at %s, want %s", store, got, place)
		}
		again, err := parse(place)
		if err != nil {
			t.Errorf("%s is no URL: %v", place, err)
			continue
		}
		if a, b := again.config, target.config; a.Port != b.Port || a.Database != b.Database || !strings.EqualFold(a.Host, b.Host) {
			t.Errorf("%s names %s %d %s", place, a.Host, a.Port, a.Database)
		}
	}
}

// What is meant as a database and not written as its URL is refused without a word of
// it: taken for a file, its password would be in messages and in the file's name.
func TestOtherFormsOfADatabase(t *testing.T) {
	for _, store := range []string{
		"host=db user=u password=canary dbname=x", "host=db PASSWORD='canary", "postgres:u:canary@h",
		"POSTGRES://u:canary@h/x", " postgres://u:canary@h/x",
	} {
		if !Is(store) {
			t.Errorf("%q is taken for a file", store)
		}
		if err := Check(store); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", store, err)
		}
	}
	for _, file := range []string{"tokenmeter.db", "./postgres.db", "/var/lib/postgres/x.db"} {
		if Is(file) {
			t.Errorf("the file %q is taken for a database", file)
		}
	}
}

// Whatever listens where a database was: an error, and no panic, when it is
// connected, asked, and while it answers.
func TestNoPostgreSQL(t *testing.T) {
	const ok, ready, done = "R\x00\x00\x00\x08\x00\x00\x00\x00", "Z\x00\x00\x00\x05I", "C\x00\x00\x00\x08SET\x00"
	const row = "1\x00\x00\x00\x04t\x00\x00\x00\x0a\x00\x01\x00\x00\x00\x19T\x00\x00\x00\x1a\x00\x01a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00"
	for name, answers := range map[string][]string{
		"connected": {"R\x00\x00\x00\x01"},
		"told":      {"R\x00\x00\x00\x05\x00"},
		"set":       {ok + ready, "C\x00\x00\x00\x00"},
		"asked":     {ok + ready, done + ready, done + ready, "T\x00\x00\x00\x03"},
		"answering": {ok + ready, done + ready, done + ready, row + ready, "2\x00\x00\x00\x04D\x00\x00\x00\x02"},
		"a row":     {ok + ready, done + ready, done + ready, row + ready, "2\x00\x00\x00\x04D\x00\x00\x00\x0a\x00\x01\x7f\xff\xff\xf0"},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				for _, a := range answers {
					if _, err := c.Read(make([]byte, 1<<16)); err != nil {
						break
					}
					io.WriteString(c, a)
				}
				c.Close()
			}
		}()
		if _, _, err := OpenReadOnly(t.Context(), "postgres://u@"+l.Addr().String()+"/db?sslmode=disable", ""); err == nil {
			t.Errorf("%s: no error", name)
		}
		l.Close()
	}
}

// A server that goes on speaking before a connection is ready is left: a message of
// 2 GB, one without an end, messages without an end.
func TestPostgreSQLThatSpeaksTooMuch(t *testing.T) {
	for name, answer := range map[string]struct{ head, more string }{
		"a message":           {"R\x7f\xff\xff\xf0", strings.Repeat("x", 1<<16)},
		"an error's words":    {"E\xff\xff\xff\xff", strings.Repeat("x", 1<<16)},
		"parameters, notices": {"R\x00\x00\x00\x08\x00\x00\x00\x00", strings.Repeat("S\x00\x00\x00\x08a\x00b\x00", 1<<12)},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		sent := make(chan int, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			c.Read(make([]byte, 1<<16))
			n := 0
			for _, err = io.WriteString(c, answer.head); err == nil && n < 256<<20; n += len(answer.more) {
				_, err = io.WriteString(c, answer.more)
			}
			sent <- n
		}()
		_, _, err = OpenReadOnly(t.Context(), "postgres://u@"+l.Addr().String()+"/db?sslmode=disable", "")
		if err == nil || !strings.Contains(err.Error(), "said too much") {
			t.Errorf("%s: %v", name, err)
		}
		if n := <-sent; n > 64<<20 {
			t.Errorf("%s: %d MB were taken", name, n>>20)
		}
		l.Close()
	}
}
