package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/exit"
)

func saved(t testing.TB, g Group, gates ...Gate) ([]byte, Group) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteBaseline(&b, g, time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), gates...); err != nil {
		t.Fatal(err)
	}
	back, err := ReadBaseline(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), back
}

// A comparison with a baseline read from its file says what the one with the
// runs themselves says.
func TestBaselineSaysTheSame(t *testing.T) {
	slow := made
	slow.tpot *= 1.05
	slow.failed = 0.03
	for _, c := range []struct{ repeats, n, most int }{{6, 200, 130_000}, {2, 300, 130_000}, {1, 400, 90_000}} {
		rng := rand.New(rand.NewPCG(3, uint64(c.repeats)))
		a, b := made.group("A", rng, c.repeats, c.n, 0), slow.group("B", rng, c.repeats, c.n, 1)
		data, file := saved(t, a)
		if len(data) > c.most {
			t.Errorf("%d runs of %d requests take %d bytes", c.repeats, c.n, len(data))
		}
		live, back := mustCompare(t, a, b, Options{}), mustCompare(t, file, b, Options{})
		if len(live.Rows) != len(back.Rows) {
			t.Fatalf("%d rows, %d from the file", len(live.Rows), len(back.Rows))
		}
		for i := range live.Rows {
			x, y := &live.Rows[i], &back.Rows[i]
			if x.Metric != y.Metric || x.Stat != y.Stat || x.NA != y.NA {
				t.Fatalf("%s %s of %d against %s %s of %d", x.Metric, x.Stat, x.NA, y.Metric, y.Stat, y.NA)
			}
			if !near(x.A.Or(0), y.A.Or(0), 0.004*x.A.Or(0)+1e-9) {
				t.Errorf("%d runs, %s %s: %v, from the file %v", c.repeats, x.Metric, x.Stat, x.A, y.A)
			}
			if x.CI95Pct == nil || y.CI95Pct == nil {
				continue
			}
			width := x.CI95Pct[1] - x.CI95Pct[0]
			for k := range 2 {
				if math.Abs(x.CI95Pct[k]-y.CI95Pct[k]) > 0.25*width+0.1 {
					t.Errorf("%d runs, %s %s: interval %v, from the file %v", c.repeats, x.Metric, x.Stat, *x.CI95Pct, *y.CI95Pct)
				}
			}
		}
		// Writing what was read changes nothing.
		again, _ := saved(t, file)
		if !bytes.Equal(data, again) {
			t.Errorf("%d runs: written again it differs", c.repeats)
		}
	}
}

// Values that are all alike stay so through a file.
func TestBaselineTies(t *testing.T) {
	a := Group{Name: "A", Runs: []*Run{constant("A", 0, 200, 240, 20, 101, 256)}}
	_, file := saved(t, a)
	r := mustCompare(t, file, Group{Name: "B", Runs: []*Run{constant("B", 1, 200, 240, 20, 101, 256)}}, Options{})
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Verdict == Better || row.Verdict == Worse {
			t.Errorf("%s %s: %s", row.Metric, row.Stat, row.Verdict)
		}
	}
	if r := mustCompare(t, file, Group{Name: "B", Runs: []*Run{constant("B", 1, 200, 240, 24, 101, 256)}}, Options{}); findRow(t, r, "tpot_ms", "p50").Verdict != Worse {
		t.Errorf("20 %% slower: %s", findRow(t, r, "tpot_ms", "p50").Verdict)
	}
}

func TestBaselineKeepsGatedMetrics(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	gates := mustGates(t, "p50 decode_tps -5%")
	a, b := made.group("A", rng, 4, 100, 0), made.group("B", rng, 4, 100, 1)
	_, with := saved(t, a, gates...)
	_, without := saved(t, a)
	if g := mustCompare(t, with, b, Options{Gates: gates}).Gates[0]; g.State != Held {
		t.Errorf("kept: %s", g.Words())
	}
	if g := mustCompare(t, without, b, Options{Gates: gates}).Gates[0]; g.State != GateRefused || !strings.Contains(g.Says, "baseline") {
		t.Errorf("not kept: %s", g.Words())
	}
}

