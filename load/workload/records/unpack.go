package records

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"tokenmeter/base/limitio"

	"github.com/klauspost/compress/zstd"
)

// OpenFile opens a file of records. One that is packed (.gz, .zst) is unpacked
// into a temporary file, as records are wanted in any order; the name that comes
// back is that of what is in it.
func OpenFile(path string) (in *os.File, name string, err error) {
	f, err := limitio.Open(path)
	if err != nil {
		return nil, path, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = limitio.ErrNotPlain // it can be read once only
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
		in, err = unwrapped(f)
		return in, path, err
	}
	defer f.Close()
	in, err = unpacked(f, unpack, max(leastUnpacked, info.Size()*mostPacked))
	if err != nil {
		return nil, path, fmt.Errorf("it can't be unpacked: %w", err)
	}
	in, err = unwrapped(in)
	return in, strings.TrimSuffix(path, filepath.Ext(path)), err
}

// What a file may unpack to: this, or so many times its size. Texts and traces
// pack to a twentieth or so; what packs to far less is made to fill a disk.
const (
	leastUnpacked = 1 << 30
	mostPacked    = 100
)

// unpacked writes what a stream holds, most bytes at most, into a file that goes
// when it is closed, where the system lets an open file be removed.
func unpacked(f io.Reader, unpack func(io.Reader) (io.Reader, error), most int64) (*os.File, error) {
	r, err := unpack(f)
	if err != nil {
		return nil, err
	}
	if z, ok := r.(*zstd.Decoder); ok {
		defer z.Close()
	}
	return temporary(func(out io.Writer) error {
		n, err := io.Copy(out, io.LimitReader(r, most+1))
		if err == nil && n > most {
			err = fmt.Errorf("it unpacks to more than %d times its size; unpack it yourself if that is meant", mostPacked)
		}
		return err
	})
}

// temporary is a file of what write writes.
func temporary(write func(io.Writer) error) (*os.File, error) {
	out, err := os.CreateTemp("", "tokenmeter-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(out.Name()) // Windows keeps it until its folder of temporary files is emptied
	if err := write(out); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}
