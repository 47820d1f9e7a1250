package datadog

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/service/telemetry"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

// agent reads packets as Datadog's does.
type agent struct {
	mu      sync.Mutex
	packets []string
	fails   bool
}

func (a *agent) dial(network, address string) (net.Conn, error) { return &wire{a: a}, nil }

// wire is a connection of datagrams; only Write is used.
type wire struct {
	net.Conn
	a *agent
}

func (w *wire) Write(p []byte) (int, error) {
	w.a.mu.Lock()
	defer w.a.mu.Unlock()
	if w.a.fails {
		return 0, errors.New("no agent")
	}
	w.a.packets = append(w.a.packets, string(p))
	return len(p), nil
}
func (*wire) Close() error                     { return nil }
func (*wire) SetWriteDeadline(time.Time) error { return nil }

// sample is one line of DogStatsD.
type sample struct {
	kind, tags string
	values     []float64
}

func parse(t *testing.T, packets []string, most int) map[string][]sample {
	t.Helper()
	all := map[string][]sample{}
	for _, packet := range packets {
		if len(packet) > most {
			t.Errorf("a packet of %d bytes", len(packet))
		}
		lines := bufio.NewScanner(strings.NewReader(packet))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			parts := strings.Split(lines.Text(), "|")
			if len(parts) < 2 || len(parts) > 3 {
				t.Fatalf("line %q", lines.Text())
			}
			fields := strings.Split(parts[0], ":")
			s := sample{kind: parts[1]}
			if len(parts) == 3 {
				s.tags = strings.TrimPrefix(parts[2], "#")
			}
			for _, f := range fields[1:] {
				v, err := strconv.ParseFloat(f, 64)
				if err != nil {
					t.Fatalf("line %q: %v", lines.Text(), err)
				}
				s.values = append(s.values, v)
			}
			all[fields[0]] = append(all[fields[0]], s)
		}
	}
	return all
}

func total(samples []sample, tags string) (sum float64, n int) {
	for _, s := range samples {
		if strings.Contains(s.tags, tags) {
			n += len(s.values)
			for _, v := range s.values {
				sum += v
			}
		}
	}
	return sum, n
}

// What a store had counted before the process began is not sent again.
func TestWhatWasSentBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{}
		var good atomic.Int64
		good.Store(1000)
		state := func(emit func(*telemetry.Metric, float64, ...string)) {
			emit(telemetry.SLOGood, float64(good.Load()), "x", "h", "live", "", "0a1b2c3d")
		}
		e, err := New(Options{Dial: a.dial, State: state})
		if err != nil {
			t.Fatal(err)
		}
		e.Known(state)
		good.Add(5)
		time.Sleep(DefaultEvery)
		e.Close()
		all := parse(t, a.packets, packetUDP)["tokenmeter.slo.good"]
		if got, _ := total(all, ""); got != 5 || strings.Contains(all[0].tags, "run") {
			t.Errorf("%v events were sent, want 5: %+v", got, all)
		}
	})
}

func TestWhatIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{}
		good := 0.
		e, err := New(Options{Tags: []string{"env:prod"}, Fine: true, Dial: a.dial, State: func(emit func(*telemetry.Metric, float64, ...string)) {
			emit(telemetry.SLOGood, good, "x", "h", "live", "", "0a1b2c3d")
			emit(telemetry.InFlight, 7, "main")
		}})
		if err != nil {
			t.Fatal(err)
		}
		good = 5
		e.Done(telemetrytest.Streamed(100, 130, 190))
		time.Sleep(DefaultEvery)
		synctest.Wait()
		good = 8
		e.Done(telemetrytest.Streamed(200, 230))
		time.Sleep(DefaultEvery)
		e.Close()
		all := parse(t, a.packets, packetUDP)
		const tags = "env:prod,source:live,route:chat,upstream:a,model:m,api:openai-chat"
		for name, want := range map[string]float64{"tokenmeter.requests": 2, "tokenmeter.output.tokens": 5, "tokenmeter.ttft.seconds": 0.3,
			"tokenmeter.icl.seconds": 0.12, "tokenmeter.slo.good": 8} {
			if got, _ := total(all[name], "env:prod"); got < want-1e-9 || got > want+1e-9 {
				t.Errorf("%s adds up to %v, want %v", name, got, want)
			}
		}
		if s := all["tokenmeter.ttft.seconds"]; len(s) != 2 || s[0].kind != "d" || s[0].tags != tags {
			t.Errorf("TTFT %+v", s)
		}
		if s := all["tokenmeter.requests"]; s[0].kind != "c" || s[0].tags != tags+",outcome:ok" {
			t.Errorf("requests %+v", s)
		}
		if s := all["tokenmeter.slo.good"]; s[0].kind != "c" || s[0].values[0] != 5 || s[0].tags != "env:prod,slo:x,hash:h,source:live" {
			t.Errorf("good %+v", s)
		}
		if s := all["tokenmeter.in.flight.requests"]; s[0].kind != "g" || s[0].values[0] != 7 {
			t.Errorf("in flight %+v", s)
		}
	})
}

