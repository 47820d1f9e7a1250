package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/historytest"
	"tokenmeter/service/slo/history/sqlstore"
	"tokenmeter/service/slo/kept"
	"tokenmeter/service/traffic"
)

func TestConformance(t *testing.T) {
	historytest.Run(t, func(t testing.TB) historytest.Opener {
		path := filepath.Join(t.TempDir(), "a folder with spaces & ?marks#", "history.db")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		return func(t testing.TB) history.Store {
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}

func openAt(path string) (history.Store, error) { return Open(path) }

func TestMain(m *testing.M) { os.Exit(historytest.Main(m, openAt)) }

func TestKilledAtRandomMoments(t *testing.T) {
	historytest.Killed(t, filepath.Join(t.TempDir(), "h.db"), openAt)
}

func TestThreeDaysOfFaultsAndRestarts(t *testing.T) {
	hours := 72
	if testing.Short() {
		hours = 8
	}
	historytest.FaultsAndRestarts(t, hours, filepath.Join(t.TempDir(), "h.db"), openAt)
}

var begin = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func one(seq int64) history.Batch {
	return history.Batch{Writer: "w", Seq: seq, At: begin, Counts: []slo.Increment{{Key: slo.Key{Hash: "a", Source: slo.Live}, At: begin.Add(time.Duration(seq) * time.Second), Counts: slo.Counts{Good: 1, Valid: 1}}}}
}

func TestVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Current(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := d.SQL.Exec("PRAGMA user_version = 1000"); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if _, err := Open(path); !errors.Is(err, history.ErrNewer) {
		t.Errorf("a newer store: %v", err)
	}
	if _, err := OpenReadOnly(path); !errors.Is(err, history.ErrNewer) {
		t.Errorf("a newer store: %v", err)
	}
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec("PRAGMA user_version = -1")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(string) (*sqlstore.Store, error){"to write": Open, "to read": OpenReadOnly} {
		if _, err := open(path); err == nil || !strings.Contains(err.Error(), "-1") {
			t.Errorf("a store of no version, %s: %v", name, err)
		}
	}
	other := filepath.Join(t.TempDir(), "text.db")
	os.WriteFile(other, []byte(strings.Repeat("this is no database\n", 100)), 0o644)
	if _, err := Open(other); err == nil || !strings.Contains(err.Error(), "text.db") {
		t.Errorf("a text file: %v", err)
	}
}

// A migration that fails leaves the store as it was.
func TestMigrationsAreAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	broken := append(slices.Clone(sqlstore.Migrations), "CREATE TABLE extra (x); INSERT INTO nothing VALUES (1)")
	if d.Migrate(t.Context(), broken) == nil {
		t.Fatal("a broken migration passed")
	}
	var name string
	if err := d.SQL.QueryRow("SELECT name FROM sqlite_master WHERE name = 'extra'").Scan(&name); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("half a migration is there: %v", err)
	}
	if err := d.Current(t.Context()); err != nil {
		t.Error(err)
	}
}

// Somebody reads while the daemon writes.
func TestReadOnlyBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i := range 20 {
		if err := d.Write(t.Context(), one(int64(i+1))); err != nil {
			t.Fatal(err)
		}
		r, err := OpenReadOnly(path)
		if err != nil {
			t.Fatal(err)
		}
		totals, err := r.Totals(t.Context())
		if got := totals[slo.Key{Hash: "a", Source: slo.Live}].Good; got != int64(i+1) || err != nil {
			t.Fatalf("the reader sees %d of %d: %v", got, i+1, err)
		}
		if r.Write(t.Context(), one(1000)) == nil {
			t.Fatal("a reader can write")
		}
		r.Close()
	}
	if _, err := OpenReadOnly(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkWrite100Objectives(b *testing.B) {
	d, err := Open(filepath.Join(b.TempDir(), "h.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for i := range b.N {
		batch := history.Batch{Writer: "w", Seq: int64(i + 1), At: begin}
		for o := range 100 {
			batch.Counts = append(batch.Counts, slo.Increment{Key: slo.Key{Hash: traffic.Hash(string(rune('a' + o))), Source: slo.Live}, At: begin.Add(time.Duration(i) * time.Second), Counts: slo.Counts{Good: 1, Valid: 1}})
		}
		if err := d.Write(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

// SQLite has no sums of its pages: a flipped bit in a row's tier is an error, no panic.
func TestRowsOfNoTier(t *testing.T) {
	for _, tier := range []int{-1, 64} {
		path := filepath.Join(t.TempDir(), "h.db")
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		err = s.Write(t.Context(), history.Batch{Writer: "w", Seq: 1, At: now, Counts: []slo.Increment{{Key: slo.Key{Hash: "h", Source: slo.Live}, At: now, Counts: slo.Counts{Good: 1, Valid: 1}}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.SQL.Exec("UPDATE cells SET tier = ?", tier); err != nil {
			t.Fatal(err)
		}
		if _, err := history.Load(t.Context(), s, now); !Damaged(err) {
			t.Errorf("tier %d: %v", tier, err)
		}
		s.Close()
	}
}

// A sketch that nobody can read stops neither what is written nor what is compacted:
// it is set aside, told, and all others go on.
func TestSketchesThatCantBeRead(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begin := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	seq := int64(0)
	write := func(at time.Time, values ...float64) error {
		sk := &stat.Sketch{}
		for _, v := range values {
			sk.Add(v)
		}
		seq++
		return s.Write(t.Context(), history.Batch{Writer: "w", Seq: seq, At: at, Sketches: []history.Sketch{{Name: "ttft", At: at, Sketch: sk}}})
	}
	damage := func(data string, at time.Time) {
		t.Helper()
		if _, err := s.SQL.Exec("UPDATE sketches SET data = "+data+" WHERE name = 'ttft' AND at = ?", at.Unix()); err != nil {
			t.Fatal(err)
		}
	}
	n := func(from, to time.Time) int64 {
		t.Helper()
		got, err := s.Sketch(t.Context(), "ttft", from, to)
		if err != nil {
			t.Fatal(err)
		}
		return int64(got.Len())
	}
	told := func(want int) {
		t.Helper()
		words := s.Words()
		for _, err := range words {
			if damaged := (*kept.Damaged)(nil); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "the sketch ttft of 2026-03-02T") {
				t.Error(err)
			}
		}
		if len(words) != want {
			t.Errorf("%d words, want %d: %v", len(words), want, words)
		}
	}
	for _, data := range []string{"x'ff00'", "x''", "zeroblob(50000000)"} { // the current minute, three times over
		if err := write(begin, 1, 2); err != nil {
			t.Fatal(err)
		}
		damage(data, begin)
	}
	if err := write(begin, 1, 2, 3); err != nil {
		t.Fatal(err)
	}
	told(3)
	if got := n(begin, begin.Add(time.Minute)); got != 3 {
		t.Errorf("%d values, want the 3 after the damage", got)
	}
	for minute := 1; minute < 10; minute++ {
		if err := write(begin.Add(time.Duration(minute)*time.Minute), 5); err != nil {
			t.Fatal(err)
		}
	}
	damage("x'01'", begin.Add(3*time.Minute))
	for _, later := range []time.Duration{26 * time.Hour, 9 * 24 * time.Hour} {
		if err := s.Compact(t.Context(), begin.Add(later)); err != nil {
			t.Fatal(err)
		}
	}
	told(1)
	if got := n(begin, begin.Add(time.Hour)); got != 3+8 {
		t.Errorf("%d values, want 11: all but those of one minute", got)
	}
	var rows int
	if err := s.SQL.QueryRow("SELECT count(*) FROM sketches WHERE tier < 2").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows stay in tiers whose time is over, %v", rows, err)
	}
	if err := s.Compact(t.Context(), begin.Add(500*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if names, err := s.SketchNames(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("%q outlive their time, %v", names, err)
	}
}
