package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// No bit of the file can flip unseen and give the day's budget anew.
func TestDamagedLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spent.json")
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	l, err := OpenLedger(path, Budget{Tokens: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	if _, taken, err := l.reserve(now, 0, 19_999); err != nil || !taken {
		t.Fatal(taken, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opens := func(content string) bool {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLedger(path, Budget{Tokens: 20_000})
		return err == nil && l.Spent(now).Tokens == 19_999
	}
	if !opens(string(data)) || !opens(`{"day":"2026-11-30","usd":0,"tokens":19999}`) { // of before the checksum
		t.Error("what was written is refused")
	}
	for i := range data {
		for bit := range 8 {
			altered := []byte(string(data))
			if altered[i] ^= 1 << bit; strings.TrimSpace(string(altered)) == strings.TrimSpace(string(data)) {
				continue
			}
			if err := os.WriteFile(path, altered, 0o600); err != nil {
				t.Fatal(err)
			}
			if l, err := OpenLedger(path, Budget{Tokens: 20_000}); err == nil && l.Spent(now).Tokens != 19_999 {
				t.Errorf("bit %d of byte %d begins the budget anew: %s", bit, i, altered)
			}
		}
	}
	for _, content := range []string{`{"day":"2026-11-30","usd":0,"tokenr":19999}`, `{"day":"2026-11-30","tokens":5}`, `{"day":"2026-11-30","usd":0}`, `{}`, `null`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenLedger(path, Budget{Tokens: 20_000}); err == nil {
			t.Errorf("%s is taken", content)
		}
	}
}

// A day that a clock began while it was ahead keeps the budget, and whoever wonders why
// nothing is asked is told. Clocks that differ by the day they are in are no such case.
func TestBudgetOfADayToCome(t *testing.T) {
	today := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		began time.Time
		told  bool
	}{
		{"today", today, false},
		{"tomorrow", today.Add(24 * time.Hour), false},
		{"years ahead", today.AddDate(3, 0, 0), true},
	} {
		l, err := OpenLedger(filepath.Join(t.TempDir(), "spent.json"), Budget{Tokens: 100})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := l.reserve(c.began, 0, 60); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, ok, _ := l.reserve(today, 0, 60); ok {
			t.Errorf("%s: a clock that was put back got a second budget", c.name)
		}
		if got := l.DayToCome(today); (got != "") != c.told || c.told && !strings.Contains(got, "2029-03-01") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
