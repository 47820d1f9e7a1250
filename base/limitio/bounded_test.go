package limitio

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// endless is a file that has no end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	e.read += len(p)
	return len(p), nil
}

func TestNoEnd(t *testing.T) {
	e := new(endless)
	if _, err := All(e, 1<<20); !errors.Is(err, ErrTooLong) || err.Error() != "more than 1 MiB" || e.read > 4<<20 {
		t.Errorf("%v after %d bytes", err, e.read)
	}
	e = new(endless)
	if _, err := Line(bufio.NewReader(e), 3000); !errors.Is(err, ErrTooLong) || err.Error() != "more than 3000 bytes" || e.read > 1<<16 {
		t.Errorf("%v after %d bytes", err, e.read)
	}
}

// Too much takes the memory of what may be read at the most, with what it grew from, and
// none where it can be read twice.
func TestTooMuchTakesLittleMemory(t *testing.T) {
	const most = 16 << 20
	for name, c := range map[string]struct {
		read func() ([]byte, error)
		most uint64
	}{
		"once":  {func() ([]byte, error) { return All(new(endless), most) }, 2*most + 64<<10},
		"twice": {func() ([]byte, error) { return Twice(func() (io.Reader, error) { return new(endless), nil }, most) }, 64 << 10},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.read()
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrTooLong) || taken > c.most {
			t.Errorf("%s: %v, and took %d bytes of at most %d", name, err, taken, c.most)
		}
	}
}

func TestTwice(t *testing.T) {
	text := strings.Repeat("ab", 1000)
	for name, c := range map[string]struct {
		r    io.Reader
		most int64
		fine bool
	}{
		"as much as may be": {iotest.OneByteReader(strings.NewReader(text)), 2000, true},
		"one more":          {strings.NewReader(text), 1999, false},
		"broken off":        {io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)), 3000, false},
	} {
		n := 0
		data, err := Twice(func() (io.Reader, error) {
			if n++; n == 1 {
				return c.r, nil
			}
			return strings.NewReader(text), nil
		}, c.most)
		if fine := err == nil && string(data) == text; fine != c.fine {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	if _, err := Twice(func() (io.Reader, error) { return nil, io.ErrNoProgress }, 1); err != io.ErrNoProgress {
		t.Error(err)
	}
}

// What a file says of its size is enough to refuse it.
func TestLargeFilesAreNotBegun(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip(err)
	}
	if _, err := All(f, 1<<30); !errors.Is(err, ErrTooLong) {
		t.Errorf("got %v", err)
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 0 {
		t.Errorf("%d bytes were read, %v", at, err)
	}
}

func TestWithinBounds(t *testing.T) {
	const text = "one\n" + "two, which is longer than the buffer\n" + "three"
	data, err := All(strings.NewReader(text), int64(len(text)))
	if err != nil || string(data) != text {
		t.Errorf("%q, %v", data, err)
	}
	r := bufio.NewReaderSize(strings.NewReader(text), 16)
	for _, want := range strings.SplitAfter(text, "\n") {
		line, err := Line(r, len(want))
		if string(line) != want || err != nil && err != io.EOF {
			t.Errorf("%q, %v; want %q", line, err, want)
		}
	}
	if line, err := Line(r, 10); len(line) != 0 || err != io.EOF {
		t.Errorf("%q, %v at the end", line, err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := File(path, 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := File(path, 4); err == nil || err.Error() != path+": more than 4 bytes" {
		t.Errorf("got %v", err)
	}
	if _, err := File(path+"x", 4); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
