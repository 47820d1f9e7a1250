package timeline

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Columns give the events that Append gives, whatever the numbers; and the packed
// form tells what All does.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64Range(0, 300), rapid.Int64Range(-3, 1<<34), rapid.SampledFrom([]int64{255, 256, 65533, 65534, 65535, 1<<32 - 1, 1 << 32}))
		n := rapid.IntRange(0, 20).Draw(t, "n")
		column := func(name string) []int64 { return rapid.SliceOfN(number, n, n).Draw(t, name) }
		c := Columns{AtUS: column("at"), Tokens: column("tokens"), Choice: column("choice"),
			Bytes: column("bytes"), Read: column("read"), LagUS: column("lag")}
		var one, all Events
		for i := range n {
			c.Kind = append(c.Kind, rapid.Int64Range(int64(Role), int64(ErrorEvent)).Draw(t, "kind"))
			ev := Event{AtUS: c.AtUS[i], Kind: Kind(c.Kind[i]), Choice: int(c.Choice[i]), Bytes: c.Bytes[i], Read: c.Read[i], LagUS: c.LagUS[i]}
			if c.Tokens[i]%3 == 0 {
				c.Tokens[i] = Absent
			} else {
				ev.Tokens = Some(c.Tokens[i])
			}
			one.Append(ev)
		}
		all.AppendColumns(c)
		want := slices.Collect(one.All())
		if got := slices.Collect(all.All()); !slices.Equal(got, want) || all.LastUS() != one.LastUS() {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		var at, read, i int64
		read = -1
		for _, p := range all.Packed() {
			at += p.DeltaUS()
			if p.NewRead() {
				read++
			}
			if p.Kind() == kindFiller {
				continue
			}
			got := Event{AtUS: at, LagUS: p.LagUS(), Kind: p.Kind(), Tokens: p.Tokens(), Choice: p.Choice(), Bytes: p.Bytes(), Read: read}
			if got != want[i] {
				t.Fatalf("got %v, want %v", got, want[i])
			}
			i++
		}
		if int(i) != len(want) {
			t.Fatalf("%d events, not %d", i, len(want))
		}
	})
}
