package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep/result"
	"tokenmeter/physics/sim/simtest"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// moody answers with one token, but for a while it turns everything away.
type moody struct {
	mu   sync.Mutex
	shut time.Time // until then
}

func (m *moody) close(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shut = time.Now().Add(d)
}

func (m *moody) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	m.mu.Lock()
	shut := time.Now().Before(m.shut)
	m.mu.Unlock()
	switch {
	case shut:
		w.WriteHeader(http.StatusServiceUnavailable)
	case req.Method == http.MethodGet:
		io.WriteString(w, `{"object":"list","data":[{"id":"m","owned_by":"tests"}]}`)
	default:
		io.Copy(io.Discard, req.Body)
		time.Sleep(10 * ms)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"one"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}
}

// served runs a server in virtual time, and plans four requests to it. Whoever asks
// for dead is not answered.
func served(t *testing.T, h http.Handler, do func(t *testing.T, plan bench.Plan)) {
	synctest.Test(t, func(t *testing.T) {
		ln := simtest.NewPipeListener()
		server := &http.Server{Handler: h}
		go server.Serve(ln)
		defer server.Close()
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			if strings.HasPrefix(addr, "dead") {
				return nil, errors.New("nobody is there")
			}
			return ln.Dial(ctx, network, addr)
		}
		do(t, bench.Plan{
			Client:  client.Config{BaseURL: "http://tests", API: api.OpenAIChat, Dial: dial, NoKernelStamps: true},
			Timers:  true,
			Load:    bench.Load{Concurrency: 1, Requests: 4, Grace: -1, Warmup: bench.Warmup{Off: true}},
			Content: bench.Content{Prompt: "Hello."},
		})
	})
}

// A gateway that turns the look before a probe away is waited for; where that is not
// enough, the server is busy, and the search is not over.
func TestProbeOfAGatewayThatTurnsItAway(t *testing.T) {
	m := &moody{}
	served(t, m, func(t *testing.T, plan bench.Plan) {
		s := Server{Plan: plan, Variable: Concurrency, Dir: t.TempDir()}
		probe := func() Probed {
			t.Helper()
			p, err := s.Probe(context.Background(), 1, Limit{Requests: 4}, func(Seen) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		probe()
		m.close(20 * time.Second)
		began := time.Now()
		if p := probe(); p.Run == "" || p.Busy || time.Since(began) < 20*time.Second {
			t.Errorf("%+v after %v", p, time.Since(began))
		}
		m.close(time.Hour)
		if p := probe(); p.Run != "" || !p.Busy || !strings.Contains(p.Unsettled, "503") {
			t.Errorf("%+v", p)
		}
	})
}

// Once a server has answered, its failures are points with an error.
func TestGridGoesOnWhereTheServerTurnsItAway(t *testing.T) {
	m := &moody{}
	served(t, m, func(t *testing.T, plan bench.Plan) {
		s := &result.Sweep{Dir: t.TempDir()}
		g := Grid{Variable: Concurrency, Ordered: true, SettleTime: time.Second, Cells: make([]Cell, 3)}
		for i := range g.Cells {
			g.Cells[i] = Cell{Value: float64(i + 1), Text: fmt.Sprint(i + 1), Plan: plan}
		}
		g.Told = func(result.Point) { m.close(time.Hour) }
		if err := g.Run(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		if len(s.Points) != 3 || s.Partial || s.Points[0].Error != "" || s.Points[0].Run == "" {
			t.Fatalf("%+v", s.Points)
		}
		for _, p := range s.Points[1:] {
			if p.Run != "" || !strings.Contains(p.Error, "503") || p.Text != fmt.Sprint(p.Value) {
				t.Errorf("%+v", p)
			}
		}
	})
}

// The points of a server that nobody reaches keep their numbers.
func TestGridOfAServerThatNobodyReaches(t *testing.T) {
	served(t, &moody{}, func(t *testing.T, plan bench.Plan) {
		dead := plan
		dead.Client.BaseURL = "http://dead"
		s := &result.Sweep{Dir: t.TempDir()}
		g := Grid{Variable: "url", Repeats: 3, SettleTime: -1, Cells: []Cell{{Value: 1, Text: "a", Plan: dead}, {Value: 2, Text: "b", Plan: plan}}}
		if err := g.Run(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		if len(s.Points) != 6 || s.Planned != 6 {
			t.Fatalf("%d of %d points", len(s.Points), s.Planned)
		}
		for i, p := range s.Points {
			if p.Repeat != i%3+1 || (p.Error != "") != (i < 3) || (p.Run == "") != (i < 3) {
				t.Errorf("%s, repeat %d, run %q: %s", p.Text, p.Repeat, p.Run, p.Error)
			}
		}
	})
}

// What one model of a server was left to do is waited for before another is looked at
// for the first time: it would be taken for rest.
func TestRestOfAServerWithSeveralModels(t *testing.T) {
	l := &lingering{drain: 20 * time.Second}
	served(t, l, func(t *testing.T, plan bench.Plan) {
		plan.Requests, plan.Duration = 0, 2*time.Second
		a, b := plan, plan
		a.Model, b.Model = "a", "b"
		g := Grid{Variable: "model", Ordered: true, Cells: []Cell{{Value: 1, Text: "a", Plan: a}, {Value: 2, Text: "b", Plan: b}}}
		if err := g.Run(context.Background(), &result.Sweep{Dir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		if n := l.asked(); n < 2*restRequests+lookRequests {
			t.Errorf("%d looks: those at two models at rest, and no more", n)
		}
	})
}

// The points after a search have numbers of their own, and a server that is known.
func TestGridAfterASearch(t *testing.T) {
	served(t, &moody{}, func(t *testing.T, plan bench.Plan) {
		s := &result.Sweep{Dir: t.TempDir(), Variable: Rate}
		searched := &Server{Plan: plan, Variable: Rate, Dir: s.Dir}
		for load := range 2 {
			p, err := searched.Probe(context.Background(), float64(load+1), Limit{Requests: 4}, func(Seen) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			s.Insert(result.Point{Value: float64(load + 1), Run: p.Run})
		}
		plan.Rate, plan.Concurrency = 1, 0
		g := Grid{Variable: Rate, Cells: []Cell{{Value: 1, Text: "1", Plan: plan}}, Searched: searched}
		if err := g.Run(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range s.Points {
			names = append(names, p.Run)
		}
		if got := strings.Join(names, " "); s.Planned != 3 || got != "001-rate-1 002-rate-2 003-rate-1" {
			t.Errorf("%d planned: %s", s.Planned, got)
		}
		if len(g.servers) != 1 || g.servers[0] != searched {
			t.Errorf("%d servers", len(g.servers))
		}
	})
}
