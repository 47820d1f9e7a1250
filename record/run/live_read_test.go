//go:build !lean

package run

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The length of a footer is believed by the library before it looks at the file's own:
// four bytes would take four gigabytes, and end the program.
func TestLiveTablesWhoseFooterLies(t *testing.T) {
	for _, says := range []uint32{0xfffffff0, 0x7ffffff0, 0x0ffffff0, 113} {
		data := append([]byte("PAR1"), make([]byte, 100)...)
		data = append(binary.LittleEndian.AppendUint32(data, says), "PAR1"...)
		path := filepath.Join(t.TempDir(), "live-x.parquet")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := ReadLive(path, func(*LiveFigures) error { return nil }); err == nil {
			t.Errorf("a footer of %d bytes was read", says)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("a footer of %d bytes took %d MB", says, took>>20)
		}
	}
}
