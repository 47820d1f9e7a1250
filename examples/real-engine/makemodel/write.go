package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// ---- file ---------------------------------------------------------------

type kv struct {
	key string
	val any
}

// writer counts what it writes. It does not embed the bufio.Writer, whose
// WriteString would go round the count.
type writer struct {
	buf *bufio.Writer
	n   int64
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.buf.Write(p)
	w.n += int64(n)
	return n, err
}
func (w *writer) le(x any)     { binary.Write(w, binary.LittleEndian, x) }
func (w *writer) str(s string) { w.le(uint64(len(s))); io.WriteString(w, s) }
func (w *writer) pad(to int64) {
	for w.n%to != 0 {
		w.Write([]byte{0})
	}
}

func (w *writer) value(v any) {
	switch x := v.(type) {
	case uint32:
		w.le(uint32(4))
		w.le(x)
	case float32:
		w.le(uint32(6))
		w.le(x)
	case bool:
		w.le(uint32(7))
		w.le(x)
	case string:
		w.le(uint32(8))
		w.str(x)
	case []string:
		w.le(uint32(9))
		w.le(uint32(8))
		w.le(uint64(len(x)))
		for _, s := range x {
			w.str(s)
		}
	case []int32:
		w.le(uint32(9))
		w.le(uint32(5))
		w.le(uint64(len(x)))
		w.le(x)
	default:
		panic(fmt.Sprintf("no GGUF type for %T", v))
	}
}
