package char

import (
	"testing"
	"unicode"
)

func TestRunsCoverEveryCodePoint(t *testing.T) {
	next := rune(0)
	eachRun(func(from, to rune, c Category) {
		if from != next || to <= from || c >= categories {
			t.Fatalf("run %x–%x category %d after %x", from, to, c, next)
		}
		for r := from; r < to; r++ {
			if Of(r) != c {
				t.Fatalf("Of(%U) = %d, want %d", r, Of(r), c)
			}
		}
		next = to
	})
	if next != 0x110000 {
		t.Fatalf("the runs end at %x", next)
	}
	for _, r := range []rune{-1, 0x110000, 1 << 30} {
		if Of(r) != Cn {
			t.Errorf("Of(%x) = %d", r, Of(r))
		}
	}
}

// What Go assigns (Unicode 15) has the same category here, but for the few
// code points that Unicode 16 changed.
func TestAgreesWithUnicode15(t *testing.T) {
	tables := map[string]Set{"L": Letter, "M": Mark, "N": Number, "P": Punct, "S": Symbol, "Z": 1<<Zs | 1<<Zl | 1<<Zp,
		"Lu": 1 << Lu, "Lt": 1 << Lt, "Ll": Lower, "Lm": 1 << Lm, "Lo": 1 << Lo, "Mn": 1 << Mn, "Mc": 1 << Mc, "Me": 1 << Me,
		"Nd": 1 << Nd, "Nl": 1 << Nl, "No": 1 << No, "Cf": 1<<Cf | 1<<CfJoin, "Co": 1 << Co, "Cc": 1<<Cc | 1<<Newline | 1<<CcSpace}
	changed := map[rune]bool{}
	for r := rune(0); r < 0x110000; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cf, unicode.Co, unicode.Cc) {
			continue
		}
		for name, set := range tables {
			if unicode.Is(unicode.Categories[name], r) != set.Has(Of(r)) {
				changed[r] = true
			}
		}
		if unicode.IsSpace(r) != Space.Has(Of(r)) {
			t.Errorf("%U: space", r)
		}
	}
	for r := range changed {
		t.Logf("%U", r)
	}
	if len(changed) > 12 {
		t.Errorf("%d code points that Go assigns differ", len(changed))
	}
}

func TestUnicode16(t *testing.T) {
	for r, want := range map[rune]Category{0x1c89: Lu, 0x1c8a: Ll, 0xa7cb: Lu, 0x10d40: Nd, 0x2ebf0: Lo, 0x13460: Lo, 0x1cc00: So} {
		if got := Of(r); got != want {
			t.Errorf("Of(%U) = %d, want %d", r, got, want)
		}
	}
}
