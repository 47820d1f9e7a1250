package typeset

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/timeline"
)

func parse(t interface{ Fatalf(string, ...any) }, s string) float64 {
	s = strings.NewReplacer(",", "", "−", "-").Replace(s)
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatalf("%q is no number: %v", s, err)
	}
	return v
}

func lim(v float64) timeline.Opt[float64] { return timeline.Some(v) }

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		v    float64
		d    Digits
		want string
	}{
		{182.2, Digits{}, "182"},
		{23.84, Digits{}, "23.8"},
		{1918.4, Digits{}, "1,920"},
		{0.6104, Digits{Round: true}, "0.61"},
		{0.61, Digits{}, "0.610"},
		{9.996, Digits{}, "10.0"},
		{999.6, Digits{}, "1,000"},
		{0, Digits{}, "0"},
		{-12.34, Digits{}, "−12.3"},
		{39.96, Digits{Limit: lim(40)}, "39.96"},
		{40.04, Digits{Limit: lim(40)}, "40.04"},
		{40, Digits{Limit: lim(40)}, "40.0"},
		{41.02, Digits{Limit: lim(40)}, "41.0"},
		{999.7, Digits{Limit: lim(1000)}, "999.7"},
		{1003, Digits{Limit: lim(1000)}, "1,003"},
		{0.0004, Digits{}, "0.000400"},
		{1234567, Digits{}, "1,230,000"},
	} {
		if got := c.d.Value(c.v); got != c.want {
			t.Errorf("%v %+v: got %s, want %s", c.v, c.d, got, c.want)
		}
	}
}

// The examples that the table's layout was designed with.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		v, lo, hi float64
		limit     timeline.Opt[float64]
		want      string
	}{
		{182.3, 178.7, 186.1, timeline.Opt[float64]{}, "182 [179, 186]"},
		{610.2, 570.9, 664.1, timeline.Opt[float64]{}, "610 [571, 664]"},
		{1918, 1400, 2344, timeline.Opt[float64]{}, "1,920 [1,400, 2,340]"},
		{23.81, 23.62, 24.04, timeline.Opt[float64]{}, "23.8 [23.6, 24.0]"},
		{41.03, 40.21, 43.88, lim(40), "41.0 [40.2, 43.9]"},
		{41.03, 40.02, 43.88, lim(40), "41.03 [40.02, 43.88]"},
		{6.852, 6.703, 6.998, timeline.Opt[float64]{}, "6.85 [6.70, 7.00]"},
		{120, 0.3, 900, timeline.Opt[float64]{}, "120 [0.3, 900]"},
		{1006, 1003, 1012, timeline.Opt[float64]{}, "1,006 [1,003, 1,012]"},
		{11620, 1200, 132_000, lim(12_000), "11,600 [1,200, 132,000]"},
		{7, 7, 7, timeline.Opt[float64]{}, "7.00 [7.00, 7.00]"},
	} {
		v, lo, hi := Digits{Limit: c.limit}.Interval(c.v, c.lo, c.hi)
		if got := v + " [" + lo + ", " + hi + "]"; got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestCountsRatesPercents(t *testing.T) {
	for got, want := range map[string]string{
		Count(0): "0", Count(9999): "9,999", Count(10_000): "10.0k", Count(171_234): "171k",
		Count(999_499): "999k", Count(999_500): "1.00M", Count(28_400_000): "28.4M",
		Count(1_200_000_000): "1.20G",
		Rate(1286.7):         "1,287", Rate(4.512): "4.51", Rate(99.96): "100", Rate(129345): "129k",
		Percent(0): "0 %", Percent(1): "100 %", Percent(0.968): "96.8 %",
		Percent(0.0001): "< 0.1 %", Percent(0.99999): "> 99.9 %", Percent(0.9996): "> 99.9 %",
		Percent(0.007): "0.7 %",
		PercentNear(0.9896, Digits{Limit: lim(0.99)}):   "98.96 %",
		PercentNear(0.0004, Digits{Limit: lim(0.0005)}): "0.04 %",
		PercentNear(0.00101, Digits{Limit: lim(0.001)}): "0.101 %",
		Span(83.12, Digits{}):                           "83.1 ms",
		Span(610, Digits{Round: true}):                  "0.61 s",
		Span(999.7, Digits{Limit: lim(1000)}):           "0.9997 s",
		Span(133_000, Digits{}):                         "133 s",
		Span(5_400_000, Digits{}):                       "90 min",
		Clock(44.9):                                     "0:44",
		Clock(754):                                      "12:34",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func drawValue(t *rapid.T, name string) float64 {
	v := math.Pow(10, rapid.Float64Range(-4, 7).Draw(t, name))
	if rapid.Bool().Draw(t, name+" negative") {
		return -v
	}
	return v
}

// A shown value is its value, to half a unit of the last digit shown.
func TestNumberIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(t, "v")
		d := Digits{}
		if rapid.Bool().Draw(t, "interval") {
			d.Width = math.Abs(drawValue(t, "width"))
		}
		dec := d.Decimals(v)
		got := parse(t, d.Value(v))
		if math.Abs(got-v) > 0.5000001*math.Pow10(-dec) {
			t.Fatalf("%v shown as %v", v, got)
		}
		if d.Width == 0 && math.Abs(got-v) > 0.005*math.Abs(v) {
			t.Fatalf("%v shown as %v: fewer than three digits", v, got)
		}
		// Not finer than the digit a tenth of the width reaches.
		if step := math.Pow10(-dec); d.Width > 0 && step*10.000001 < d.Width/10 && math.Abs(v) >= d.Width {
			t.Fatalf("%v with width %v shown to %v", v, d.Width, step)
		}
	})
}

// A shown value stands on the true side of its limit, and so do the ends of
// its interval.
func TestNumberKeepsItsSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]float64{0.1, 1, 40, 200, 1000, 12000}).Draw(t, "limit")
		near := func(name string) float64 {
			off := math.Pow(10, rapid.Float64Range(-6, 1).Draw(t, name))
			if rapid.Bool().Draw(t, name+" below") {
				return limit * (1 - min(off, 0.9))
			}
			return limit * (1 + off)
		}
		v := near("v")
		lo, hi := min(v, near("lo")), max(v, near("hi"))
		texts := make([]string, 3)
		texts[0], texts[1], texts[2] = Digits{Limit: lim(limit)}.Interval(v, lo, hi)
		for i, want := range []float64{v, lo, hi} {
			if got := parse(t, texts[i]); Side(got, limit) != Side(want, limit) {
				t.Fatalf("%v against %v shown as %s", want, limit, texts[i])
			}
		}
		share := v / limit / 2 // around one half
		if share > 0.01 && share < 0.99 {
			p := PercentNear(share, Digits{Limit: lim(0.5)})
			if got := parse(t, strings.TrimSuffix(p, " %")); Side(got, 50) != Side(share, 0.5) {
				t.Fatalf("%v against 0.5 shown as %s", share, p)
			}
		}
	})
}

func TestNothingIsShownAsZeroThatIsNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(t, "v")
		if got := (Digits{}).Value(v); parse(t, got) == 0 {
			t.Fatalf("%v shown as %s", v, got)
		}
		if got := Percent(math.Abs(v) / 1e8); got == "0 %" || got == "0.0 %" {
			t.Fatalf("%v shown as %s", v/1e8, got)
		}
	})
}
