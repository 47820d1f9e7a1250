package history_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/sqlite"
)

// A life goes on over restarts; a copy in another place, and a store that has
// counted less than at its beginning, begin another, from zero.
func TestLife(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	k := slo.Key{Hash: "h", Source: slo.Live, Group: "m"}
	open := func(place string, valid int64) *history.Life {
		t.Helper()
		l, err := history.OpenLife(t.Context(), db, place, map[slo.Key]slo.Counts{k: {Good: valid / 2, Valid: valid}}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := open("a", 10) // a store of an older version
	if c := first.Counted(k, slo.Counts{Good: 6, Valid: 13}); c != (slo.Counts{Good: 1, Valid: 3}) || first.Shown(k) {
		t.Errorf("the first life has %+v", c)
	}
	first.Show(k)
	if err := first.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := open("a", 20)
	if next.Run() != first.Run() || next.Counted(k, slo.Counts{Good: 10, Valid: 20}) != (slo.Counts{Good: 5, Valid: 10}) || !next.Shown(k) {
		t.Error("after a restart another life began, or what was shown is forgotten")
	}
	for name, other := range map[string]*history.Life{"a copy": open("b", 20), "an older copy": open("b", 4)} {
		if other.Run() == first.Run() || other.Shown(k) {
			t.Errorf("%s goes on with the life", name)
		}
	}
}

// What nobody can read is kept; another life begins, from zero, and Keep says so.
func TestALifeThatCantBeRead(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PutState(t.Context(), history.LifeState, []byte(`{"run": 7`)); err != nil {
		t.Fatal(err)
	}
	k := slo.Key{Hash: "h", Source: slo.Live}
	total := slo.Counts{Good: 5, Valid: 10}
	l, err := history.OpenLife(t.Context(), db, "a", map[slo.Key]slo.Counts{k: total}, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if c := l.Counted(k, total); !c.IsZero() || l.Run() == "" {
		t.Errorf("the new life %q begins with %+v", l.Run(), c)
	}
	if kept, err := db.State(t.Context(), history.LifeState+".damaged-20260302T000000"); kept == nil || err != nil {
		t.Errorf("it is not kept: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	var told []string
	l.Keep(ended, func(err error) { told = append(told, err.Error()) })
	if len(told) != 1 || !strings.Contains(told[0], "damaged-20260302T000000") {
		t.Errorf("it was told %q", told)
	}
}
