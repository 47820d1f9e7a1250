package run

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tokenmeter/base/limitio"
	"tokenmeter/base/pattern"
	"tokenmeter/base/printable"
)

// A finished folder proves itself: run.json holds a sum of its own content and
// one of the table beside it, and the table one of itself, for when it has come
// away from its folder. CRC-32C finds every single flipped bit and every burst
// of up to 32 of them. The journal has a sum in each of its records.

const sumForm = "crc32c:%08x"

// sumOf is the sum of all that r gives.
func sumOf(r io.Reader) (string, error) {
	h := crc32.New(castagnoli)
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return fmt.Sprintf(sumForm, h.Sum32()), nil
}

// seal sets the checksum of the content as it is now.
func (r *Run) seal() error {
	r.Checksum = ""
	sum, err := Seal(r)
	r.Checksum = sum
	return err
}

// Seal is the sum of v as JSON, which does not depend on how the file will be spaced. v
// writes it as its last field, "checksum", which is left out as long as it is empty.
func Seal(v any) (sum string, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(sumForm, crc32.Checksum(printable.JSON(data), castagnoli)), nil
}

// sealed is the sum at the end of a compact file. Its parts are looked for
// each alone as well, so that a flipped bit in one of them does not make the
// file look like an older one, which had none.
var (
	sealed    = pattern.Lazy(`,"checksum":"(crc32c:[0-9a-f]{8})"\}$`)
	sealKey   = []byte(`"checksum":`)
	sealValue = pattern.Lazy(`"crc32c:[0-9a-f]{8}"\}$`)
)

// Intact reports whether the content of a file with a seal is as it was written; one
// without a sum is taken as it is.
func Intact(data []byte) bool {
	var compact bytes.Buffer
	if json.Compact(&compact, data) != nil {
		return false
	}
	text := compact.Bytes()
	at := sealed().FindSubmatchIndex(text)
	if at == nil {
		return !bytes.Contains(text, sealKey) && !sealValue().Match(text)
	}
	h := crc32.New(castagnoli)
	h.Write(text[:at[0]])
	h.Write([]byte("}"))
	return fmt.Sprintf(sumForm, h.Sum32()) == string(text[at[2]:at[3]])
}

// verify compares the table, and what the server told of itself, with the sums that
// the manifest has of them; a table without one with the sum that it has of itself. A
// file that is not there may have been left out by whoever copied the folder: it is
// said, and without its records nobody knows what the run was.
func (f *Folder) verify() error {
	for _, name := range []string{tableFile, serverFile} {
		want, by := f.run.Files[name], manifestFile
		if name == tableFile && f.Table() == "" {
			if want != "" && f.count == 0 {
				f.damage("%s is missing, and with it every request; copy it again from where it was measured", name)
			}
			continue
		}
		if name != tableFile && want == "" {
			continue
		}
		got, err := f.sum(name, func(file *os.File) (got string, err error) {
			if want != "" {
				return sumOf(file)
			}
			by = "its footer"
			want, got, err = ownSum(file)
			return got, err
		})
		if errors.Is(err, fs.ErrNotExist) {
			f.note("%s is missing, which %s tells of; copy it again from where it was measured", name, manifestFile)
			continue
		}
		if err != nil {
			return err
		}
		if got != want {
			f.damage("%s is not as it was written (its sum is %s, %s has %s); copy it again from where it was measured", name, got, by, want)
		}
	}
	return nil
}

func (f *Folder) sum(name string, of func(*os.File) (string, error)) (string, error) {
	file, err := limitio.Open(filepath.Join(f.dir, name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	return of(file)
}

// A table has the sum of itself in its metadata: of all its bytes, with zeros
// where the sum stands.
const (
	sumKey = "tokenmeter.sum"
	noSum  = "crc32c:00000000"
	digits = 8 // at its end
)

// sealTable puts the sum of a table that was written with noSum in its place,
// and returns the sum of the whole file.
func sealTable(file *os.File) (string, error) {
	at, size, err := findSum(file)
	if err != nil {
		return "", err
	}
	if at < 0 {
		return "", errors.New("the table has no place for its sum")
	}
	sum, err := sumOf(io.NewSectionReader(file, 0, size))
	if err != nil {
		return "", err
	}
	if _, err := file.WriteAt([]byte(sum), at); err != nil {
		return "", err
	}
	return sumOf(io.NewSectionReader(file, 0, size))
}

// ownSum returns the sum that a table has of itself and the one that it should
// have; two equal ones where it has none.
func ownSum(file *os.File) (want, got string, err error) {
	at, size, err := findSum(file)
	if at < 0 || err != nil {
		return "", "", err
	}
	is := make([]byte, len(noSum))
	if _, err := file.ReadAt(is, at); err != nil {
		return "", "", err
	}
	from := at + int64(len(noSum)-digits)
	got, err = sumOf(io.MultiReader(
		io.NewSectionReader(file, 0, from),
		bytes.NewReader([]byte(noSum[len(noSum)-digits:])),
		io.NewSectionReader(file, from+digits, size-from-digits)))
	return string(is), got, err
}

// maxFooter bounds the end of a table in which its sum is looked for.
const maxFooter = 64 << 20

// findSum returns where in a table the value of its sum begins, and the size of
// the table; -1: it has none. Key and value are looked for each alone, as in
// intact. The last one is meant: those before may be texts of the records.
func findSum(file *os.File) (at, size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, 0, err
	}
	size = info.Size()
	tail := make([]byte, min(size, maxFooter))
	if len(tail) < 8 {
		return -1, size, nil
	}
	if _, err := file.ReadAt(tail[len(tail)-8:], size-8); err != nil {
		return 0, 0, err
	}
	if footer := int64(binary.LittleEndian.Uint32(tail[len(tail)-8:])) + 8; footer < int64(len(tail)) {
		tail = tail[:footer]
	}
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil {
		return 0, 0, err
	}
	i := bytes.LastIndex(tail, []byte(sumKey))
	if i >= 0 {
		i += len(sumKey) + 2 // the value's own type and length
	} else if i = bytes.LastIndex(tail, []byte(noSum[:len(noSum)-digits])); i < 0 {
		return -1, size, nil
	}
	if i+len(noSum) > len(tail) {
		return -1, size, nil
	}
	return size - int64(len(tail)) + int64(i), size, nil
}

// damage notes what makes nobody know any more whether the run is valid.
func (f *Folder) damage(format string, args ...any) {
	f.note(format, args...)
	if f.damaged == "" {
		f.damaged = "The folder is damaged: " + f.notes[len(f.notes)-1] + "."
	}
}
