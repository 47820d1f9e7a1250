package stat

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// oracle holds values computed with numpy and scipy by tools/oracle/stat.py.
type oracle struct {
	Quantiles []struct {
		Data           []float64
		N              int
		P              float64
		Type7, Nearest float64
	}
	BetaInc []struct{ A, B, X, Want float64 }
	Ranks   []struct {
		P         float64
		N, Lo, Hi int64
		OK        bool
	}
	Wilson []struct {
		K, N int64
		Conf float64
		Want [2]float64
	}
	Student []struct{ P, DF, Want float64 }
	Normal  []struct{ P, Want float64 }
	Means   []struct {
		Data     []float64
		Mean, SD float64
		CI       [2]float64
	}
	Tests []struct {
		A, B     []float64
		T, DF, P float64
		CI       [2]float64
		UP       float64 `json:"u_p"`
		Exact    bool
	}
	Holm []struct{ P, Want []float64 }
}

func readOracle(t *testing.T) oracle {
	t.Helper()
	data, err := os.ReadFile("testdata/oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	var o oracle
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func close64(got, want, rel float64) bool {
	return math.Abs(got-want) <= rel*math.Max(math.Abs(want), 1e-300) || got == want
}

func TestQuantileOracle(t *testing.T) {
	var data Sorted
	for _, c := range readOracle(t).Quantiles {
		if c.Data != nil {
			data = slices.Sorted(slices.Values(c.Data))
		}
		if got, _ := Quantile(data, c.P); !close64(got, c.Type7, 1e-12) {
			t.Errorf("n=%d p=%v: type 7 %v, want %v", c.N, c.P, got, c.Type7)
		}
		if got, _ := NearestRank(data, c.P); got != c.Nearest {
			t.Errorf("n=%d p=%v: nearest rank %v, want %v", c.N, c.P, got, c.Nearest)
		}
	}
}

func TestBetaIncOracle(t *testing.T) {
	for _, c := range readOracle(t).BetaInc {
		if got := BetaInc(c.A, c.B, c.X); !close64(got, c.Want, 1e-9) {
			t.Errorf("I_%v(%v, %v) = %v, want %v", c.X, c.A, c.B, got, c.Want)
		}
	}
}

func TestWilsonOracle(t *testing.T) {
	for _, c := range readOracle(t).Wilson {
		lo, hi, ok := wilson(float64(c.K), float64(c.N), c.Conf)
		if !ok || math.Abs(lo-c.Want[0]) > 1e-12 || math.Abs(hi-c.Want[1]) > 1e-12 {
			t.Errorf("%d of %d at %v: %v–%v, want %v", c.K, c.N, c.Conf, lo, hi, c.Want)
		}
	}
}

func TestStudentOracle(t *testing.T) {
	o := readOracle(t)
	for _, c := range o.Student {
		if got := StudentQuantile(c.P, c.DF); math.Abs(got-c.Want) > 1e-9*math.Max(1, math.Abs(c.Want)) {
			t.Errorf("t quantile %v of %v df: %v, want %v", c.P, c.DF, got, c.Want)
		}
	}
	for _, c := range o.Normal {
		if got := NormalQuantile(c.P); math.Abs(got-c.Want) > 1e-12*math.Max(1, math.Abs(c.Want)) {
			t.Errorf("normal quantile %v: %v, want %v", c.P, got, c.Want)
		}
	}
}
