package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
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

// What can't be read is told from what can't be opened, and is kept.
func TestDamaged(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.db")
	d, err := Open(good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		b := one(int64(i + 1))
		b.Counts[0].Key.Hash = slo.Hash(strconv.Itoa(i))
		if err := d.Write(t.Context(), b); err != nil {
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
	for name, content := range map[string][]byte{"text": []byte(strings.Repeat("no database\n", 500)), "broken": broken, "cut": data[:len(data)/2]} {
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
