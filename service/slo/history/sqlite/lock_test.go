package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/traffic"
)

// A second writer is told who the first is; one that is gone holds nothing.
func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var held *HeldError
	if _, err := Open(path); !errors.As(err, &held) || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())+" on ") || Damaged(err) {
		t.Errorf("a second writer: %v", err)
	}
	reader, err := OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	first.Close()
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A link leads to the same store (sqlite.org/howtocorrupt.html, "Multiple links to the same
// file"), also one that leads to nothing yet.
func TestOneWriterThroughLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	path, link := filepath.Join(dir, "h.db"), filepath.Join(dir, "x", "h.db")
	if err := os.Symlink(filepath.Join("..", "h.db"), link); err != nil {
		t.Skip("no links here: ", err)
	}
	for _, names := range [][2]string{{link, path}, {path, link}} {
		first, err := Open(names[0])
		if err != nil {
			t.Fatal(err)
		}
		var held *HeldError
		if _, err := Open(names[1]); !errors.As(err, &held) {
			t.Errorf("a second writer: %v", err)
		}
		first.Close()
	}
	if _, err := os.Stat(link + lockEnd); !os.IsNotExist(err) {
		t.Errorf("the link has a lock of its own: %v", err)
	}
}

// What SQLite writes into a file that was unlinked or renamed while in use is lost
// (howtocorrupt.html, section 2.4): writes fail until it is back.
func TestFileIsTakenAway(t *testing.T) {
	for _, how := range []string{"removed", "renamed", "replaced"} {
		path := filepath.Join(t.TempDir(), "h.db")
		d, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Write(t.Context(), one(1)); err != nil {
			t.Fatal(err)
		}
		if how == "removed" {
			err = os.Remove(path)
		} else {
			err = os.Rename(path, path+".old")
		}
		if err != nil {
			d.Close()
			t.Skip("the system keeps what is open: ", err)
		}
		if how == "replaced" {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Write(t.Context(), one(2)); err == nil || !strings.Contains(err.Error(), "is not the file that was opened") || Damaged(err) {
			t.Errorf("%s: %v", how, err)
		}
		if err := d.PutState(t.Context(), "x", []byte("1")); err == nil {
			t.Errorf("%s: a document was kept nowhere", how)
		}
		if how == "renamed" {
			if err := os.Rename(path+".old", path); err != nil {
				t.Fatal(err)
			}
			if err := d.Write(t.Context(), one(2)); err != nil {
				t.Errorf("it is back: %v", err)
			}
		}
		d.Close()
	}
}

// What can't be read is told from what can't be opened, and is kept.
func TestDamaged(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.db")
	d, err := Open(good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		b := one(int64(i + 1))
		b.Counts[0].Key.Hash = traffic.Hash(strconv.Itoa(i))
		if err := d.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"slo.alerts", "slo.since", history.LifeState} {
		if err := d.PutState(t.Context(), name, []byte(`[]`)); err != nil {
			t.Fatal(err)
		}
	}
	d.Close()
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	broken := append([]byte{}, data...)
	for i := 4096; i < len(broken); i++ {
		broken[i] ^= 0xa5
	}
	for name, content := range map[string][]byte{
		"broken": broken, "cut": data[:len(data)/2], "no head": append(make([]byte, 4096), data[4096:]...)} {
		path := filepath.Join(t.TempDir(), "h.db")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		begin := func() error {
			d, err := Open(path)
			if err != nil {
				return err
			}
			defer d.Close()
			_, err = history.Load(t.Context(), d, begin)
			return err
		}
		if err := begin(); !Damaged(err) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		aside, err := SetAside(path, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := os.ReadFile(aside); err != nil || len(kept) != len(content) {
			t.Errorf("%s: %d of %d bytes are kept: %v", name, len(kept), len(content), err)
		}
		if err := begin(); err != nil {
			t.Errorf("%s: after it was set aside: %v", name, err)
		}
	}
}

// What is no store is not touched: not renamed, not changed, and nothing is made
// beside it.
func TestForeign(t *testing.T) {
	database := filepath.Join(t.TempDir(), "other.db")
	other, err := sql.Open("sqlite", database)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec("CREATE TABLE series (id INTEGER, title TEXT); CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('a'); PRAGMA user_version = 1"); err != nil {
		t.Fatal(err)
	}
	other.Close()
	theirs, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	cutOff := append([]byte{}, theirs...)
	for i := 100; i < len(cutOff); i++ {
		cutOff[i] ^= 0xa5
	}
	for name, content := range map[string][]byte{
		"text": []byte(strings.Repeat("no database\n", 500)), "yaml": []byte("slo: {store: slo.alerts}\n"), "zeros": make([]byte, 8192),
		"another's": theirs, "another's, damaged": cutOff, "short": []byte("SQLite"), "image": append([]byte("\x89PNG\r\n\x1a\n\x00"), theirs[:50]...),
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "h.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if err == nil {
			t.Errorf("%s was opened", name)
			continue
		}
		var foreign *ForeignError
		if !errors.As(err, &foreign) && !Damaged(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := SetAside(path, time.Now()); !errors.As(err, &foreign) {
			t.Errorf("%s was set aside: %v", name, err)
		}
		if _, err := OpenReadOnly(path); err == nil {
			t.Errorf("%s was read", name)
		}
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, content) {
			t.Errorf("%s was changed: %v", name, err)
		}
		if all, _ := os.ReadDir(dir); len(all) != 1 {
			t.Errorf("%s: there are %v", name, all)
		}
	}
	empty := filepath.Join(t.TempDir(), "h.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(empty)
	if err != nil {
		t.Fatalf("an empty file: %v", err)
	}
	d.Close()
}

// A store that can't be written, or a statement that fails, is no damage; when
// it can be written again nothing is lost and nothing is there twice.
func TestFaultsAreNoDamage(t *testing.T) {
	for name, fault := range map[string]struct{ begin, end string }{
		"full":      {"PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"},
		"read-only": {"PRAGMA query_only = 1", "PRAGMA query_only = 0"},
	} {
		d, err := Open(filepath.Join(t.TempDir(), "h.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		r, err := history.NewRecorder(t.Context(), d, nil, begin, slo.Live)
		if err != nil {
			t.Fatal(err)
		}
		now, failed := begin, 0
		for second := range 600 {
			switch second {
			case 200:
				if _, err := d.SQL.Exec(fault.begin); err != nil {
					t.Fatal(err)
				}
			case 400:
				if _, err := d.SQL.Exec(fault.end); err != nil {
					t.Fatal(err)
				}
			}
			r.Count(slo.Increment{Key: slo.Key{Hash: strconv.Itoa(second % 300), Source: slo.Live}, At: now, Counts: slo.Counts{Valid: 1}})
			now = now.Add(time.Second)
			if err := r.Flush(t.Context(), now); err != nil {
				failed++
				if Damaged(err) {
					t.Fatalf("%s is damage: %v", name, err)
				}
			}
		}
		if failed == 0 {
			t.Errorf("%s: nothing failed", name)
		}
		totals, err := d.Totals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, c := range totals {
			sum += c.Valid
		}
		if sum != 600 {
			t.Errorf("%s: %d of 600 counts are there, after %d writes that failed", name, sum, failed)
		}
		if _, err := d.SQL.Exec("SELECT * FROM nothing"); err == nil || Damaged(err) {
			t.Errorf("a statement that fails: %v", err)
		}
	}
	if os.Getuid() != 0 {
		path := filepath.Join(t.TempDir(), "h.db")
		if err := os.WriteFile(path, nil, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || Damaged(err) {
			t.Errorf("a file without rights: %v", err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no", "such", "folder", "h.db")); err == nil || Damaged(err) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
