package stat

import (
	"encoding/binary"
	"errors"
	"math"
)

// MarshalBinary writes the sketch compactly: only buckets that hold something.
func (s *Sketch) MarshalBinary() ([]byte, error) {
	out := []byte{sketchMark}
	out = binary.AppendUvarint(out, s.zeros)
	out = binary.AppendUvarint(out, s.infs)
	for _, f := range []float64{s.sum, s.lo, s.hi} {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
	}
	at := 0
	for j, c := range s.counts {
		if c > 0 {
			i := s.first + j
			out = binary.AppendUvarint(out, uint64(i-at))
			out = binary.AppendUvarint(out, c)
			at = i
		}
	}
	return out, nil
}

// UnmarshalBinary is the inverse of MarshalBinary. Damaged bytes are an error
// and leave the sketch as it was.
func (s *Sketch) UnmarshalBinary(data []byte) error {
	if len(data) == 0 || data[0] != sketchMark {
		return errors.New(errSketch + ": unknown version")
	}
	in := reader{rest: data[1:]}
	var r Sketch
	r.zeros, r.infs = in.uvarint(), in.uvarint()
	r.sum, r.lo, r.hi = in.float(), in.float(), in.float()
	total := r.zeros
	for at, started := uint64(0), false; !in.bad && len(in.rest) > 0; started = true {
		step, count := in.uvarint(), in.uvarint()
		if in.bad || count == 0 || (started && step == 0) || step >= bucketTop || at+step >= bucketTop {
			return errors.New(errSketch)
		}
		at += step
		if total+count < total {
			return errors.New(errSketch)
		}
		total += count
		*r.at(int(at)) = count
	}
	r.n = total + r.infs
	sound := r.n >= total && r.n <= math.MaxInt64 && r.lo >= 0 && r.hi >= r.lo &&
		r.sum >= 0 && !math.IsInf(r.hi, 1)
	if in.bad || !sound || (total == 0 && (r.lo != 0 || r.hi != 0 || r.sum != 0)) {
		return errors.New(errSketch)
	}
	*s = r
	return nil
}

// reader takes numbers off a slice and remembers that one was missing.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) float() float64 {
	if len(r.rest) < 8 {
		r.bad = true
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.rest))
	r.rest = r.rest[8:]
	return v
}
