package sweep

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep/result"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// A server that takes requests and never answers does not keep a search longer
// than its time: neither by the warm-up of the first probe nor by the probe.
func TestSilentServer(t *testing.T) {
	for _, variable := range []string{Rate, Concurrency} {
		synctest.Test(t, func(t *testing.T) {
			ln := simtest.NewPipeListener()
			silent := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body) // only then does the server see the client leave
				<-r.Context().Done()
			})}
			go silent.Serve(ln)
			defer silent.Close()
			all := objectivetest.Parse(t, "p95 ttft < 500ms")
			start := time.Now()
			subject := &Server{Variable: variable, Dir: t.TempDir(), SettleTime: 2 * time.Second, Plan: bench.Plan{
				Client:     client.Config{BaseURL: "http://silent", API: api.OpenAIChat, Dial: ln.Dial, NoKernelStamps: true},
				Model:      "m",
				Timers:     true,
				Conditions: bench.Conditions{Preflight: "none", Objectives: all},
			}}
			_, err := Search{Variable: variable, Objectives: all, MaxTime: 30 * time.Second, Now: func() time.Duration { return time.Since(start) },
				ProbeTime: 6 * time.Second}.Run(context.Background(), subject)
			var failed *bench.TargetError
			if took := time.Since(start); !errors.As(err, &failed) || took > 35*time.Second {
				t.Errorf("%s: %v after %v", variable, err, took)
			}
		})
	}
}

// A server that takes requests and never answers ends a sweep after its first point. Where that
// begins with a warm-up, one limit of a request's silence is enough.
func TestGridOfASilentServer(t *testing.T) {
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	for _, warmup := range []bench.Warmup{{Off: true}, {Requests: 3}, {Duration: 8 * time.Second}} {
		served(t, silent, func(t *testing.T, plan bench.Plan) {
			plan.Model, plan.Preflight, plan.Requests, plan.Duration, plan.Warmup = "m", "none", 0, 5*time.Second, warmup
			plan.Client.IdleTimeout = 10 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			g := Grid{Variable: Concurrency}
			for _, n := range []int{1, 2, 4} {
				plan.Concurrency = n
				g.Cells = append(g.Cells, Cell{Value: float64(n), Text: strconv.Itoa(n), Plan: plan})
			}
			s := &result.Sweep{Dir: t.TempDir()}
			start := time.Now()
			err := g.Run(ctx, s)
			var failed *bench.TargetError
			if took := time.Since(start); !errors.As(err, &failed) || len(s.Points) > 1 || took > 70*time.Second {
				t.Errorf("%+v: %v, %d points after %v", warmup, err, len(s.Points), took)
			}
		})
	}
}
