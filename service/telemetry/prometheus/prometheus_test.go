package prometheus

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

// daemon is an exporter with the counters that it shows.
func daemon(t testing.TB, opt Options, texts ...string) (*Exporter, *traffic.Counters, traffic.Sinks) {
	objectives := objectivetest.Parse(t, texts...)
	counters := traffic.NewCounters(objectives)
	var e *Exporter
	opt.State = func(emit func(m *telemetry.Metric, v float64, values ...string)) {
		for _, s := range telemetry.OfCounters(counters, objectives) {
			s.Emit(emit)
		}
		telemetry.EmitCounters(counters, e.Limit(), emit)
		emit(telemetry.InFlight, 3, "main")
		emit(telemetry.Healthy, 1, "main", "a")
	}
	e = New(opt, objectives)
	t.Cleanup(e.Close)
	return e, counters, traffic.Sinks{counters, e}
}

// page is the page as text, after what waits.
func page(t testing.TB, e *Exporter) string {
	t.Helper()
	e.Close()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// sum adds the samples whose line begins with name and has all of the labels.
func sum(text, name string, labels ...string) (total float64) {
next:
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(rest, l) {
				continue next
			}
		}
		v, _ := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndex(rest, " "):]), 64)
		total += v
	}
	return total
}

// The bucket at an objective's threshold holds as many requests as the exact
// counters found good; the page's counters are those counters.
func TestBucketsAgreeWithExactCounters(t *testing.T) {
	texts := []string{"p99 tpot <= 33ms", "p95 ttft <= 171ms", "p99 e2e <= 3.3s", "p99 max gap <= 47ms", "p50 ttfo <= 99ms", "error rate < 1%"}
	e, counters, sinks := daemon(t, Options{Queue: 1 << 16}, texts...)
	requests := telemetrytest.Many(2000, 1)
	ok := 0
	for _, r := range requests {
		sinks.Done(r)
		if r.Outcome == timeline.OK {
			ok++
		}
	}
	text := page(t, e)
	for i, o := range objectivetest.Parse(t, texts...) {
		want := telemetrytest.Total(counters.Snapshot(), traffic.Key(&o))
		slo, hash := fmt.Sprintf("slo=%q", traffic.Key(&o)), fmt.Sprintf("hash=%q", traffic.Key(&o))
		if good, valid := sum(text, "tokenmeter_slo_good_total", slo), sum(text, "tokenmeter_slo_valid_total", slo); good != float64(want.Good) || valid != float64(want.Valid) || valid == 0 {
			t.Errorf("%s: the page has %v of %v, the counters %d of %d", o.Text, good, valid, want.Good, want.Valid)
		}
		if bad := sum(text, "tokenmeter_objective_requests_total", hash, `verdict="bad"`); bad != float64(want.Bad()) {
			t.Errorf("%s: %v are bad, want %d", o.Text, bad, want.Bad())
		}
		if i == len(texts)-1 {
			break
		}
		name := map[string]string{"tpot": "tokenmeter_tpot_seconds", "ttft": "tokenmeter_ttft_seconds", "e2e": "tokenmeter_e2e_seconds",
			"max_gap": "tokenmeter_max_gap_seconds", "ttfo": "tokenmeter_ttfo_seconds"}[o.Metric]
		edge := fmt.Sprintf("le=%q", strconv.FormatFloat(o.Limit/1000, 'g', -1, 64))
		if got := sum(text, name+"_bucket", edge); got != float64(want.Good) || got == 0 {
			t.Errorf("%s: the bucket %s holds %v, %d are good", o.Text, edge, got, want.Good)
		}
	}
	if got := sum(text, "tokenmeter_requests_total", `outcome="ok"`); got != float64(ok) {
		t.Errorf("%v requests are ok, want %d", got, ok)
	}
	if got := sum(text, "tokenmeter_requests_total"); got != 2000 {
		t.Errorf("%v requests, want 2000", got)
	}
}

