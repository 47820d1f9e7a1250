package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tokenmeter/base/limitio"
	"tokenmeter/load/sweep/result"
)

// A sweep.json without an end, here a sparse file, does not fill the memory.
func TestOpenIsBounded(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, result.File))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip(err)
	}
	f.Close()
	if _, err := Open(dir); !errors.Is(err, limitio.ErrTooLong) {
		t.Errorf("got %v", err)
	}
}
