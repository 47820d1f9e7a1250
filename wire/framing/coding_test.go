package framing

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// flusher is a compressor that can give out what it holds.
type flusher interface {
	io.WriteCloser
	Flush() error
}

var codings = []struct {
	name string
	enc  func(io.Writer) flusher
}{
	{"gzip", func(w io.Writer) flusher { return gzip.NewWriter(w) }},
	{"deflate", func(w io.Writer) flusher { return zlib.NewWriter(w) }},
	{"deflate", func(w io.Writer) flusher { z, _ := flate.NewWriter(w, 9); return z }},
	{"deflate", func(w io.Writer) flusher { z, _ := flate.NewWriter(w, 0); return z }},
	{"deflate", func(w io.Writer) flusher { z, _ := flate.NewWriter(w, flate.HuffmanOnly); return z }},
	{"br", func(w io.Writer) flusher { return brotli.NewWriter(w) }},
	{"zstd", func(w io.Writer) flusher { z, _ := zstd.NewWriter(w); return z }},
}

// decodeSplit feeds data in pieces of the given size.
func decodeSplit(t testing.TB, coding string, data []byte, size int) ([]byte, error) {
	t.Helper()
	d, err := NewDecoder(coding)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	emit := func(p []byte) error { out = append(out, p...); return nil }
	for len(data) > 0 {
		n := min(size, len(data))
		if err := d.Feed(bytes.Clone(data[:n]), emit); err != nil {
			d.Close()
			return out, err
		}
		data = data[n:]
	}
	return out, d.Close()
}

func sampleText(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" w%d\"}}]}\n\n", r.IntN(500))
		if r.IntN(20) == 0 {
			b.WriteString(strings.Repeat("x", r.IntN(2000)))
		}
	}
	return b.Bytes()
}

func TestCodingsDecodeHoweverSplit(t *testing.T) {
	for _, size := range []int{0, 1, 300, 200_000} {
		text := sampleText(size)[:size]
		for i, c := range codings {
			var packed bytes.Buffer
			w := c.enc(&packed)
			w.Write(text)
			w.Close()
			for _, step := range []int{1, 7, 1000, 1 << 20} {
				got, err := decodeSplit(t, c.name, packed.Bytes(), step)
				if err != nil || !bytes.Equal(got, text) {
					t.Errorf("%s (%d), %d bytes in steps of %d: %d bytes, %v", c.name, i, size, step, len(got), err)
				}
			}
		}
	}
}

// What was flushed into a read comes out of that read (case B43).
func TestCodingsHoldNothingBack(t *testing.T) {
	for i, c := range codings {
		var packed bytes.Buffer
		w := c.enc(&packed)
		d, _ := NewDecoder(c.name)
		for n := range 200 {
			want := fmt.Sprintf("data: event %d\n\n", n)
			io.WriteString(w, want)
			w.Flush()
			var got []byte
			if err := d.Feed(packed.Bytes(), func(p []byte) error { got = append(got, p...); return nil }); err != nil {
				t.Fatal(err)
			}
			packed.Reset()
			if string(got) != want {
				t.Fatalf("%s (%d): flush %d gave %q, want %q", c.name, i, n, got, want)
			}
		}
		d.Close()
	}
}

func TestCodingErrors(t *testing.T) {
	text := sampleText(5000)
	for i, c := range codings {
		var packed bytes.Buffer
		w := c.enc(&packed)
		w.Write(text)
		w.Close()
		if _, err := decodeSplit(t, c.name, packed.Bytes()[:packed.Len()-1], 100); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s (%d) cut short: %v", c.name, i, err)
		}
		if _, err := decodeSplit(t, c.name, bytes.Repeat([]byte("\xff\xfenonsense"), 50), 10); err == nil {
			t.Errorf("%s (%d): nonsense was decoded", c.name, i)
		}
	}
	if _, err := NewDecoder("compress"); err == nil {
		t.Error("an unknown coding was accepted")
	}
	for fields, coded := range map[string]bool{"": false, "none": false, "None": false, "UTF-8": false, "identity, none": false, "none, gzip": true, "zipped": true} {
		if Coded([]string{fields}) != coded {
			t.Errorf("%q is coded: %v", fields, !coded)
		}
	}
	if d, err := NewDecoder("identity"); d != nil || err != nil {
		t.Error("identity needs no decoder")
	}
}

