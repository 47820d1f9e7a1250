package method

import (
	"math"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep/result"
	"tokenmeter/physics/engine"
	"tokenmeter/physics/sim"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// depthTable is the table of the series on a simulated server in virtual time.
func depthTable(t *testing.T, cfg sim.Config, depths ...float64) (out *result.Method) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cfg.Base = time.Now()
		server, ln := sim.New(cfg), simtest.NewPipeListener()
		served := make(chan error, 1)
		go func() { served <- server.Serve(ln) }()
		m, err := ByName("depth")
		if err != nil {
			t.Fatal(err)
		}
		o := &Options{Base: bench.Plan{Client: client.Config{BaseURL: "http://sim", API: api.OpenAIChat, Dial: ln.Dial, NoKernelStamps: true},
			Model: "m", Timers: true, Conditions: bench.Conditions{Preflight: "none"}},
			Lists: map[string][]float64{"depth": depths, "output_tokens": {64}}, Salt: "s"}
		steps, err := m.Prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		s := &result.Sweep{Dir: dir}
		for _, cell := range steps.Cells {
			p := cell.Plan
			p.Out = filepath.Join(dir, cell.Text)
			if _, err := bench.Run(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			s.Points = append(s.Points, result.Point{Value: cell.Value, Text: cell.Text, Run: cell.Text})
		}
		out = m.Read(o, s)
		server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return out
}

// A server that takes 2 ms a step, 10 µs a token of a prompt and 1 µs for each token that a
// step of decoding reads: n computed tokens are there after 2 + n/100 ms, and a token
// behind d of them takes 2 + d/1000 ms.
func TestDepth(t *testing.T) {
	law := engine.Linear{Base: 2 * time.Millisecond, PerPrefillToken: 10 * time.Microsecond, PerContextToken: time.Microsecond}
	out := depthTable(t, sim.Config{Engine: &engine.Config{Law: law, Blocks: 100_000, PrefixCache: true}}, 0, 1024, 8192)
	if len(out.Rows) != 3 || len(out.Why) != 0 {
		t.Fatalf("%+v", out)
	}
	rate := func(n float64) float64 { return n / (2 + n/100) * 1e3 }
	for i, d := range []float64{0, 1024, 8192} {
		row := out.Rows[i]
		fresh := row[3].Value.Or(0)
		// The context's last block may be computed again, and what stands between the
		// turns is new.
		if fresh < 512 || fresh > 512+32 || math.Abs(row[4].Value.Or(0)-d) > 16 {
			t.Errorf("depth %v: %v new tokens, %v cached", d, fresh, row[4].Value)
		}
		for k, want := range map[int]float64{2: rate(fresh), 6: 1e3 / (2 + (d+16+1+8+32)/1e3)} {
			if got := row[k].Value.Or(0); math.Abs(got-want) > 0.02*want {
				t.Errorf("depth %v: %s %v, want %v", d, out.Heads[k], got, want)
			}
		}
		if got := row[1].Value; d == 0 && got.OK() || d > 0 && math.Abs(got.Or(0)-rate(d)) > 0.02*rate(d) {
			t.Errorf("depth %v: cold %v, want %v", d, got, rate(d))
		}
		if row[7].Value.Or(0) != 5 {
			t.Errorf("depth %v: %v repetitions", d, row[7].Value)
		}
	}
}

// A server without a prefix cache computes the context again: its speed behind it is that
// of the whole prompt, and nothing is cached.
func TestDepthWithoutCache(t *testing.T) {
	law := engine.Linear{PerPrefillToken: 10 * time.Microsecond, Base: time.Millisecond}
	out := depthTable(t, sim.Config{Engine: &engine.Config{Law: law, Blocks: 100_000}}, 2048)
	row := out.Rows[0]
	if fresh := row[3].Value.Or(0); fresh < 2560 || row[4].Value.Or(0) > 0 || math.Abs(row[2].Value.Or(0)-fresh/(1+fresh/100)*1e3) > 0.02*1e5 {
		t.Errorf("%+v", row)
	}
}

// A small vocabulary makes several tokens of a word. A context that fits, but not as so
// many words, is measured all the same.
func TestDepthOfSmallVocabulary(t *testing.T) {
	law := engine.Linear{PerPrefillToken: 10 * time.Microsecond, Base: time.Millisecond}
	out := depthTable(t, sim.Config{LettersPerToken: 2, MaxContext: 4096, Engine: &engine.Config{Law: law, Blocks: 100_000, PrefixCache: true}}, 2048)
	if len(out.Rows) != 1 || out.Rows[0][7].Value.Or(0) != 5 || math.Abs(out.Rows[0][4].Value.Or(0)-2048) > 0.05*2048 {
		t.Errorf("%+v", out)
	}
}
