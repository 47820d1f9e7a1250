package probe

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// What a folder of probes keeps is read or refused, whatever the files hold: never
// a budget that lets more through, and what is written again is read as it was.
func FuzzFolder(f *testing.F) {
	for _, s := range []string{`{"day":"2026-11-12","usd":0.5,"tokens":900}`, `{}`, `null`, `{"day":"2026-11-12","tokens":-1}`, `{"day":"9999-12-31","usd":1e308}`} {
		f.Add([]byte(s), []byte(`{"t: a of m, 1 in, 2 out, 0 images": {"taken": true, "retry": "2026-11-13T00:00:00Z", "most_in": 7, "most_out": 9}}`))
	}
	f.Add([]byte(`{"day":"2026-11-12"}`), []byte(`{"\u001b": {}}`))
	f.Add([]byte(`{"day":"2026-11-12"}`), []byte(`null`))
	now := time.Date(2026, 11, 12, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, spent, lessons []byte) {
		dir := t.TempDir()
		name := filepath.Join(dir, "spent.json")
		for path, data := range map[string][]byte{name: spent, filepath.Join(dir, lessonsFile): lessons} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		limit := Budget{USD: 1, Tokens: 1000}
		l, err := OpenLedger(name, limit)
		if err != nil {
			return
		}
		before := l.Spent(now)
		if before.USD < 0 || before.Tokens < 0 || before.USD != before.USD {
			t.Fatalf("%+v", before)
		}
		if _, ok, err := l.reserve(now, 0.1, 100); err != nil || ok && (before.Tokens > 900 || before.USD > 0.9) {
			t.Fatalf("%+v lets 100 tokens and $0.1 through: %v", before, err)
		}
		if err := l.learn("new", lesson{Taken: true}); err != nil {
			t.Fatal(err)
		}
		again, err := OpenLedger(name, limit)
		if err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if !reflect.DeepEqual(l.lessons, again.lessons) {
			t.Fatalf("%v, read again %v", l.lessons, again.lessons)
		}
	})
}
