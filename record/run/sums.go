package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"regexp"

	"tokenmeter/base/limitio"
	"tokenmeter/base/printable"
)

// A finished folder proves itself: run.json holds a sum of its own content and
// one of the table beside it. CRC-32C finds every single flipped bit and every
// burst of up to 32 of them. The journal has a sum in each of its records.

const sumForm = "crc32c:%08x"

// sumOf is the sum of all that r gives.
func sumOf(r io.Reader) (string, error) {
	h := crc32.New(castagnoli)
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return fmt.Sprintf(sumForm, h.Sum32()), nil
}

// seal sets the checksum of the content as it is now, which does not depend on
// how the file will be spaced.
func (r *Run) seal() error {
	r.Checksum = ""
	data, err := json.Marshal(r)
	if err == nil {
		r.Checksum = fmt.Sprintf(sumForm, crc32.Checksum(printable.JSON(data), castagnoli))
	}
	return err
}

// sealed is the sum at the end of a compact run.json. Its parts are looked for
// each alone as well, so that a flipped bit in one of them does not make the
// file look like an older one, which had none.
var (
	sealed    = regexp.MustCompile(`,"checksum":"(crc32c:[0-9a-f]{8})"\}$`)
	sealKey   = []byte(`"checksum":`)
	sealValue = regexp.MustCompile(`"crc32c:[0-9a-f]{8}"\}$`)
)

// intact reports whether the content of a run.json is as it was written; one
// without a sum is taken as it is.
func intact(data []byte) bool {
	var compact bytes.Buffer
	if json.Compact(&compact, data) != nil {
		return false
	}
	text := compact.Bytes()
	at := sealed.FindSubmatchIndex(text)
	if at == nil {
		return !bytes.Contains(text, sealKey) && !sealValue.Match(text)
	}
	h := crc32.New(castagnoli)
	h.Write(text[:at[0]])
	h.Write([]byte("}"))
	return fmt.Sprintf(sumForm, h.Sum32()) == string(text[at[2]:at[3]])
}

// verify compares the table with the sum that the manifest has of it.
func (f *Folder) verify() error {
	want := f.run.Files[tableFile]
	if want == "" || f.Table() == "" {
		return nil
	}
	file, err := limitio.Open(filepath.Join(f.dir, tableFile))
	if err != nil {
		return err
	}
	defer file.Close()
	got, err := sumOf(file)
	if err != nil {
		return err
	}
	if got != want {
		f.damage("%s is not as it was written (its sum is %s, %s has %s); copy it again from where it was measured", tableFile, got, manifestFile, want)
	}
	return nil
}

// damage notes what makes nobody know any more whether the run is valid.
func (f *Folder) damage(format string, args ...any) {
	f.note(format, args...)
	if f.damaged == "" {
		f.damaged = "The folder is damaged: " + f.notes[len(f.notes)-1] + "."
	}
}
