package framing

import (
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// errStarved is what a decoder's source says when it has no bytes right now.
var errStarved = errors.New("no input yet")

// feed is the source of a pull decoder: the bytes of the current read.
type feed struct {
	p     []byte
	ended bool
}

func (f *feed) Read(p []byte) (int, error) {
	if len(f.p) == 0 {
		if f.ended {
			return 0, io.EOF
		}
		return 0, errStarved
	}
	n := copy(p, f.p)
	f.p = f.p[n:]
	return n, nil
}

// brotliDecoder undoes br. The library's reader hands a source's error through
// and goes on from there at the next call, so no goroutine is needed.
type brotliDecoder struct {
	in   feed
	r    io.Reader
	out  []byte
	any  bool
	done bool
}

func newBrotli() *brotliDecoder {
	d := &brotliDecoder{out: make([]byte, 32<<10)}
	d.r = brotliReader(&d.in)
	return d
}

// brotliExcess is how the library reports bytes after the end of the data. It
// also says so when the very last byte came alone, so it is taken as the end.
const brotliExcess = "brotli: excessive input"

func (d *brotliDecoder) Feed(p []byte, emit func([]byte) error) error {
	d.any = d.any || len(p) > 0
	d.in.p = p
	for !d.done {
		n, err := d.r.Read(d.out)
		if n > 0 {
			if err := emit(d.out[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil && n > 0:
		case err == nil, errors.Is(err, errStarved):
			return nil
		case err.Error() == brotliExcess:
			d.done = true
		default:
			return err
		}
	}
	return nil
}

func (d *brotliDecoder) Close() error {
	if !d.any || d.done {
		return nil
	}
	d.in.p, d.in.ended = nil, true
	if _, err := d.r.Read(d.out); err != io.EOF {
		return err
	}
	return nil
}

// maxZstdWindow bounds a decoder's memory. HTTP allows 8 MiB (RFC 9659).
const maxZstdWindow = 32 << 20

// zstdDecoder undoes zstd. The library pulls its input and does not survive a
// source that has nothing, so it runs as a coroutine that is switched to for
// the length of a Feed; Close ends it. A zstd block is decoded when it is
// complete, which is as early as the format allows.
type zstdDecoder struct {
	in   feed
	next func() ([]byte, bool)
	stop func()
	err  error
	any  bool
}

func newZstd() *zstdDecoder {
	d := &zstdDecoder{}
	d.next, d.stop = iter.Pull(d.decode)
	return d
}

// decode yields decoded bytes, and nil whenever it has run out of input.
func (d *zstdDecoder) decode(yield func([]byte) bool) {
	src := &starving{in: &d.in, wait: func() bool { return yield(nil) }}
	r, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		d.err = err
		return
	}
	defer r.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 && !yield(buf[:n]) {
			return
		}
		if err != nil {
			if err != io.EOF {
				d.err = err
			}
			return
		}
	}
}

// starving waits for the next Feed instead of failing.
type starving struct {
	in   *feed
	wait func() bool
}

func (s *starving) Read(p []byte) (int, error) {
	for {
		n, err := s.in.Read(p)
		if err != errStarved {
			return n, err
		}
		if !s.wait() {
			return 0, io.ErrUnexpectedEOF
		}
	}
}

func (d *zstdDecoder) Feed(p []byte, emit func([]byte) error) error {
	d.any = d.any || len(p) > 0
	d.in.p = p
	for {
		out, ok := d.next()
		if !ok {
			return d.err
		}
		if out == nil {
			return nil
		}
		if err := emit(out); err != nil {
			d.any = false // nobody wants the rest
			return err
		}
	}
}

func (d *zstdDecoder) Close() error {
	d.in.ended = true
	for d.any {
		if _, ok := d.next(); !ok {
			break
		}
	}
	d.stop()
	return d.err
}
