package timeline

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is appended comes back, with times that never run backwards.
func TestEventsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events Events
		var want []Event
		var at, read int64
		for range rapid.IntRange(0, 50).Draw(t, "n") {
			at += rapid.Int64Range(0, 3<<32).Draw(t, "gap")
			if len(want) > 0 {
				read += rapid.Int64Range(0, 1).Draw(t, "new read")
			}
			ev := Event{
				AtUS: at, LagUS: rapid.Int64Range(0, 1e6).Draw(t, "lag"),
				Kind:   Kind(rapid.IntRange(int(Role), int(ErrorEvent)).Draw(t, "kind")),
				Choice: rapid.IntRange(0, 255).Draw(t, "choice"),
				Bytes:  rapid.Int64Range(0, 1<<31).Draw(t, "bytes"), Read: read,
			}
			if rapid.Bool().Draw(t, "known") {
				ev.Tokens = Some(rapid.Int64Range(0, 65000).Draw(t, "tokens"))
			}
			want = append(want, ev)
			events.Append(ev)
		}
		if got := slices.Collect(events.All()); !slices.Equal(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

func TestEventsNeverRunBackwards(t *testing.T) {
	var events Events
	events.Append(Event{AtUS: 500, Kind: Text})
	events.Append(Event{AtUS: 400, Kind: Text, Read: 1})
	for ev := range events.All() {
		if ev.AtUS != 500 {
			t.Errorf("event at %d µs, want 500", ev.AtUS)
		}
	}
}

func TestOptJSON(t *testing.T) {
	type row struct {
		A Opt[int64] `json:"a"`
		B Opt[int64] `json:"b"`
	}
	data, err := json.Marshal(row{A: Some(int64(0))})
	if err != nil || string(data) != `{"a":0,"b":null}` {
		t.Fatalf("got %s, %v", data, err)
	}
	var back row
	if err := json.Unmarshal(data, &back); err != nil || !back.A.OK() || back.B.OK() {
		t.Fatalf("got %+v, %v", back, err)
	}
}

// JSON has no such numbers; one of them must not keep all the rest from being written.
func TestOptJSONOfWhatIsNoNumber(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if data, err := json.Marshal([]Opt[float64]{Some(x), Some(1.5)}); err != nil || string(data) != `[null,1.5]` {
			t.Errorf("%v: %s, %v", x, data, err)
		}
	}
}

func TestFlagsRoundTrip(t *testing.T) {
	all := FlagSet(1<<len(flagNames) - 1)
	got, err := ParseFlags(all.Names())
	if err != nil || got != all {
		t.Fatalf("got %b, %v; want %b", got, err, all)
	}
	if _, err := ParseFlags([]string{"nonsense"}); err == nil {
		t.Error("an unknown flag was taken")
	}
}

func TestAppendAllocatesNothingOnAverage(t *testing.T) {
	var events Events
	for range 1000 {
		events.Append(Event{Kind: Text})
	}
	n := testing.AllocsPerRun(100, func() {
		events.Reset()
		for i := range 1000 {
			events.Append(Event{AtUS: int64(i), Kind: Text})
		}
	})
	if n != 0 {
		t.Errorf("%v allocations per 1000 appends", n)
	}
}
