package records

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// OpenFile opens a file of records. One that is packed (.gz, .zst) is unpacked
// into a temporary file, as records are wanted in any order; the name that comes
// back is that of what is in it.
func OpenFile(path string) (in *os.File, name string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, path, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no plain file")
	}
	if err != nil {
		f.Close()
		return nil, path, err
	}
	var unpack func(io.Reader) (io.Reader, error)
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".gz":
		unpack = func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case ".zst":
		unpack = func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) }
	default:
		return f, path, nil
	}
	defer f.Close()
	in, err = unpacked(f, unpack)
	if err != nil {
		err = fmt.Errorf("it can't be unpacked: %w", err)
	}
	return in, strings.TrimSuffix(path, filepath.Ext(path)), err
}

// unpacked writes what a stream holds into a file that goes when it is closed,
// where the system lets an open file be removed.
func unpacked(f io.Reader, unpack func(io.Reader) (io.Reader, error)) (*os.File, error) {
	r, err := unpack(f)
	if err != nil {
		return nil, err
	}
	if z, ok := r.(*zstd.Decoder); ok {
		defer z.Close()
	}
	out, err := os.CreateTemp("", "tokenmeter-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(out.Name()) // Windows keeps it until its folder of temporary files is emptied
	if _, err := io.Copy(out, r); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}
