package prometheus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

// A real Prometheus scrapes the page, evaluates a rule over its counters, and
// has the good ratio of the live counters exactly. It also knows every query of
// the dashboards.
func TestAgainstPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("scraping takes seconds")
	}
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not on PATH")
	}
	t.Parallel()
	texts := []string{"p99 tpot < 33ms", "p95 ttft < 171ms", "error rate < 1%"}
	e, counters, sinks := daemon(t, Options{Queue: 1 << 16}, texts...)
	for _, r := range telemetrytest.Many(1500, 7) {
		sinks.Done(r)
	}
	e.Close()
	target := httptest.NewServer(e)
	defer target.Close()
	u, _ := url.Parse(target.URL)
	p := begin(t, program, u.Host, false)
	p.until(t, `count(slo:good:ratio)`, float64(len(texts)))

	for _, o := range objectivetest.Parse(t, texts...) {
		want := telemetrytest.Total(counters.Snapshot(), traffic.Key(&o))
		slo := traffic.Key(&o)
		good := p.value(t, fmt.Sprintf(`sum(tokenmeter_slo_good_total{slo=%q})`, slo))
		valid := p.value(t, fmt.Sprintf(`sum(tokenmeter_slo_valid_total{slo=%q})`, slo))
		ratio := p.value(t, fmt.Sprintf(`slo:good:ratio{slo=%q}`, slo))
		if good != float64(want.Good) || valid != float64(want.Valid) || ratio != float64(want.Good)/float64(want.Valid) {
			t.Errorf("%s: Prometheus has %v of %v, %v; the counters %d of %d", o.Text, good, valid, ratio, want.Good, want.Valid)
		}
		if n := p.value(t, fmt.Sprintf(`count(slo:good:ratio{slo=%q})`, slo)); n != 1 {
			t.Errorf("%s: the rule has %v series", o.Text, n)
		}
	}
	if got := p.value(t, `sum(tokenmeter_requests_total)`); got != 1500 {
		t.Errorf("%v requests, want 1500", got)
	}
	if got := p.value(t, `histogram_quantile(0.5, sum by (le) (tokenmeter_ttft_seconds_bucket))`); got < 0.05 || got > 0.3 {
		t.Errorf("the median TTFT is %v s", got)
	}
	queries := dashboardQueries(t)
	for _, query := range queries {
		if _, err := p.ask(query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	t.Logf("%d queries of the dashboards", len(queries))
}

// A Prometheus that takes native histograms has quantiles within their width,
// without any edge being known.
func TestNativeHistogramsAgainstPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("scraping takes seconds")
	}
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not on PATH")
	}
	t.Parallel()
	e, _, sinks := daemon(t, Options{Queue: 1 << 16}, "p99 ttft < 171ms")
	var exact []float64
	for _, r := range telemetrytest.Many(1500, 9) {
		sinks.Done(r)
		if ms, ok := r.Record.TTFTMS.Get(); ok && r.Outcome == timeline.OK && r.Unmeasured == "" {
			exact = append(exact, ms/1000)
		}
	}
	e.Close()
	target := httptest.NewServer(e)
	defer target.Close()
	u, _ := url.Parse(target.URL)
	p := begin(t, program, u.Host, true)
	p.until(t, `histogram_count(sum(tokenmeter_ttft_seconds))`, float64(len(exact)))
	slices.Sort(exact)
	for _, q := range []float64{0.1, 0.5, 0.95, 0.99} {
		want := exact[int(q*float64(len(exact)))]
		if got := p.value(t, fmt.Sprintf(`histogram_quantile(%v, sum(tokenmeter_ttft_seconds))`, q)); got < want/1.1 || got > want*1.1 {
			t.Errorf("quantile %v is %v s, want %v", q, got, want)
		}
	}
}

// With protobuf, native histograms are on the page.
func TestNativeHistogramsAreOffered(t *testing.T) {
	for _, none := range []bool{false, true} {
		e, _, sinks := daemon(t, Options{NoNative: none}, "p99 tpot < 33ms")
		sinks.Done(telemetrytest.Streamed(100, 130, 190))
		e.Close()
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
		e.ServeHTTP(w, r)
		families := decode(t, w.Result())
		h := families["tokenmeter_ttft_seconds"].GetMetric()[0].GetHistogram()
		if native := h.Schema != nil && len(h.GetPositiveSpan()) > 0; native == none || h.GetSampleCount() != 1 || len(h.GetBucket()) == 0 {
			t.Errorf("native: %v, wanted %v; %d classic buckets", native, !none, len(h.GetBucket()))
		}
	}
}

type server struct{ url string }

// begin starts a Prometheus that scrapes a target, native histograms too if it
// is told so: by a setting from version 3.8 on, by a flag before.
func begin(t *testing.T, program, target string, native bool) server {
	t.Helper()
	dir := t.TempDir()
	setting, flags := "", []string{}
	if native {
		if help, _ := exec.Command(program, "--help").CombinedOutput(); bytes.Contains(help, []byte("native-histograms")) {
			flags = append(flags, "--enable-feature=native-histograms")
		} else {
			setting = ", scrape_native_histograms: true"
		}
	}
	rule := "groups: [{name: g, interval: 1s, rules: [{record: 'slo:good:ratio', expr: 'tokenmeter_slo_good_total / tokenmeter_slo_valid_total'}]}]\n"
	file := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s%s}\nrule_files: [rules.yaml]\nscrape_configs: [{job_name: tokenmeter, static_configs: [{targets: [%q]}]}]\n", setting, target)
	for name, text := range map[string]string{"rules.yaml": rule, "prometheus.yaml": file} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	address := telemetrytest.Address(t)
	cmd := exec.Command(program, append(flags, "--config.file="+filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address, "--log.level=error")...)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return server{"http://" + address}
}

// until waits for a query to have a value.
func (s server) until(t *testing.T, query string, want float64) {
	t.Helper()
	for range 300 {
		if v, err := s.ask(query); err == nil && len(v) == 1 && v[0] == want {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatalf("%s does not become %v", query, want)
}

func (s server) value(t *testing.T, query string) float64 {
	t.Helper()
	v, err := s.ask(query)
	if err != nil || len(v) != 1 {
		t.Fatalf("%s: %v, %v", query, v, err)
	}
	return v[0]
}

func (s server) ask(query string) ([]float64, error) {
	response, err := http.Get(s.url + "/api/v1/query?" + url.Values{"query": {query}}.Encode())
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error string
		Data  struct{ Result []struct{ Value [2]any } }
	}
	if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%d: %s", response.StatusCode, body)
	}
	var all []float64
	for _, r := range answer.Data.Result {
		v, err := strconv.ParseFloat(r.Value[1].(string), 64)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

var (
	exprs   = regexp.MustCompile(`"expr": ("(?:[^"\\]|\\.)*")`)
	scaling = regexp.MustCompile(`query: '([^']+)'`)
)

// dashboardQueries are what the dashboard and the scaling rules of
// examples/dashboards ask Prometheus, with Grafana's variables filled in.
func dashboardQueries(t *testing.T) (all []string) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "dashboards", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	fill := strings.NewReplacer("$__rate_interval", "5m", "$route", ".+", "$model", ".*")
	for _, m := range exprs.FindAllStringSubmatch(read("grafana.json"), -1) {
		expr, err := strconv.Unquote(m[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fill.Replace(expr))
	}
	for _, m := range scaling.FindAllStringSubmatch(read("keda.yaml"), -1) {
		all = append(all, m[1])
	}
	if len(all) < 20 {
		t.Fatalf("only %d queries were found", len(all))
	}
	return all
}
