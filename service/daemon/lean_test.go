//go:build lean

package daemon

import (
	"strings"
	"testing"
)

// A build without Parquet refuses rows at the start, not at each file.
func TestRowsNeedParquet(t *testing.T) {
	_, err := Parse("t.yaml", []byte(small+"rows: {folder: r}\n"), noEnv)
	if err == nil || !strings.Contains(err.Error(), "t.yaml:4:") || !strings.Contains(err.Error(), "no Parquet") {
		t.Error(err)
	}
}
