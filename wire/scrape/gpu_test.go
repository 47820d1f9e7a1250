package scrape

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Two GPUs draw 300 and 400 W while 1,400 tokens/s come: half a joule a token.
// What they used before the run does not count, nor that a GPU shared by two pods
// is on the page twice, nor that one came late or its pod was replaced.
func TestEnergy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		meter := func(w http.ResponseWriter, gpu, pod string, watts float64) {
			mJ := 1e12 + 1e3*watts*time.Since(began).Seconds()
			fmt.Fprintf(w, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=\"0\",UUID=%q,pod=%q} %v\n", gpu, pod, mJ)
			fmt.Fprintf(w, "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=%q,pod=%q} %v\n", gpu, pod, watts)
			fmt.Fprintf(w, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=%q,pod=%q} 100\n", gpu, pod)
		}
		w := NewWatcher(Watch{Pages: []Page{{URL: "http://gpus/metrics"}}})
		w.pages[0].client.Transport = roundTrip(func(q *http.Request) (*http.Response, error) {
			r := httptest.NewRecorder()
			meter(r, "GPU-a", "x", 300)
			meter(r, "GPU-a", "y", 300)
			pod := "p"
			if time.Since(began) > 12*time.Second {
				pod = "q"
			}
			if time.Since(began) > 3*time.Second {
				meter(r, "GPU-b", pod, 400)
			}
			return r.Result(), nil
		})
		w.Start(func() int64 { return time.Since(began).Microseconds() })
		time.Sleep(5 * time.Second)
		w.Measure()
		time.Sleep(20 * time.Second)
		m, _, warnings := w.Stop()
		s := metric.Summary{Throughput: metric.Throughput{SystemOutputTPS: timeline.Some(1400.0)}}
		s.WithServer(m)
		g := s.GPU
		if g == nil || len(warnings) != 0 || m.Engine != "" {
			t.Fatalf("%+v, %v, engine %q", g, warnings, m.Engine)
		}
		near := func(what string, got timeline.Opt[float64], want float64) {
			if v, ok := got.Get(); !ok || math.Abs(v-want) > 1e-6*want {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		near("J", g.EnergyJ, 14000)
		near("W", g.PowerW, 700)
		near("J/token", g.JPerOutputToken, 0.5)
		near("tokens/s a W", g.OutputTPSPerW, 2)
		if g.GPUs.Or(0) != 2 || g.Utilization.Mean != 1 || g.TensorActive != nil || g.MemoryUsed != nil {
			t.Errorf("%+v", g)
		}
	})
}

// Without meters the mean of the readings is the power; what is blank is nothing.
func TestBlankGPUs(t *testing.T) {
	var l ledger
	got, err := l.enter([]byte("DCGM_FI_DEV_POWER_USAGE{UUID=\"a\"} 250\nDCGM_FI_DEV_POWER_USAGE{UUID=\"b\"} 140737488355328\n"+
		"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID=\"a\"} 9223372036854775794\nDCGM_FI_DEV_FB_USED{UUID=\"a\"} 5\n"), now)
	if err != nil || len(got) != 2 || got["gpu_power_w"] != 250 || got["gpus"] != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
