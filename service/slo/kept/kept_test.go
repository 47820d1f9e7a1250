package kept_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"tokenmeter/service/slo/kept"
)

type shelf struct {
	docs map[string]json.RawMessage
	full error
}

func (s *shelf) State(_ context.Context, name string) (json.RawMessage, error) {
	return s.docs[name], nil
}

func (s *shelf) PutState(_ context.Context, name string, v json.RawMessage) error {
	switch {
	case s.full != nil:
	case v == nil:
		delete(s.docs, name)
	default:
		s.docs[name] = v
	}
	return s.full
}

type span struct{ From, To int }

func (s *span) sound() bool { return s.From <= s.To }

var now = time.Date(2026, 3, 2, 1, 2, 3, 0, time.UTC)

func TestRead(t *testing.T) {
	for text, want := range map[string]span{
		`{"From": 1, "To": 2}`: {1, 2},
		`null`:                 {},
	} {
		s := &shelf{docs: map[string]json.RawMessage{"x": json.RawMessage(text)}}
		if v, found, err := kept.Read(t.Context(), s, "x", now, (*span).sound); err != nil || !found || v != want {
			t.Errorf("%s is %+v, %v, %v", text, v, found, err)
		}
		if v, found, err := kept.Read[span](t.Context(), s, "y", now, nil); err != nil || found || v != (span{}) || len(s.docs) != 1 {
			t.Errorf("what is not there is %+v, %v, %v", v, found, err)
		}
	}
}

// Whatever can't be read stays in the store, letter by letter, and the caller
// gets nothing of it, not even the half that could be read.
func TestWhatCantBeReadIsKept(t *testing.T) {
	for _, text := range []string{"\x00\xff", "", "{", `{"From": 1, "To": "x"}`, `[]`, `{"From": 2, "To": 1}`, `{} {}`} {
		s := &shelf{docs: map[string]json.RawMessage{"x": json.RawMessage(text)}}
		v, found, err := kept.Read(t.Context(), s, "x", now, (*span).sound)
		var damaged *kept.Damaged
		if v != (span{}) || found || !errors.As(err, &damaged) || !strings.Contains(err.Error(), "x.damaged-20260302T010203") {
			t.Errorf("%q is %+v, %v, %v", text, v, found, err)
			continue
		}
		var aside string
		if err := json.Unmarshal(s.docs[damaged.Aside], &aside); err != nil || aside != strings.ToValidUTF8(text, "\ufffd") || len(s.docs) != 1 {
			t.Errorf("%q is kept as %q, %v", text, s.docs[damaged.Aside], err)
		}
	}
}

// A store that takes nothing is no reason to go on without what it has.
func TestWhatCantBeKept(t *testing.T) {
	s := &shelf{docs: map[string]json.RawMessage{"x": json.RawMessage("{")}, full: fs.ErrPermission}
	var damaged *kept.Damaged
	if _, _, err := kept.Read[span](t.Context(), s, "x", now, nil); !errors.Is(err, fs.ErrPermission) || errors.As(err, &damaged) {
		t.Errorf("it said %v", err)
	}
}

// A document that takes a hundred times its size in memory is not decoded.
func TestDocumentsOfManyValues(t *testing.T) {
	for name, text := range map[string]string{
		"objects": "[" + strings.Repeat("{},", 5<<20) + "{}]",
		"nulls":   "[" + strings.Repeat("null,", 1<<20) + "null]",
		"numbers": "[" + strings.Repeat("0,", 1<<20) + "0]",
		"large":   `[{"From": 1, "To": 2}` + strings.Repeat(" ", kept.Most) + "]",
	} {
		s := &shelf{docs: map[string]json.RawMessage{"x": json.RawMessage(text)}}
		v, found, err := kept.Read[[][32]int](t.Context(), s, "x", now, nil)
		if found || len(v) > 0 || !errors.Is(err, kept.ErrLarge) || len(s.docs) != 1 {
			t.Errorf("%s: %d values, %v, %v", name, len(v), found, err)
		}
	}
	many := "[" + strings.Repeat(`{"From": 1, "To": 2},`, 100_000) + `{"From": 1, "To": 2}]`
	s := &shelf{docs: map[string]json.RawMessage{"x": json.RawMessage(many)}}
	if v, found, err := kept.Read[[]span](t.Context(), s, "x", now, nil); !found || len(v) != 100_001 || err != nil {
		t.Errorf("%d values, %v, %v", len(v), found, err)
	}
}
