//go:build lean

package records

import (
	"errors"
	"io"
)

// A lean build reads no Parquet.
func openParquet(io.ReaderAt, int64) (rows, error) {
	return nil, errors.New("this build has no Parquet (tag lean); build without the tag")
}
