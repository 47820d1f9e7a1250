package mlflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"

	"tokenmeter/service/telemetry/prometheus"
	"tokenmeter/service/telemetry/telemetrytest"
)

// server is a tracking server as MLflow's REST API 2.0 describes it.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	metrics map[string]float64
	params  map[string]string
	calls   []string
	largest int               // metrics in a batch
	status  string            // of the run
	ended   map[string]string // statuses of all runs, by id
	marks   map[string]string // tags that find a run, by id
	lose    int               // of so many runs that it makes it tells nobody
	slow    bool              // what it made is not found when it is first looked for
	auth    string
	refuse  map[string]int // status by call
	times   map[string]int // how often it refuses that; 0: always
	id      string
}

func listen(t *testing.T) *server {
	s := &server{metrics: map[string]float64{}, params: map[string]string{}, refuse: map[string]int{}, id: "0a1b",
		times: map[string]int{}, ended: map[string]string{}, marks: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		call := strings.TrimPrefix(r.URL.Path, "/api/2.0/mlflow/")
		s.calls, s.auth = append(s.calls, r.Method+" "+call), r.Header.Get("Authorization")
		if code := s.refuse[call]; code != 0 {
			if s.times[call]--; s.times[call] == 0 {
				delete(s.refuse, call)
			}
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"error_code":"X","message":%q}`, s.auth)
			return
		}
		var body struct {
			Name       string
			Experiment string `json:"experiment_id"`
			Run        string `json:"run_id"`
			Status     string
			Metrics    []struct {
				Key             string
				Value           float64
				Timestamp, Step int64
			}
			Params, Tags []struct{ Key, Value string }
			Filter       string
			In           []string `json:"experiment_ids"`
		}
		data, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost && json.Unmarshal(data, &body) != nil {
			t.Errorf("%s: %s", call, data)
		}
		switch call {
		case "experiments/get-by-name":
			fmt.Fprintf(w, `{"experiment":{"experiment_id":"7","name":%q}}`, r.URL.Query().Get("experiment_name"))
		case "experiments/create":
			fmt.Fprint(w, `{"experiment_id":"8"}`)
		case "runs/create":
			s.params["experiment"] = body.Experiment
			id := s.id + strings.Repeat("b", len(s.marks))
			for _, tag := range body.Tags {
				if tag.Key == "tokenmeter.id" {
					s.marks[id] = tag.Value
				}
			}
			if s.lose--; s.lose >= 0 {
				panic(http.ErrAbortHandler) // the connection ends
			}
			fmt.Fprintf(w, `{"run":{"info":{"run_id":%q,"run_uuid":"x"}}}`, id)
		case "runs/search":
			if !slices.Equal(body.In, []string{cmp.Or(s.params["experiment"], "0")}) {
				t.Errorf("runs are looked for in %v", body.In)
			}
			var found []string
			for id, mark := range s.marks {
				if body.Filter == "tags.`tokenmeter.id` = '"+mark+"'" && !s.slow {
					found = append(found, fmt.Sprintf(`{"info":{"run_id":%q}}`, id))
				}
			}
			s.slow = false
			fmt.Fprintf(w, `{"runs":[%s]}`, strings.Join(found, ","))
		case "runs/log-batch":
			if _, ok := s.marks[body.Run]; !ok {
				t.Errorf("a batch of the run %q", body.Run)
			}
			s.largest = max(s.largest, len(body.Metrics))
			for _, m := range body.Metrics {
				if m.Timestamp < 1e12 || len(m.Key) > 250 || path.Clean(m.Key) != m.Key || strings.ContainsFunc(m.Key, func(r rune) bool { return !plain(r) }) {
					t.Errorf("%+v", m)
				}
				s.metrics[m.Key] = m.Value
			}
			seen := map[string]bool{}
			for _, m := range body.Metrics {
				if seen[m.Key] {
					t.Errorf("%s is twice in a batch: only the last is kept", m.Key)
				}
				seen[m.Key] = true
			}
			if len(body.Params) > 100 {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			for _, p := range body.Params {
				if len(p.Key) > 250 || len(p.Value) > 500 || strings.ContainsRune(p.Value, utf8.RuneError) || strings.ContainsFunc(p.Key, func(r rune) bool { return !plain(r) }) {
					t.Errorf("MLflow does not take %q: %q", p.Key, p.Value)
				}
				if old, ok := s.params[p.Key]; ok && old != p.Value {
					t.Errorf("MLflow refuses another value of %s", p.Key)
				}
				s.params[p.Key] = p.Value
			}
			fmt.Fprint(w, `{}`)
		case "runs/update":
			s.status = body.Status
			s.ended[body.Run] = body.Status
			fmt.Fprint(w, `{}`)
		default:
			t.Errorf("no such call: %s", call)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) options() Options {
	page := prometheus.New(prometheus.Options{}, nil)
	page.Done(telemetrytest.Streamed(100, 130, 190))
	page.Done(telemetrytest.Failed("http_5xx"))
	page.Close()
	return Options{URL: s.URL + "/api/2.0/mlflow/", Key: "k", Every: time.Hour, Params: map[string]string{"api": "openai-chat", "model": ""}, Gather: page.Gather}
}

func TestARunIsLogged(t *testing.T) {
	s := listen(t)
	opt := s.options()
	opt.Experiment = "my bench"
	l := New(opt)
	id, err := l.Close(context.Background(), Finished, map[string]float64{"ttft_ms/p99": 100}, map[string]string{"load": "closed", "api": "openai-chat"})
	if err != nil || id != "0a1b" || l.Failed() != 0 {
		t.Fatalf("%s, %v, %d failed", id, err, l.Failed())
	}
	for name, want := range map[string]float64{"tokenmeter_requests_total/ok": 1, "tokenmeter_requests_total/http_5xx": 1, "tokenmeter_ttft_seconds/count": 1,
		"tokenmeter_ttft_seconds/mean": 0.1, "ttft_ms/p99": 100} {
		if got, ok := s.metrics[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if s.status != "FINISHED" || s.params["experiment"] != "7" || s.params["api"] != "openai-chat" || s.params["load"] != "closed" || s.auth != "Bearer k" {
		t.Errorf("%s, %v, %s", s.status, s.params, s.auth)
	}
	if _, ok := s.params["model"]; ok {
		t.Error("an empty parameter was logged, which can't be changed later")
	}
	if got := strings.Join(s.calls[:2], ", "); got != "GET experiments/get-by-name, POST runs/create" {
		t.Errorf("first %s", got)
	}
}

func TestTheExperimentIsMadeOrTheDefault(t *testing.T) {
	s := listen(t)
	s.refuse["experiments/get-by-name"] = http.StatusNotFound
	opt := s.options()
	opt.Experiment = "new"
	if _, err := New(opt).Close(context.Background(), Failed, nil, nil); err != nil || s.params["experiment"] != "8" || s.status != "FAILED" {
		t.Errorf("%v, %v, %s", err, s.params, s.status)
	}
	s = listen(t)
	if _, err := New(s.options()).Close(context.Background(), Finished, nil, nil); err != nil || s.params["experiment"] != "0" {
		t.Errorf("%v, %v", err, s.params)
	}
}

// What the server does not take costs the run nothing, and its words, which may repeat
// a key, are nobody's.
func TestAServerThatRefuses(t *testing.T) {
	for call, code := range map[string]int{"runs/create": 500, "runs/log-batch": 413, "runs/update": 403} {
		s := listen(t)
		s.refuse[call] = code
		l := New(s.options())
		_, err := l.Close(context.Background(), Finished, map[string]float64{"a": 1}, nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint("answered HTTP ", code)) || strings.Contains(err.Error(), "Bearer") {
			t.Errorf("%s: %v", call, err)
		}
	}
	for _, id := range []string{"", "a\x1b[2J", strings.Repeat("a", 65)} {
		s := listen(t)
		s.id = id
		if _, err := New(s.options()).Close(context.Background(), Finished, nil, nil); err == nil || id != "a\x1b[2J" && !strings.Contains(err.Error(), "without an id") {
			t.Errorf("the id %q: %v", id, err)
		}
	}
	s := listen(t)
	opt := s.options()
	s.Close()
	if _, err := New(opt).Close(context.Background(), Finished, nil, nil); err == nil || strings.Contains(err.Error(), "/api/") {
		t.Errorf("nobody is there: %v", err)
	}
}

// A run that could not be logged to ends all the same, after the time that its last
// figures have is used up, too.
func TestARunEndsWhateverWasRefused(t *testing.T) {
	for name, bad := range map[string]func(*server, *Options, func()){
		"a batch": func(s *server, _ *Options, _ func()) { s.refuse["runs/log-batch"] = 413 },
		"nothing to log": func(_ *server, o *Options, _ func()) {
			o.Gather = func() ([]*dto.MetricFamily, error) { return nil, errors.New("no page") }
		},
		"no time was left": func(_ *server, _ *Options, end func()) { end() },
	} {
		s := listen(t)
		opt := s.options()
		ctx, end := context.WithCancel(context.Background())
		bad(s, &opt, end)
		id, err := New(opt).Close(ctx, Finished, map[string]float64{"a": 1}, nil)
		if end(); err == nil || id != "0a1b" || s.status != Finished {
			t.Errorf("%s: the run %q is %q, %v", name, id, s.status, err)
		}
	}
}

// Parameters that were refused once are sent again; a run is complete or an error says
// that it is not.
func TestParametersAreSentUntilTheyAreTaken(t *testing.T) {
	s := listen(t)
	s.refuse["runs/log-batch"], s.times["runs/log-batch"] = 503, 1
	opt := s.options()
	opt.Gather = func() ([]*dto.MetricFamily, error) { return nil, nil }
	if _, err := New(opt).Close(context.Background(), Finished, nil, nil); err != nil || s.params["api"] != "openai-chat" {
		t.Errorf("%v, %v", err, s.params)
	}
	s = listen(t)
	s.refuse["runs/log-batch"] = 503
	opt.URL = s.URL + "/api/2.0/mlflow"
	if _, err := New(opt).Close(context.Background(), Finished, nil, nil); err == nil {
		t.Error("the parameters are missing, and nobody says so")
	}
}

// A server may have made a run though its answer never came.
func TestNoRunIsMadeTwiceAndLeftRunning(t *testing.T) {
	for _, c := range []struct {
		name string
		lose int
		slow bool
		err  bool
		want string
	}{
		{"its answer was lost", 1, false, false, "map[0a1b:FINISHED]"},
		{"it was made later than it was looked for", 1, true, false, "map[0a1b:FAILED 0a1bb:FINISHED]"},
		{"two answers were lost", 2, true, true, "map[0a1b:FAILED 0a1bb:FAILED]"},
	} {
		s := listen(t)
		s.lose, s.slow = c.lose, c.slow
		opt := s.options()
		opt.Experiment = "e"
		_, err := New(opt).Close(context.Background(), Finished, nil, nil)
		if got := fmt.Sprint(s.ended); got != c.want || (err != nil) != c.err || len(s.marks) != len(s.ended) {
			t.Errorf("%s: runs ended as %s, want %s; %d were made; %v", c.name, got, c.want, len(s.marks), err)
		}
	}
	s := listen(t)
	a, b := New(s.options()), New(s.options())
	a.Close(context.Background(), Finished, nil, nil)
	b.Close(context.Background(), Finished, nil, nil)
	if len(s.marks) != 2 || s.marks["0a1b"] == s.marks["0a1bb"] {
		t.Errorf("two runs have the marks %v", s.marks)
	}
}

// A label that tells series of one metric apart is in their names; one that all have
// alike is not.
func TestSeriesOfSeveralModels(t *testing.T) {
	s := listen(t)
	opt := s.options()
	page := prometheus.New(prometheus.Options{}, nil)
	for i, model := range []string{"/models/a", "b", "b"} {
		r := telemetrytest.Streamed(100+100*float64(i), 130+100*float64(i))
		r.Labels.Model = model
		page.Done(r)
	}
	page.Close()
	opt.Gather = page.Gather
	if _, err := New(opt).Close(context.Background(), Finished, nil, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"tokenmeter_requests_total/models/a/ok": 1, "tokenmeter_requests_total/b/ok": 2,
		"tokenmeter_ttft_seconds/models/a/mean": 0.1, "tokenmeter_ttft_seconds/b/mean": 0.25} {
		if got, ok := s.metrics[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// MLflow takes at most 100 parameters in a batch, of 500 bytes, under plain names of 250.
func TestParametersAreWithinTheLimits(t *testing.T) {
	s := listen(t)
	opt := s.options()
	for i := range 250 {
		opt.Params[fmt.Sprint("objective.", i)] = "x"
	}
	opt.Params["long"] = strings.Repeat("x", 499) + "é"
	last := map[string]string{"a b\u00e9": "y", strings.Repeat("k", 300): "z"}
	if _, err := New(opt).Close(context.Background(), Finished, map[string]float64{"a b": 1, strings.Repeat("m", 300): 2}, last); err != nil {
		t.Fatal(err)
	}
	if len(s.params) != 255 || s.params["long"] != strings.Repeat("x", 499) || s.params["a_b_"] != "y" || s.metrics["a_b"] != 1 {
		t.Errorf("%d parameters: %.2000v", len(s.params), s.params)
	}
}

// MLflow takes at most 1000 metrics in a batch.
func TestManyMetricsAreSeveralBatches(t *testing.T) {
	s := listen(t)
	many := map[string]float64{}
	for i := range 2500 {
		many[fmt.Sprint("m", i)] = float64(i)
	}
	opt := s.options()
	opt.Gather = func() ([]*dto.MetricFamily, error) { return nil, nil }
	if _, err := New(opt).Close(context.Background(), Finished, many, nil); err != nil || len(s.metrics) != 2500 || s.largest != 1000 {
		t.Errorf("%v, %d metrics, %d in a batch", err, len(s.metrics), s.largest)
	}
}

// With MLFLOW_TRACKING_URI a real server is told, and asked what it has.
func TestAgainstMLflow(t *testing.T) {
	at := os.Getenv("MLFLOW_TRACKING_URI")
	if at == "" {
		t.Skip("MLFLOW_TRACKING_URI is not set")
	}
	to, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	proxy, created := httputil.NewSingleHostReverseProxy(to), 0 // the first run's answer is lost
	proxy.ModifyResponse = func(r *http.Response) error {
		if strings.HasSuffix(r.Request.URL.Path, "/runs/create") {
			if created++; created == 1 {
				panic(http.ErrAbortHandler)
			}
		}
		return nil
	}
	page := prometheus.New(prometheus.Options{}, nil) // two models, one by its path
	page.Done(telemetrytest.Streamed(100, 130))
	other := telemetrytest.Streamed(100, 130)
	other.Labels.Model = "/models/é"
	page.Done(other)
	page.Close()
	between := httptest.NewServer(proxy)
	defer between.Close()
	opt := listen(t).options()
	opt.URL, opt.Experiment = between.URL+"/api/2.0/mlflow", "tokenmeter test"
	opt.Gather, opt.Params[strings.Repeat("k", 300)] = page.Gather, strings.Repeat("é", 300)
	for i := range 250 {
		opt.Params[fmt.Sprint("objective.", i)] = "x"
	}
	id, err := New(opt).Close(context.Background(), Finished, map[string]float64{"ttft_ms/p99": 100}, map[string]string{"load": "closed"})
	if err != nil {
		t.Fatal(err)
	}
	if created != 1 {
		t.Errorf("%d runs were made", created)
	}
	resp, err := http.Get(opt.URL + "/runs/get?run_id=" + id)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	flat := strings.Join(strings.Fields(string(text)), "")
	for _, want := range []string{`"status":"FINISHED"`, `"key":"tokenmeter_ttft_seconds/m/mean","value":0.1,`,
		`"key":"tokenmeter_ttft_seconds/models/_/mean","value":0.1,`, `"key":"objective.249","value":"x"`, `"key":"ttft_ms/p99","value":100.0,`, `"key":"load","value":"closed"`} {
		if !strings.Contains(flat, want) {
			t.Errorf("it has no %s: %s", want, flat)
		}
	}
}
