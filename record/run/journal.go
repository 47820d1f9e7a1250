package run

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sort"

	"tokenmeter/record/timeline"
)

// A journal is the magic and then frames: length and CRC-32C of the payload,
// four bytes each, little endian, and the payload. A program that dies in the
// middle of a frame leaves a torn one at the end, which readers drop.
const (
	journalMagic = "tmjrnl1\n"
	frameHead    = 8
	// maxFrame bounds what a reader is ready to hold at once.
	maxFrame = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendFrame appends a frame whose payload write adds.
func AppendFrame(buf []byte, write func([]byte) []byte) []byte {
	start := len(buf)
	buf = append(buf, make([]byte, frameHead)...)
	buf = write(buf)
	payload := buf[start+frameHead:]
	binary.LittleEndian.PutUint32(buf[start:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(buf[start+4:], crc32.Checksum(payload, castagnoli))
	return buf
}

// frame is where one intact payload lies.
type frame struct {
	offset  int64
	size    uint32
	request int64
}

// journal is the index of a journal: where its intact records are, in the
// order of their requests. It costs 24 bytes a record.
type journal struct {
	src     io.ReaderAt
	frames  []frame
	damaged int   // whole frames whose bytes had changed; they are left out
	torn    int64 // bytes at the end that are no whole frame
}

// ErrNoJournal is the error of a file that does not begin with its magic.
var ErrNoJournal = errors.New("not a journal of tokenmeter")

// indexJournal reads the journal once. size is that of src.
func indexJournal(src io.ReaderAt, size int64) (*journal, error) {
	j := &journal{src: src}
	var err error
	j.damaged, j.torn, err = ScanFrames(src, size, journalMagic, func(at int64, payload []byte) error {
		j.frames = append(j.frames, frame{at, uint32(len(payload)), decodeRequest(payload)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	sort.SliceStable(j.frames, func(a, b int) bool { return j.frames[a].request < j.frames[b].request })
	return j, nil
}

// ScanFrames yields the intact frames of a file that begins with a magic: where
// the payload lies, and the payload, which is good until the next one. A frame
// that fails its check is passed over when its length leads to a place inside
// the file; what can't be framed any more counts as torn, in bytes. An empty
// frame is no frame: a file system may leave zeros behind after a power failure,
// and zeros have a valid checksum.
func ScanFrames(src io.ReaderAt, size int64, magic string, yield func(at int64, payload []byte) error) (damaged int, torn int64, err error) {
	r := bufio.NewReaderSize(io.NewSectionReader(src, 0, size), 1<<16)
	begin := make([]byte, len(magic))
	n, err := io.ReadFull(r, begin)
	switch {
	case string(begin[:n]) != magic[:n]:
		return 0, 0, ErrNoJournal
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return 0, int64(n), nil
	case err != nil:
		return 0, 0, err
	}
	var head [frameHead]byte
	var payload []byte
	for at := int64(len(magic)); at < size; {
		if left := size - at; left < frameHead {
			return damaged, left, nil
		}
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return damaged, size - at, unlessShort(err)
		}
		n := int64(binary.LittleEndian.Uint32(head[:]))
		if n == 0 || n > maxFrame || n > size-at-frameHead {
			return damaged, size - at, nil
		}
		payload = slices.Grow(payload[:0], int(n))[:n]
		if _, err := io.ReadFull(r, payload); err != nil {
			return damaged, size - at, unlessShort(err)
		}
		if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
			damaged++
		} else if err := yield(at+frameHead, payload); err != nil {
			return damaged, 0, err
		}
		at += frameHead + n
	}
	return damaged, 0, nil
}

// unlessShort takes a file that became shorter than it said as torn.
func unlessShort(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// each yields the records in the order of their requests, one in memory at a time.
func (j *journal) each(yield func(*timeline.Timeline, error) bool) {
	var payload []byte
	for _, f := range j.frames {
		payload = slices.Grow(payload[:0], int(f.size))[:f.size]
		if _, err := j.src.ReadAt(payload, f.offset); err != nil && err != io.EOF {
			yield(nil, fmt.Errorf("journal, byte %d: %w", f.offset, err))
			return
		}
		t, err := decodeTimeline(payload)
		if err != nil {
			if !yield(nil, fmt.Errorf("journal, byte %d: %w", f.offset, err)) {
				return
			}
			continue
		}
		if !yield(t, nil) {
			return
		}
	}
}
