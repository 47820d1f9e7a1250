//go:build !lean

package run

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"tokenmeter/base/limitio"
)

// ReadLive reads the figures of a table of live requests, in the order in which
// they were written. It ends with the first error that yield returns.
func ReadLive(path string, yield func(*LiveFigures) error) (err error) {
	f, err := limitio.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	defer func() { // the library panics on some damaged files
		if p := recover(); p != nil {
			err = fmt.Errorf("%s is damaged: %v", path, p)
		}
	}()
	table, err := openLive(f)
	if err != nil {
		return fmt.Errorf("%s is no table of live requests: %w", path, err)
	}
	defer table.Close()
	rows := make([]LiveFigures, 256)
	for {
		clear(rows)
		n, err := table.Read(rows)
		for i := range rows[:n] {
			if err := yield(&rows[i]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s is damaged: %w", path, err)
		}
	}
}

func openLive(f *os.File) (*parquet.GenericReader[LiveFigures], error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := OpenParquet(f, info.Size())
	if err != nil {
		return nil, err
	}
	if v, ok := file.Lookup(liveKey); !ok || v != liveVersion {
		return nil, errors.New("tokenmeter serve (rows:) did not write it")
	}
	return parquet.NewGenericReader[LiveFigures](file), nil
}
