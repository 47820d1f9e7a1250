package records

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A small file that unpacks to a full disk is refused; one that packs as texts
// do, or better, is not.
func TestUnpackIsBounded(t *testing.T) {
	pack := func(size int) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), "f.gz"))
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		z.Write(make([]byte, size))
		z.Close()
		f.Seek(0, 0)
		return f
	}
	for _, c := range []struct {
		most int64
		says string
	}{{1 << 20, ""}, {1<<20 - 1, "it unpacks to more than"}} {
		in := pack(1 << 20)
		out, err := unpacked(in, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }, c.most)
		in.Close()
		if c.says == "" {
			if err != nil {
				t.Errorf("%d: %v", c.most, err)
				continue
			}
			out.Close()
		} else if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d: %v", c.most, err)
		}
	}
}