func TestMuchIsPackedAndNothingIsLost(t *testing.T) {
	a := &agent{}
	e, _ := New(Options{Fine: true, Dial: a.dial})
	want, gaps := 0, 0
	for _, r := range telemetrytest.Many(800, 1) {
		e.Done(r)
		telemetry.Figures(r, true, func(m *telemetry.Metric, _ float64, times int64) {
			if m == telemetry.ICL {
				gaps += int(times)
			}
		})
		want++
	}
	e.Close()
	all := parse(t, a.packets, packetUDP)
	if got, _ := total(all["tokenmeter.requests"], ""); got != float64(want) || e.Dropped() != 0 {
		t.Errorf("%v requests, want %d; %d dropped", got, want, e.Dropped())
	}
	if _, n := total(all["tokenmeter.icl.seconds"], ""); n != gaps {
		t.Errorf("%d gaps, want %d", n, gaps)
	}
}

// An agent that is away, or takes nothing, holds nobody up; what is lost is
// counted and memory stays bounded.
func TestAnAgentThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{fails: true}
		e, _ := New(Options{Dial: a.dial, Fine: true})
		e.Done(telemetrytest.Streamed(100, 130))
		time.Sleep(DefaultEvery + time.Second)
		if e.Failed() == 0 {
			t.Error("no failure is counted")
		}
		a.mu.Lock()
		a.fails = false
		a.mu.Unlock()
		e.Done(telemetrytest.Streamed(100, 130))
		e.Close()
		if got, _ := total(parse(t, a.packets, packetUDP)["tokenmeter.requests"], ""); got != 1 {
			t.Errorf("%v requests after it came back, want 1", got)
		}
	})
	at := make([]float64, 20_001)
	for i := range at {
		at[i] = float64(i + 1)
	}
	// The goroutine that sends does not run: values are over the bound.
	e := &Exporter{opt: Options{Fine: true}, limit: telemetry.NewLimit(0), counts: map[series]float64{}, values: map[series][]float64{}, soon: make(chan struct{}, 1)}
	for range 50 {
		e.take(telemetrytest.Streamed(at...))
	}
	if e.n > mostValues+2*len(at) || e.lost.Load() == 0 {
		t.Errorf("%d values wait, %d requests lost", e.n, e.lost.Load())
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dsd.socket")
	ln, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skip(err)
	}
	defer ln.Close()
	e, err := New(Options{Address: "unix://" + path})
	if err != nil {
		t.Fatal(err)
	}
	e.Done(telemetrytest.Streamed(100, 130))
	e.Close()
	buf := make([]byte, 64<<10)
	_ = ln.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, err := ln.Read(buf)
	if err != nil || !strings.Contains(string(buf[:n]), "tokenmeter.ttft.seconds:0.1|d|#source:live") {
		t.Errorf("%v: %s", err, buf[:n])
	}
}

func TestUDP(t *testing.T) {
	ln, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	e, err := New(Options{Address: ln.LocalAddr().String()})
	if err != nil {
		t.Fatal(err)
	}
	e.Done(telemetrytest.Streamed(100, 130))
	e.Close()
	buf := make([]byte, 64<<10)
	_ = ln.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, _, err := ln.ReadFrom(buf)
	if err != nil || !strings.Contains(string(buf[:n]), "tokenmeter.requests:1|c|#") {
		t.Errorf("%v: %s", err, buf[:n])
	}
}

func TestNoKeyAndNoFalseTags(t *testing.T) {
	a := &agent{}
	e, _ := New(Options{Dial: a.dial, Fine: true})
	e.Done(telemetrytest.Tainted("sk-canary-0123456789abcdef"))
	r := telemetrytest.Streamed(100)
	r.Labels.Route = "a,b|c#d\ne"
	e.Done(r)
	e.Close()
	text := strings.Join(a.packets, "\n")
	if strings.Contains(text, "canary") || !strings.Contains(text, "route:a_b_c_d_e,") {
		t.Error(text)
	}
	_ = parse(t, a.packets, packetUDP)
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{"": "udp 127.0.0.1:8125", "agent:8125": "udp agent:8125", "unix:///run/dsd": "unixgram /run/dsd"} {
		network, address, err := Address(text)
		if got := fmt.Sprint(network, " ", address); got != want || err != nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"unix://", "agent", "http://x"} {
		if _, _, err := Address(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func BenchmarkDone(b *testing.B) {
	a := &agent{}
	e, _ := New(Options{Dial: a.dial})
	defer e.Close()
	r := telemetrytest.Streamed(100, 130, 190)
	b.ReportAllocs()
	for b.Loop() {
		e.Done(r)
	}
}

func BenchmarkTake(b *testing.B) {
	a := &agent{}
	e, _ := New(Options{Dial: a.dial, Fine: true})
	defer e.Close()
	r := telemetrytest.Many(1, 3)[0]
	b.ReportAllocs()
	for b.Loop() {
		e.take(r)
	}
}

var _ traffic.Sink = (*Exporter)(nil)