// A baseline whose server answered nothing is that in its file too.
func TestBaselineThatAnsweredNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	dead := made.group("A", rng, 2, 60, 0)
	for _, r := range dead.Runs {
		r.Facts.Silent = true
	}
	_, file := saved(t, dead)
	if v := exit.Of(Asked([]Group{file, made.group("B", rng, 2, 60, 1)})); v.Code != exit.Target {
		t.Errorf("exit code %d: %s", v.Code, v.Says)
	}
}

func TestReadBaselineRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	data, _ := saved(t, made.group("A", rng, 1, 60, 0))
	for name, bad := range map[string]string{
		"empty":       "",
		"other":       `{"schema":"tokenmeter.run/v1"}`,
		"no runs":     `{"schema":"` + BaselineSchema + `","runs":[]}`,
		"cut":         string(data[:len(data)/2]),
		"not numbers": strings.Replace(string(data), `"sums": "`, `"sums": "x `, 1),
		"negative":    strings.Replace(string(data), `"blocks": [`, `"blocks": [ "-1",`, 1),
		"rate":        strings.Replace(string(data), `"whole"`, `"part"`, 1),
		"old":         strings.Replace(string(data), BaselineSchema, "tokenmeter.baseline/v1", 1),
		"unknown":     strings.Replace(string(data), `"ttft_ms"`, `"speed_of_light"`, 1),
	} {
		_, err := ReadBaseline(strings.NewReader(bad))
		if err == nil {
			t.Errorf("%s: taken", name)
		}
		if want := map[string]error{"empty": ErrNoBaseline, "other": ErrNoBaseline, "old": ErrOtherBaseline}[name]; want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One flipped bit in a baseline is found, looked for at some hundreds of its bits and every
// one of its end; how it is spaced is no damage, and one
// of before there were sums is read.
func TestBaselineFlippedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	data, _ := saved(t, made.group("A", rng, 1, 60, 0))
	for bit := range len(data) * 8 {
		if bit%1009 != 0 && bit < (len(data)-40)*8 {
			continue
		}
		flipped := bytes.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		if _, err := ReadBaseline(bytes.NewReader(flipped)); err == nil {
			t.Errorf("bit %d of byte %d (%q) is taken", bit%8, bit/8, data[max(0, bit/8-20):min(len(data), bit/8+20)])
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		t.Fatal(err)
	}
	older := regexp.MustCompile(`,\s*"checksum": "crc32c:[0-9a-f]{8}"`).ReplaceAll(data, nil)
	if bytes.Equal(older, data) {
		t.Fatal("no checksum was written")
	}
	for name, text := range map[string][]byte{"in one line": compact.Bytes(), "with other ends of lines": bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), "of an older program": older} {
		if _, err := ReadBaseline(bytes.NewReader(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadBaseline(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	data, _ := saved(f, made.group("A", rng, 1, 60, 0))
	f.Add(data)
	f.Add([]byte(`{"schema":"tokenmeter.baseline/v2","name":"x","runs":[{"facts":{},"series":{"ttft_ms":{"requests":3,"edges":"1 2","points":"11","blocks":["1 2"],"sums":"5"},"error_rate":{"num":"0","den":"5","requests":5},"system_output_tps":{"num":"10 0","den":"1 0","whole":"10 1","requests":2}}}]}`))
	b := made.group("B", rng, 1, 40, 1)
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := ReadBaseline(bytes.NewReader(data))
		if err != nil {
			return
		}
		r, err := Compare(g, []Group{b}, Options{Metrics: []string{"ttft", "error_rate", "system_output_tps"}})
		if err != nil {
			return
		}
		if _, err := r.JSON(); err != nil {
			t.Error(err)
		}
	})
}