func TestPromtoolFindsNothing(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not on PATH")
	}
	e, _, sinks := daemon(t, Options{}, "p99 tpot <= 33ms")
	for _, r := range telemetrytest.Many(100, 2) {
		sinks.Done(r)
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(page(t, e))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// A new threshold is an edge at once; other histograms and all counters go on.
func TestThresholdsChange(t *testing.T) {
	e, _, sinks := daemon(t, Options{}, "p99 tpot <= 33ms")
	sinks.Done(telemetrytest.Streamed(100, 130, 190))
	for e.count("tokenmeter_e2e_seconds_count") == 0 { // what waits
	}
	e.Set(objectivetest.Parse(t, "p99 tpot <= 44ms"))
	sinks.Done(telemetrytest.Streamed(100, 130, 188))
	text := page(t, e)
	for _, c := range []struct {
		name   string
		want   float64
		labels []string
	}{
		{"tokenmeter_requests_total", 2, nil},
		{"tokenmeter_e2e_seconds_count", 2, nil},
		{"tokenmeter_tpot_seconds_count", 1, nil}, // began anew
		{"tokenmeter_tpot_seconds_bucket", 1, []string{`le="0.044"`}},
		{"tokenmeter_tpot_seconds_bucket", 0, []string{`le="0.033"`}},
	} {
		if got := sum(text, c.name, c.labels...); got != c.want {
			t.Errorf("%s %v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}

// count reads one sample of the page as it is.
func (e *Exporter) count(name string) float64 {
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return sum(w.Body.String(), name)
}

func TestModelsOfClientsAreNoLabels(t *testing.T) {
	e, _, sinks := daemon(t, Options{Models: 5}, "p99 tpot <= 33ms")
	for i := range 1000 {
		r := telemetrytest.Streamed(100, 130)
		r.Labels.Model = fmt.Sprint("model-", i)
		sinks.Done(r)
	}
	text := page(t, e)
	models := map[string]bool{}
	for _, m := range regexp.MustCompile(`model="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		models[m[1]] = true
	}
	if len(models) != 6 || !models[traffic.Other] {
		t.Errorf("%d models are labels: %v", len(models), models)
	}
	if got := sum(text, "tokenmeter_requests_total"); got != 1000 {
		t.Errorf("%v requests, want 1000", got)
	}
}

func TestNoKeyOnThePage(t *testing.T) {
	const key = "sk-canary-0123456789abcdef"
	e, _, sinks := daemon(t, Options{}, "p99 tpot <= 33ms")
	sinks.Done(telemetrytest.Tainted(key))
	if text := page(t, e); strings.Contains(text, "canary") || !strings.Contains(text, `outcome="stream_error"`) {
		t.Error("the page has the key, or not the request")
	}
}

func TestNamesThatAreNoText(t *testing.T) {
	e, _, sinks := daemon(t, Options{}, "p99 tpot <= 33ms")
	r := telemetrytest.Streamed(100, 130)
	r.Labels.Route, r.Labels.Upstream = "a\xffb", "c\"d\\e\nf"
	sinks.Done(r)
	if text := page(t, e); !strings.Contains(text, "a\uFFFDb") || !strings.Contains(text, `c\"d\\e\nf`) {
		t.Error("names were not kept")
	}
}

// Many requests end while the page is read and thresholds change: run with -race.
func TestAtOnce(t *testing.T) {
	e, _, sinks := daemon(t, Options{}, "p99 tpot <= 33ms")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for _, r := range telemetrytest.Many(100, uint64(i)) {
				sinks.Done(r)
			}
		})
	}
	all.Go(func() {
		for i := range 5 {
			e.Set(objectivetest.Parse(t, fmt.Sprintf("p99 tpot <= %dms", 30+rand.IntN(5)+i)))
			e.count("tokenmeter_requests_total")
		}
	})
	all.Wait()
	if got := sum(page(t, e), "tokenmeter_requests_total"); got != 400 {
		t.Errorf("%v requests, want 400", got)
	}
}

// What a finished request costs the goroutine that served it.
func BenchmarkDone(b *testing.B) {
	e, _, _ := daemon(b, Options{}, "p99 tpot <= 33ms")
	r := telemetrytest.Many(1, 3)[0]
	b.ReportAllocs()
	for b.Loop() {
		e.Done(r)
	}
	b.ReportMetric(float64(e.Dropped())/float64(b.N), "dropped/op")
}

// What it costs in all: counters, and histograms with a value a token.
func BenchmarkFigures(b *testing.B) {
	e, _, _ := daemon(b, Options{}, "p99 tpot <= 33ms")
	at := make([]float64, 500)
	for i := range at {
		at[i] = 100 + float64(i)*20
	}
	r := telemetrytest.Streamed(at...)
	b.ReportAllocs()
	for b.Loop() {
		e.figures(r)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/token")
}

func BenchmarkPage(b *testing.B) {
	e, _, sinks := daemon(b, Options{}, "p99 tpot <= 33ms")
	for _, r := range telemetrytest.Many(200, 4) {
		sinks.Done(r)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.count("tokenmeter_requests_total")
	}
}
