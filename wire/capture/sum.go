package capture

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"

	"tokenmeter/base/pattern"
)

// A capture proves itself: its last line ends with a sum of all bytes before it.
// CRC-32C finds every single flipped bit, and every burst of up to 32.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealed is the end of a line with a sum. Its parts are looked for each alone as
// well, so that a flipped bit in one of them does not make the capture look like
// one that another program wrote, without.
var (
	sealed    = pattern.Lazy(`,"sum":"crc32c:([0-9a-f]{8})"\}\n?$`)
	sealParts = pattern.Lazy(`"sum":"|crc32c:`)
)

// seal adds the sum to a last line, which is a JSON object; before is the sum of
// all lines above it.
func seal(before uint32, last []byte) []byte {
	last = bytes.TrimSuffix(bytes.TrimSuffix(last, []byte("\n")), []byte("}"))
	sum := crc32.Update(before, castagnoli, last)
	return fmt.Appendf(last, `,"sum":"crc32c:%08x"}`+"\n", sum)
}

var errAltered = errors.New(`the capture is not as it was written: its sum is another; copy it again from where it was measured, or leave out "sum" of its last line if you changed it`)

// verify compares a last line's sum, where it has one, with that of the bytes.
// before is the sum of all that comes above the line.
func verify(before uint32, last []byte) error {
	at := sealed().FindSubmatchIndex(last)
	if at == nil {
		if sealParts().Match(last) {
			return errAltered
		}
		return nil
	}
	if fmt.Sprintf("%08x", crc32.Update(before, castagnoli, last[:at[0]])) != string(last[at[2]:at[3]]) {
		return errAltered
	}
	return nil
}
