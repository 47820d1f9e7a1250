package timeline

import (
	"encoding/json"
	"math"
)

// Opt is a value that may not have been measured. The zero value is "not
// measured" and is null in JSON, so an unmeasured zero can't be written by
// mistake.
type Opt[T any] struct {
	value T
	ok    bool
}

// Some returns a measured value.
func Some[T any](v T) Opt[T] { return Opt[T]{v, true} }

// Maybe returns a value that was measured if ok says so.
func Maybe[T any](v T, ok bool) Opt[T] {
	if ok {
		return Some(v)
	}
	return Opt[T]{}
}

// Map is f of the value, if it was measured.
func Map[T, U any](o Opt[T], f func(T) U) Opt[U] {
	if !o.ok {
		return Opt[U]{}
	}
	return Some(f(o.value))
}

// Float is a whole number as one with a fraction.
func Float(n Opt[int64]) Opt[float64] { return Opt[float64]{float64(n.value), n.ok} }

// Get returns the value and whether it was measured.
func (o Opt[T]) Get() (T, bool) { return o.value, o.ok }

// OK reports whether the value was measured.
func (o Opt[T]) OK() bool { return o.ok }

// Or returns the value, or other when it was not measured.
func (o Opt[T]) Or(other T) T {
	if o.ok {
		return o.value
	}
	return other
}

// Ptr returns nil for an unmeasured value, else a pointer to a copy.
func (o Opt[T]) Ptr() *T {
	if !o.ok {
		return nil
	}
	v := o.value
	return &v
}

// FromPtr is the inverse of Ptr.
func FromPtr[T any](p *T) Opt[T] {
	if p == nil {
		return Opt[T]{}
	}
	return Some(*p)
}

// IsZero lets `omitzero` leave unmeasured values out.
func (o Opt[T]) IsZero() bool { return !o.ok }

// MarshalJSON writes null for an unmeasured value, and for one that is no number: JSON
// has none, and one figure must not keep a whole run from being written.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	x, isFloat := any(o.value).(float64)
	if !o.ok || isFloat && (math.IsNaN(x) || math.IsInf(x, 0)) {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads null as "not measured".
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	*o = Opt[T]{}
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &o.value); err != nil {
		return err
	}
	o.ok = true
	return nil
}
