package framing

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
)

// A pulled decoder feeds a library's decompressor with reads as they come.
//
// Libraries pull: they call Read on their source and wait. Here bytes are
// pushed, and what they decode to must come out before the next read, since
// that is when it arrived. So the library runs as a coroutine (iter.Pull): its
// source, when it has no bytes, switches back to Feed instead of waiting, and
// the next Feed switches to it again. No goroutine runs beside the caller, and
// no channel is between them.
//
// How early something comes out is the library's doing. DEFLATE data comes out
// at each flush of the sender (RFC 1951, §3.2.4: the empty stored block that
// zlib's Z_SYNC_FLUSH and Z_FULL_FLUSH write), at the end of the data, and
// every 32 KiB; br and zstd at the end of each block.
type pulled struct {
	open func(source io.Reader) (io.Reader, error)
	in   []byte // of the current Feed; owned by the caller
	fed  bool   // a byte has come
	over bool   // no more will
	quit bool   // nobody wants the rest
	next func() ([]byte, bool)
	stop func()
	err  error
}

func newPulled(open func(io.Reader) (io.Reader, error)) *pulled {
	d := &pulled{open: open}
	d.next, d.stop = iter.Pull(d.decode)
	return d
}

// decode yields decoded bytes, and nil whenever it has run out of input.
func (d *pulled) decode(yield func([]byte) bool) {
	r, err := d.open(&source{d, yield})
	if err != nil {
		d.err = cutShort(err)
		return
	}
	if c, ok := r.(interface{ Close() }); ok {
		defer c.Close()
	}
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

// cutShort is the error of a head that was not whole: data that ends there is cut.
func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// source is what the library reads.
type source struct {
	d     *pulled
	yield func([]byte) bool
}

func (s *source) Read(p []byte) (int, error) {
	for len(s.d.in) == 0 {
		if s.d.over {
			return 0, io.EOF
		}
		if !s.yield(nil) {
			return 0, io.ErrUnexpectedEOF
		}
	}
	n := copy(p, s.d.in)
	s.d.in = s.d.in[n:]
	return n, nil
}

func (d *pulled) Feed(p []byte, emit func([]byte) error) error {
	d.fed = d.fed || len(p) > 0
	d.in = p
	for {
		out, ok := d.next()
		if !ok {
			return d.err
		}
		if out == nil {
			return nil
		}
		if err := emit(out); err != nil {
			d.quit = true
			return err
		}
	}
}

func (d *pulled) Close() error {
	d.over = true
	for d.fed && !d.quit {
		if _, ok := d.next(); !ok {
			break
		}
	}
	d.stop()
	return d.err
}

// maxZstdWindow bounds a decoder's memory, which is taken before anything is decoded:
// as much as HTTP allows (RFC 9659).
const maxZstdWindow = 8 << 20

func openZstd(in io.Reader) (io.Reader, error) {
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
}

func openGzip(in io.Reader) (io.Reader, error) {
	b := bufio.NewReader(in)
	r, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	return &members{in: b, member: r}, nil
}

// members reads gzip members one after another (RFC 1952, §2.2). The library
// can do so too, but looks for the next member's head before it gives out the
// end of this one.
type members struct {
	in     *bufio.Reader
	member *gzip.Reader
	ended  bool // the member has
}

func (m *members) Read(p []byte) (int, error) {
	for {
		if m.ended {
			if head, err := m.in.Peek(1); err != nil || head[0] != 0x1f {
				return 0, io.EOF // some servers pad what they send
			}
			if err := m.member.Reset(m.in); err != nil {
				return 0, err
			}
			m.member.Multistream(false)
			m.ended = false
		}
		n, err := m.member.Read(p)
		if err == io.EOF {
			m.ended = true
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// openDeflate undoes the coding called deflate: zlib data by the standard
// (RFC 1950), bare DEFLATE data from the many servers that misread it.
func openDeflate(in io.Reader) (io.Reader, error) {
	b := bufio.NewReader(in)
	head, err := b.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&15 == 8 && head[0]>>4 <= 7 && binary.BigEndian.Uint16(head)%31 == 0 && head[1]&0x20 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}