func TestGzipMembersHeaderAndPadding(t *testing.T) {
	var packed bytes.Buffer
	for _, part := range []string{"one ", "two"} {
		w := gzip.NewWriter(&packed)
		w.Name, w.Comment, w.Extra = "name", "comment", []byte("extra")
		io.WriteString(w, part)
		w.Close()
	}
	packed.Write(make([]byte, 9))
	for _, step := range []int{1, 3, 1000} {
		got, err := decodeSplit(t, "gzip", packed.Bytes(), step)
		if string(got) != "one two" || err != nil {
			t.Errorf("steps of %d: %q, %v", step, got, err)
		}
	}
}

func TestChainedCodings(t *testing.T) {
	text := sampleText(3000)
	var a, b bytes.Buffer
	w := gzip.NewWriter(&a)
	w.Write(text)
	w.Close()
	z, _ := zstd.NewWriter(&b)
	z.Write(a.Bytes())
	z.Close()
	got, err := decodeSplit(t, "gzip, zstd", b.Bytes(), 17)
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestZstdLeaksNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	var packed bytes.Buffer
	z, _ := zstd.NewWriter(&packed)
	z.Write(sampleText(1000))
	z.Flush()
	cut := bytes.Clone(packed.Bytes())
	z.Close()
	for range 50 {
		decodeSplit(t, "zstd", cut, 10)
		d, _ := NewDecoder("zstd") // never fed
		d.Close()
	}
	if after := runtime.NumGoroutine(); after > before+2 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// A head that names many codings, or one that is not known beside others, costs nothing
// and leaves nothing behind.
func TestManyCodings(t *testing.T) {
	before := runtime.NumGoroutine()
	for codings, ok := range map[string]bool{"gzip, br, zstd, deflate": true, "identity, , gzip, gzip, identity, gzip, gzip": true, "gzip, gzip, gzip, gzip, gzip": false,
		strings.Repeat("br,", 20_000): false, "lzma," + strings.Repeat("br,", 4): false, "br, lzma": false} {
		d, err := NewDecoder(codings)
		if (err == nil) != ok {
			t.Errorf("%.40s: %v", codings, err)
		}
		if d != nil {
			_ = d.Close()
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// A frame says how large a window it wants, and that is taken before anything is decoded
// (RFC 8878, section 3.1.1.1.2): HTTP's limit is 8 MiB (RFC 9659).
func TestZstdWindow(t *testing.T) {
	for exponent, ok := range map[byte]bool{13: true, 14: false, 15: false, 20: false} {
		frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3, 2<<3 | 1, 0, 0}, "ok"...) // one raw block
		got, err := decodeSplit(t, "zstd", frame, 100)
		if (err == nil && string(got) == "ok") != ok {
			t.Errorf("2^%d bytes: %q, %v", 10+exponent, got, err)
		}
	}
}

// Decoders work in virtual time and leave nothing running behind.
func TestCodingsInVirtualTime(t *testing.T) {
	for _, c := range codings {
		synctest.Test(t, func(t *testing.T) {
			var packed bytes.Buffer
			w := c.enc(&packed)
			d, _ := NewDecoder(c.name)
			start := time.Now()
			for i := range 3 {
				time.Sleep(time.Second)
				fmt.Fprintf(w, "data: %d\n\n", i)
				w.Flush()
				got := ""
				if err := d.Feed(packed.Bytes(), func(p []byte) error { got += string(p); return nil }); err != nil {
					t.Fatal(err)
				}
				packed.Reset()
				if want := fmt.Sprintf("data: %d\n\n", i); got != want || time.Since(start) != time.Duration(i+1)*time.Second {
					t.Errorf("%s: %q after %v", c.name, got, time.Since(start))
				}
			}
			d.Close()
			w.Close()
		})
	}
}

// A few bytes that decode to very much are an error before they do, whatever
// codings are around each other.
func TestABombIsNotDecoded(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 2*mostDecoded)
	once := enc.EncodeAll(zeros, nil)
	for coding, data := range map[string][]byte{"zstd": once, "zstd, zstd": enc.EncodeAll(once, nil)} {
		d, err := NewDecoder(coding)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		err = d.Feed(data, func(p []byte) error { total += len(p); return nil })
		var large *TooLargeError
		if !errors.As(err, &large) || total > mostDecoded {
			t.Errorf("%s: %d bytes came of %d, %v", coding, total, len(data), err)
		}
		_ = d.Close()
	}
	// The inner coding is spared, too, what would decode to nothing there: a frame to be skipped.
	d, err := NewDecoder("zstd, zstd")
	if err != nil {
		t.Fatal(err)
	}
	skipped := append(binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, uint32(len(zeros))), zeros...)
	err = d.Feed(enc.EncodeAll(skipped, nil), func([]byte) error { return nil })
	var large *TooLargeError
	if !errors.As(err, &large) {
		t.Errorf("an outer bomb: %v", err)
	}
	_ = d.Close()
}
