// Package kept reads the small documents that a store of service levels keeps
// for its users: which alerts fire, what receivers were told, from when on
// series are counted. A document that nobody can read is never dropped: it stays
// in the store under another name, and whoever asked for it says so.
package kept

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Store keeps small documents under names. A history.Store does.
type Store interface {
	// PutState keeps a document under a name; nil removes it.
	PutState(ctx context.Context, name string, value json.RawMessage) error
	// State returns it; nil when there is none.
	State(ctx context.Context, name string) (json.RawMessage, error)
}

// Damaged says that a document could not be read and where it is now.
type Damaged struct {
	Name  string
	Aside string // the name it is kept under
	Err   error  // why it can't be read
}

func (d *Damaged) Error() string {
	return fmt.Sprintf("%s in the store can't be read and is kept there as %s: %v", d.Name, d.Aside, d.Err)
}

// Unwrap returns why it can't be read.
func (d *Damaged) Unwrap() error { return d.Err }

// errUnsound is why a document is refused that is well formed and can't be true.
var errUnsound = errors.New("it contradicts itself")

// Most is how many bytes a document has at most: fifty thousand series and more.
const Most = 8 << 20

// ErrLarge is why a document is not decoded: it is larger than Most, or has more values
// than any that was written. An empty one of three bytes takes hundreds in memory.
var ErrLarge = errors.New("it is larger, or of more values, than what is kept")

// Decode reads a document.
func Decode(saved json.RawMessage, v any) error {
	if len(saved) > Most || bytes.Count(saved, []byte(",")) > 1000+len(saved)/10 {
		return ErrLarge
	}
	return json.Unmarshal(saved, v)
}

// Read returns the document under a name; found is false where there is none.
// One that is no JSON, that has other types, or that sound refuses, is moved to
// NAME.damaged-TIME before the error, a *Damaged, is returned: the caller goes on
// without it. Any other error is the store's. A nil sound refuses nothing.
func Read[T any](ctx context.Context, s Store, name string, now time.Time, sound func(*T) bool) (v T, found bool, err error) {
	saved, err := s.State(ctx, name)
	if err != nil || saved == nil {
		return v, false, err
	}
	bad := Decode(saved, &v)
	if bad == nil && sound != nil && !sound(&v) {
		bad = errUnsound
	}
	if bad == nil {
		return v, true, nil
	}
	var none T
	aside := name + ".damaged-" + now.UTC().Format("20060102T150405")
	text, err := json.Marshal(string(saved))
	if err == nil {
		err = s.PutState(ctx, aside, text)
	}
	if err == nil {
		err = s.PutState(ctx, name, nil) // or the next start would keep it once more
	}
	if err != nil {
		return none, false, fmt.Errorf("%s in the store can't be read (%w) nor kept under another name: %w", name, bad, err)
	}
	return none, false, &Damaged{name, aside, bad}
}
